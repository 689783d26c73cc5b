import HTTPSemantics
import TestTraits
import Testing

@Suite("Using a stored answer, RFC 9111 section 4", .bounded)
struct CacheUseTests {
    @Test("section 4.2: an answer is used while its age is below its lifetime")
    func fresh() {
        #expect(use(age: 99, of: 100) == .fresh)
        #expect(use(age: 100, of: 100) == .validate)
        #expect(use(age: 0, of: 0) == .validate)
    }

    @Test("section 5.2.1: the request limits age, freshness and staleness")
    func directives() {
        #expect(use(age: 10, of: 100, asking: "no-cache") == .validate)
        #expect(use(age: 10, of: 100, asking: "no-store") == .validate)
        #expect(use(age: 10, of: 100, asking: "max-age=9") == .validate)
        #expect(use(age: 10, of: 100, asking: "max-age=10") == .fresh)
        #expect(use(age: 0, of: 100, asking: "max-age=0") == .validate)
        #expect(use(age: 10, of: 100, asking: "min-fresh=90") == .fresh)
        #expect(use(age: 10, of: 100, asking: "min-fresh=91") == .validate)
        #expect(use(age: 150, of: 100, asking: "max-stale=50") == .stale)
        #expect(use(age: 151, of: 100, asking: "max-stale=50") == .validate)
        #expect(use(age: 100_000, of: 100, asking: "max-stale") == .stale)
        #expect(use(age: 10, of: 100, asking: "max-stale=50") == .fresh)
        #expect(use(age: 10, of: 100, asking: "max-stale=x, min-fresh=x") == .fresh)
    }

    @Test("section 5.2.2.2: must-revalidate forbids stale use, even if the request allows it")
    func mustRevalidate() {
        #expect(use(age: 10, of: 100, "must-revalidate") == .fresh)
        #expect(use(age: 101, of: 100, "must-revalidate", asking: "max-stale") == .validate)
        #expect(use(age: 101, of: 100, "must-revalidate, stale-while-revalidate=60") == .validate)
    }

    @Test("RFC 8246: a fresh immutable answer needs no reload, unless the request asks for one")
    func immutable() {
        #expect(use(age: 10, of: 100, "immutable", asking: "max-age=0") == .fresh)
        #expect(use(age: 10, of: 100, "immutable", asking: "no-cache") == .validate)
        #expect(use(age: 100, of: 100, "immutable", asking: "max-age=0") == .validate)
        #expect(use(age: 100, of: 100, "immutable") == .validate)
    }

    @Test("RFC 5861 section 3: stale-while-revalidate allows stale use for its time")
    func staleWhileRevalidate() {
        #expect(use(age: 160, of: 100, "stale-while-revalidate=60") == .staleWhileRevalidating)
        #expect(use(age: 161, of: 100, "stale-while-revalidate=60") == .validate)
        #expect(use(age: 110, of: 100, "stale-while-revalidate=60", asking: "max-age=600") == .validate)
        #expect(use(age: 110, of: 100, "stale-while-revalidate=60, no-cache") == .validate)
    }

    @Test(
        "RFC 5861 section 4: after an error, stale use is allowed for stale-if-error of either side, or without limit"
    )
    func staleIfError() {
        #expect(isServed(age: 100_000))
        #expect(isServed(age: 160, "stale-if-error=60"))
        #expect(!isServed(age: 161, "stale-if-error=60"))
        #expect(!isServed(age: 161, asking: "stale-if-error=60"))
        #expect(isServed(age: 161, "stale-if-error=60", asking: "stale-if-error=600"))
    }

    private func use(age: Int, of lifetime: Int, _ control: String = "", asking: String = "") -> CacheUse {
        CacheUse(
            age: age, lifetime: lifetime, control: CacheControl(["Cache-Control": control]),
            directives: CacheControl(["Cache-Control": asking]))
    }

    private func isServed(age: Int, _ control: String = "", asking: String = "") -> Bool {
        CacheUse.allowsStaleOnError(
            age: age, lifetime: 100, control: CacheControl(["Cache-Control": control]),
            directives: CacheControl(["Cache-Control": asking]))
    }
}
