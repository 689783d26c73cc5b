import HTTPSemantics
import TestTraits
import Testing

@Suite("Storing answers, RFC 9111 section 3", .bounded)
struct StorabilityTests {
    @Test("section 5.2.2.5: no-store of the answer forbids storing, and so does the request's (5.2.1.5)")
    func noStore() {
        #expect(!isStorable(["Cache-Control": "max-age=10000, No-StOrE", "Expires": "x"]))
        #expect(!isStorable([:], directives: "no-store"))
        let noStore = CacheControl(["Cache-Control": "no-store"])
        let open = ResponseHead(status: 200, fields: ["Cache-Control": "s-maxage=60"])
        #expect(!CacheKind.shared.allowsStoring(open, isAuthorised: false, directives: noStore))
        // s-maxage lets a shared cache store other statuses too.
        #expect(CacheKind.shared.allowsStoring(ResponseHead(status: 302, fields: open.fields)))
    }

    @Test(
        "section 5.2.2.3: must-understand overrides no-store for known statuses, and forbids storing others"
    )
    func mustUnderstand() {
        #expect(isStorable(["Cache-Control": "must-understand, no-store, max-age=1"]))
        #expect(!isStorable(["Cache-Control": "must-understand, no-store, max-age=1"], status: 599))
    }

    @Test("section 3.3: a range, a 304 and an interim answer are not stored")
    func parts() {
        for status in [100, 101, 206, 304, 0] {
            #expect(!isStorable(["Cache-Control": "max-age=3600"], status: status))
        }
        let head = ResponseHead(status: 200)
        #expect(!Storability.allows(head, directives: CacheControl([:]), isWhole: false))
    }

    @Test(
        "other statuses are stored if the answer has a freshness lifetime",
        arguments: [201, 302, 400, 499, 500, 503, 599])
    func statuses(status: Int) {
        #expect(!isStorable([:], status: status))
        #expect(isStorable(["Cache-Control": "max-age=3600"], status: status))
        #expect(isStorable(["Expires": "Thu, 18 Aug 2050 02:01:18 GMT"], status: status))
        #expect(isStorable(["Cache-Control": "public"], status: status))
    }

    private func isStorable(_ fields: HeaderFields, status: Int = 200, directives: String = "") -> Bool {
        Storability.allows(
            ResponseHead(status: status, fields: fields),
            directives: CacheControl(["Cache-Control": directives]))
    }
}
