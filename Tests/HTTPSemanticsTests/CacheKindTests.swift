import HTTPSemantics
import TestTraits
import Testing

@Suite("The rules of a shared cache, RFC 9111", .bounded)
struct CacheKindTests {
    private static let now = 1_790_000_000

    @Test(
        "whether an answer may be stored for every user, without Authorization and with it",
        arguments: [
            // Cache-Control, status, without, with
            ("", 200, true, false),
            ("max-age=60", 200, true, false),
            ("public", 200, true, true),
            ("public, max-age=60", 200, true, true),
            ("s-maxage=60", 200, true, true),
            ("must-revalidate, max-age=60", 200, true, true),
            ("proxy-revalidate, max-age=60", 200, true, false),
            ("private", 200, false, false),
            ("PRIVATE, public, s-maxage=60", 200, false, false),
            ("private=\"set-cookie\", max-age=60", 200, false, false),
            ("no-store", 200, false, false),
            ("no-store, s-maxage=60", 200, false, false),
            ("no-cache", 200, true, false),
            ("max-age=60, x=\"private, s-maxage=1\"", 200, true, false),
            ("", 302, false, false),
            ("max-age=60", 302, true, false),
            ("s-maxage=60", 302, true, true),
            ("private", 302, false, false),
            ("s-maxage=60", 206, false, false),
            ("s-maxage=60", 304, false, false),
            ("", 404, true, false),
        ])
    func storing(control: String, status: Int, plain: Bool, authorised: Bool) {
        let head = ResponseHead(status: status, fields: control.isEmpty ? [:] : ["Cache-Control": control])
        #expect(CacheKind.shared.allowsStoring(head, isAuthorised: false) == plain)
        #expect(CacheKind.shared.allowsStoring(head, isAuthorised: true) == authorised)
    }

    @Test("a request's no-store and Vary: * forbid storing")
    func requests() {
        let noStore = CacheControl(["Cache-Control": "no-store"])
        let head = ResponseHead(status: 200, fields: ["Cache-Control": "s-maxage=60"])
        #expect(!CacheKind.shared.allowsStoring(head, isAuthorised: false, directives: noStore))
        #expect(
            !CacheKind.shared.allowsStoring(
                ResponseHead(status: 200, fields: ["Vary": "*", "Cache-Control": "s-maxage=60"]),
                isAuthorised: false))
    }

    @Test(
        "section 5.2.2.10: s-maxage goes before max-age and Expires, and the first of several counts",
        arguments: [
            ("s-maxage=60", 60), ("max-age=600, s-maxage=60", 60), ("s-maxage=0, max-age=600", 0),
            ("s-maxage=60, s-maxage=5", 60), ("S-MaxAge=\"60\"", 60), ("s-maxage=x, max-age=600", 0),
            ("s-maxage, max-age=600", 0), ("s-maxage=-1, max-age=600", 0), ("max-age=600", 600),
            ("s-maxage=60, no-cache", 0), ("s-maxage=99999999999999999999", 1 << 31),
        ])
    func lifetime(control: String, seconds: Int) {
        let fields: HeaderFields = ["Cache-Control": control, "Expires": HTTPDate.format(Self.now + 9)]
        let head = ResponseHead(status: 200, fields: fields)
        let freshness = Freshness(head, CacheKind.shared.control(fields), received: Self.now, delay: 0)
        #expect(freshness.lifetime == seconds)
    }

    @Test(
        "a stale answer with must-revalidate, proxy-revalidate or s-maxage is revalidated first",
        arguments: [
            ("max-age=60, stale-while-revalidate=60", CacheUse.staleWhileRevalidating, true),
            ("max-age=60, stale-while-revalidate=60, must-revalidate", .validate, false),
            ("max-age=60, stale-while-revalidate=60, proxy-revalidate", .validate, false),
            ("s-maxage=60, stale-while-revalidate=60", .validate, false),
            ("max-age=60", .validate, true),
        ])
    func stale(control: String, use: CacheUse, onError: Bool) {
        let shared = CacheKind.shared.control(["Cache-Control": control])
        let none = CacheControl(HeaderFields())
        #expect(CacheUse(age: 70, lifetime: 60, control: shared, directives: none) == use)
        #expect(
            CacheUse.allowsStaleOnError(age: 70, lifetime: 60, control: shared, directives: none) == onError)
        #expect(CacheUse(age: 50, lifetime: 60, control: shared, directives: none) == .fresh)
    }

    @Test("a private cache ignores these directives")
    func privateRules() {
        let control = CacheControl(["Cache-Control": "private, max-age=600, s-maxage=60, proxy-revalidate"])
        #expect(control.maxAge == 600 && !control.mustRevalidate && control.isPrivate)
    }
}
