import Testing

@testable import LazyImages

@Suite("The rules of uploads")
struct UploadRulesTests {
    typealias Redirect = UploadRules.Redirect

    @Test(
        "303 becomes GET, as do 301 and 302 of a POST; the others keep method and body, at their origin",
        arguments: [
            (303, "POST", Redirect.get, Redirect.get), (303, "PUT", .get, .get), (303, "DELETE", .get, .get),
            (303, "HEAD", .again, .again), (301, "POST", .get, .get), (302, "POST", .get, .get),
            (301, "PUT", .again, .refused), (302, "PATCH", .again, .refused), (301, "GET", .again, .again),
            (307, "POST", .again, .refused), (308, "POST", .again, .refused), (308, "PUT", .again, .refused),
            (307, "GET", .again, .again), (300, "POST", .none, .none), (304, "PUT", .none, .none),
            (305, "POST", .none, .none), (201, "POST", .none, .none),
        ])
    func redirect(status: Int, method: String, atOrigin: Redirect, elsewhere: Redirect) {
        let method = HTTPMethod(rawValue: method)
        #expect(UploadRules.redirect(status: status, method: method, staysAtOrigin: true) == atOrigin)
        #expect(UploadRules.redirect(status: status, method: method, staysAtOrigin: false) == elsewhere)
    }

    @Test("what did not reach the server is sent again; what may have, only if twice is as good as once")
    func retries() {
        let lost = ImageLoadingError.connectionLost(url: "", received: 0, reason: "")
        let refused = ImageLoadingError.connectionFailed(url: "", reason: "")
        let late = ImageLoadingError.timedOut(url: "", phase: .firstByte, seconds: 1)
        #expect(UploadRules.retries(after: refused, mayBeRepeated: true))
        #expect(UploadRules.retries(after: lost, mayBeRepeated: true))
        #expect(!UploadRules.retries(after: late, mayBeRepeated: true))
        #expect(UploadRules.retries(afterStatus: 503, mayBeRepeated: true))
        #expect(!UploadRules.retries(afterStatus: 404, mayBeRepeated: true))
        #expect(UploadRules.retries(after: refused, mayBeRepeated: false))
        #expect(!UploadRules.retries(after: lost, mayBeRepeated: false))
        #expect(!UploadRules.retries(afterStatus: 503, mayBeRepeated: false))
        let fault = ImageLoadingError.fileChanged(path: "")
        #expect(!UploadRules.retries(after: fault, mayBeRepeated: true))
    }

    @Test("what may be repeated is what the method says, unless the caller knows better")
    func mayBeRepeated() throws {
        for method in ["GET", "HEAD", "PUT", "DELETE"] {
            #expect(try UploadRequest("http://localhost/", HTTPMethod(rawValue: method)).mayBeRepeated)
        }
        for method in ["POST", "PATCH", "MKCOL", "put"] {
            #expect(try !UploadRequest("http://localhost/", HTTPMethod(rawValue: method)).mayBeRepeated)
        }
    }

    @Test("a write that succeeded invalidates; a failed one does not, nor does what only reads")
    func invalidation() {
        for status in [200, 201, 204, 303, 399] { #expect(UploadRules.invalidates(.put, status: status)) }
        for status in [199, 400, 412, 500] { #expect(!UploadRules.invalidates(.put, status: status)) }
        #expect(!UploadRules.invalidates(.get, status: 200))
    }
}
