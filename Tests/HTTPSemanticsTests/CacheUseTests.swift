import HTTPSemantics
import TestTraits
import Testing

@Suite("Using a stored answer, RFC 9111 section 4", .bounded)
struct CacheUseTests {
    /// What is done with an answer of an age, whose lifetime is 100, by its directives and those of the request.
    private static let uses: [(age: Int, control: String, asking: String, expected: CacheUse)] = [
        // Section 4.2: while the age is below the lifetime.
        (99, "", "", .fresh), (100, "", "", .validate),
        // Section 5.2.1: the request limits age, freshness and staleness.
        (10, "", "no-cache", .validate), (10, "", "no-store", .validate), (10, "", "max-age=9", .validate),
        (10, "", "max-age=10", .fresh), (0, "", "max-age=0", .validate), (10, "", "min-fresh=90", .fresh),
        (10, "", "min-fresh=91", .validate), (150, "", "max-stale=50", .stale),
        (151, "", "max-stale=50", .validate), (100_000, "", "max-stale", .stale),
        (10, "", "max-stale=50", .fresh), (10, "", "max-stale=x, min-fresh=x", .fresh),
        // Section 5.2.2.2: must-revalidate forbids stale use, even if the request allows it.
        (10, "must-revalidate", "", .fresh), (101, "must-revalidate", "max-stale", .validate),
        (101, "must-revalidate, stale-while-revalidate=60", "", .validate),
        // RFC 8246: a fresh immutable answer needs no reload, unless the request asks for one.
        (10, "immutable", "max-age=0", .fresh), (10, "immutable", "no-cache", .validate),
        (100, "immutable", "max-age=0", .validate), (100, "immutable", "", .validate),
        // RFC 5861 section 3: stale-while-revalidate allows stale use for its time.
        (160, "stale-while-revalidate=60", "", .staleWhileRevalidating),
        (161, "stale-while-revalidate=60", "", .validate),
        (110, "stale-while-revalidate=60", "max-age=600", .validate),
        (110, "stale-while-revalidate=60, no-cache", "", .validate),
    ]

    @Test("its age, its directives and those of the request say how an answer is used", arguments: uses)
    func allowed(age: Int, control: String, asking: String, expected: CacheUse) {
        #expect(use(age: age, of: 100, control, asking: asking) == expected)
        #expect(use(age: 0, of: 0) == .validate)
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
