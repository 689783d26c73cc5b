import HTTPSemantics
import Testing

@Suite("What may be stored, RFC 9111 section 3", .timeLimit(.minutes(30)))
struct StorabilityTests {
    @Test("a 200 is stored, private and with Authorization too, since the cache has one user")
    func plain() {
        #expect(isStorable([:]))
        #expect(isStorable(["Cache-Control": "private"]))
        #expect(isStorable(["Cache-Control": "private, max-age=1"], status: 403))
    }

    @Test("section 5.2.2.5: no-store of the answer, and 5.2.1.5 of the request")
    func noStore() {
        #expect(!isStorable(["Cache-Control": "max-age=10000, No-StOrE", "Expires": "x"]))
        #expect(!isStorable([:], directives: "no-store"))
    }

    @Test(
        "section 5.2.2.3: must-understand makes no-store void for statuses that are known, and forbids others"
    )
    func mustUnderstand() {
        #expect(isStorable(["Cache-Control": "must-understand, no-store, max-age=1"]))
        #expect(!isStorable(["Cache-Control": "must-understand, no-store, max-age=1"], status: 599))
    }

    @Test("section 3.3: neither a part nor a 304 is stored, nor what is no final answer")
    func parts() {
        for status in [100, 101, 206, 304, 0] {
            #expect(!isStorable(["Cache-Control": "max-age=3600"], status: status))
        }
        let head = ResponseHead(status: 200)
        #expect(!Storability.allows(head, directives: CacheControl([:]), isWhole: false))
    }

    @Test(
        "other statuses are stored when the answer says for how long",
        arguments: [201, 302, 400, 499, 500, 503, 599])
    func statuses(status: Int) {
        #expect(!isStorable([:], status: status))
        #expect(isStorable(["Cache-Control": "max-age=3600"], status: status))
        #expect(isStorable(["Expires": "Thu, 18 Aug 2050 02:01:18 GMT"], status: status))
        #expect(isStorable(["Cache-Control": "public"], status: status))
    }

    @Test("section 4.1: what varies by everything would match nothing")
    func varyStar() {
        #expect(!isStorable(["Vary": "*", "Cache-Control": "max-age=3600"]))
        #expect(!isStorable(["Vary": "Foo, *"]))
        #expect(isStorable(["Vary": "Foo"]))
    }

    private func isStorable(_ fields: HTTPFields, status: Int = 200, directives: String = "") -> Bool {
        Storability.allows(
            ResponseHead(status: status, fields: fields),
            directives: CacheControl(["Cache-Control": directives]))
    }
}
