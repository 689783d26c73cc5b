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
        for method in [HTTPMethod.get, .put, .delete, .head] {
            #expect(UploadRules.retries(method, after: refused) && UploadRules.retries(method, after: lost))
            #expect(!UploadRules.retries(method, after: late))
            #expect(UploadRules.retries(method, afterStatus: 503))
            #expect(!UploadRules.retries(method, afterStatus: 404))
        }
        for method in [HTTPMethod.post, .patch, HTTPMethod(rawValue: "MKCOL")] {
            #expect(UploadRules.retries(method, after: refused) && !UploadRules.retries(method, after: lost))
            #expect(!UploadRules.retries(method, afterStatus: 503))
        }
        let fault = ImageLoadingError.fileChanged(path: "")
        #expect(!UploadRules.retries(.put, after: fault))
    }

    @Test("a write that succeeded invalidates; a failed one does not, nor does what only reads")
    func invalidation() {
        for status in [200, 201, 204, 303, 399] { #expect(UploadRules.invalidates(.put, status: status)) }
        for status in [199, 400, 412, 500] { #expect(!UploadRules.invalidates(.put, status: status)) }
        #expect(!UploadRules.invalidates(.get, status: 200))
    }
}
