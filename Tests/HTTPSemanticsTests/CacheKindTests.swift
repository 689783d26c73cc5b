import HTTPSemantics
import Testing

@Suite("The rules of a shared cache, RFC 9111", .timeLimit(.minutes(5)))
struct CacheKindTests {
    private static let now = 1_790_000_000

    @Test(
        "what may be stored for everyone, without Authorization and with it",
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
        #expect(CacheKind.shared.allows(head, isAuthorised: false) == plain)
        #expect(CacheKind.shared.allows(head, isAuthorised: true) == authorised)
    }

    @Test("a request's no-store holds here too, and Vary: * is for nobody")
    func requests() {
        let noStore = CacheControl(["Cache-Control": "no-store"])
        let head = ResponseHead(status: 200, fields: ["Cache-Control": "s-maxage=60"])
        #expect(!CacheKind.shared.allows(head, isAuthorised: false, directives: noStore))
        #expect(
            !CacheKind.shared.allows(
                ResponseHead(status: 200, fields: ["Vary": "*", "Cache-Control": "s-maxage=60"]),
                isAuthorised: false))
    }

    @Test(
        "section 5.2.2.10: s-maxage counts before max-age and Expires, the first of several",
        arguments: [
            ("s-maxage=60", 60), ("max-age=600, s-maxage=60", 60), ("s-maxage=0, max-age=600", 0),
            ("s-maxage=60, s-maxage=5", 60), ("S-MaxAge=\"60\"", 60), ("s-maxage=x, max-age=600", 0),
            ("s-maxage, max-age=600", 0), ("s-maxage=-1, max-age=600", 0), ("max-age=600", 600),
            ("s-maxage=60, no-cache", 0), ("s-maxage=99999999999999999999", 1 << 31),
        ])
    func lifetime(control: String, seconds: Int) {
        let fields: HTTPFields = ["Cache-Control": control, "Expires": HTTPDate.format(Self.now + 9)]
        let head = ResponseHead(status: 200, fields: fields)
        let freshness = Freshness(head, CacheKind.shared.control(fields), received: Self.now, delay: 0)
        #expect(freshness.lifetime == seconds)
    }

    @Test(
        "what is stale is validated first where must-revalidate, proxy-revalidate or s-maxage say so",
        arguments: [
            ("max-age=60, stale-while-revalidate=60", CacheUse.staleWhileRevalidating, true),
            ("max-age=60, stale-while-revalidate=60, must-revalidate", .validate, false),
            ("max-age=60, stale-while-revalidate=60, proxy-revalidate", .validate, false),
            ("s-maxage=60, stale-while-revalidate=60", .validate, false),
            ("max-age=60", .validate, true),
        ])
    func stale(control: String, use: CacheUse, onError: Bool) {
        let shared = CacheKind.shared.control(["Cache-Control": control])
        let none = CacheControl(HTTPFields())
        #expect(CacheUse(age: 70, lifetime: 60, control: shared, directives: none) == use)
        #expect(
            CacheUse.allowsStaleOnError(age: 70, lifetime: 60, control: shared, directives: none) == onError)
        #expect(CacheUse(age: 50, lifetime: 60, control: shared, directives: none) == .fresh)
    }

    @Test("the private rules read none of it")
    func privateRules() {
        let control = CacheControl(["Cache-Control": "private, max-age=600, s-maxage=60, proxy-revalidate"])
        #expect(control.maxAge == 600 && !control.mustRevalidate && control.isPrivate)
    }

    @Test(
        "a picture holds for what is left of its source's freshness, with a tag for a year, never past its expiry",
        arguments: [
            ("w342", 10, 60, "public, max-age=50"), ("w342", 70, 60, "public, max-age=0"),
            ("w342.v1", 70, 60, "public, max-age=31536000, immutable"),
            ("w342.e1790000020", 10, 60, "public, max-age=20"),
            ("w342.e1790000020.v1", 10, 60, "public, max-age=20, immutable"),
            ("w342.e1790000900", 10, 60, "public, max-age=50"), ("w342.e5", 10, 60, "public, max-age=0"),
        ])
    func ownControl(recipe: String, age: Int, lifetime: Int, control: String) throws {
        #expect(
            PictureFreshness.control(
                of: try PictureRecipe(recipe), age: age, lifetime: lifetime, now: Self.now) == control)
    }

    @Test("a failure is remembered only where it is the source's own")
    func failures() {
        for status in 400...599 {
            let isOwn = [404, 410, 422].contains(status)
            #expect(
                PictureFreshness.control(ofFailure: HTTPStatus(rawValue: status))
                    == (isOwn ? "public, max-age=60" : "no-store"))
        }
    }

    @Test("RFC 9211: how the cache has handled a request")
    func cacheStatus() {
        #expect(CacheStatus(timeToLive: 280).value == "marquee; hit; ttl=280")
        #expect(CacheStatus(timeToLive: -5).value == "marquee; hit; ttl=-5")
        #expect(
            CacheStatus(forward: .uriMiss, forwardStatus: 200, timeToLive: 600, isStored: true).value
                == "marquee; fwd=uri-miss; fwd-status=200; stored; ttl=600")
        #expect(
            CacheStatus(forward: .stale, forwardStatus: 304, isCollapsed: true).value
                == "marquee; fwd=stale; fwd-status=304; collapsed")
        #expect(CacheStatus(forward: .bypass).value == "marquee; fwd=bypass")
    }
}
