import HTTPSemantics
import Testing

@Suite("What a stored answer is good for, RFC 9111 section 4", .timeLimit(.minutes(30)))
struct CacheUseTests {
    @Test("section 4.2: it is used while it is younger than its lifetime")
    func fresh() {
        #expect(use(age: 99, of: 100) == .fresh)
        #expect(use(age: 100, of: 100) == .validate)
        #expect(use(age: 0, of: 0) == .validate)
    }

    @Test("section 5.2.2.4: no-cache is validated however fresh, no-cache with names is not")
    func noCache() {
        #expect(use(age: 1, of: 100, "no-cache") == .validate)
        #expect(use(age: 1, of: 100, "no-cache=\"a\"") == .fresh)
    }

    @Test("section 5.2.1: the request says how old, how fresh and how stale it may be")
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

    @Test("section 5.2.2.2: must-revalidate allows nothing stale, not even what the request would take")
    func mustRevalidate() {
        #expect(use(age: 10, of: 100, "must-revalidate") == .fresh)
        #expect(use(age: 101, of: 100, "must-revalidate", asking: "max-stale") == .validate)
        #expect(use(age: 101, of: 100, "must-revalidate, stale-while-revalidate=60") == .validate)
    }

    @Test("RFC 8246: what is immutable and fresh needs no reload, unless the request insists")
    func immutable() {
        #expect(use(age: 10, of: 100, "immutable", asking: "max-age=0") == .fresh)
        #expect(use(age: 10, of: 100, "immutable", asking: "no-cache") == .validate)
        #expect(use(age: 100, of: 100, "immutable", asking: "max-age=0") == .validate)
        #expect(use(age: 100, of: 100, "immutable") == .validate)
    }

    @Test("RFC 5861 section 3: stale-while-revalidate, for as long as it says")
    func staleWhileRevalidate() {
        #expect(use(age: 160, of: 100, "stale-while-revalidate=60") == .staleWhileRevalidating)
        #expect(use(age: 161, of: 100, "stale-while-revalidate=60") == .validate)
        #expect(use(age: 110, of: 100, "stale-while-revalidate=60", asking: "max-age=600") == .validate)
        #expect(use(age: 110, of: 100, "stale-while-revalidate=60, no-cache") == .validate)
    }

    @Test(
        "RFC 5861 section 4: when the server fails, stale for as long as either says, without limit if neither"
    )
    func staleIfError() {
        #expect(isServed(age: 100_000))
        #expect(isServed(age: 160, "stale-if-error=60"))
        #expect(!isServed(age: 161, "stale-if-error=60"))
        #expect(!isServed(age: 161, asking: "stale-if-error=60"))
        #expect(isServed(age: 161, "stale-if-error=60", asking: "stale-if-error=600"))
    }

    @Test("section 4.2.4: never stale against must-revalidate or no-cache")
    func staleForbidden() {
        #expect(!isServed(age: 101, "must-revalidate") && !isServed(age: 101, "no-cache"))
        #expect(!isServed(age: 101, "must-revalidate, stale-if-error=60"))
        #expect(!isServed(age: 101, asking: "no-cache") && !isServed(age: 101, asking: "no-store"))
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
