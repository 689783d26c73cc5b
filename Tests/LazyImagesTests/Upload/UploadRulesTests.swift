import TestTraits
import Testing

@testable import LazyImages

@Suite("The rules of uploads", .bounded)
struct UploadRulesTests {
    typealias Redirect = UploadRules.Redirect

    @Test(
        "a 303 becomes GET, as do 301 and 302 after a POST; other redirects keep method and body, within their origin",
        arguments: [
            (303, "POST", Redirect.get, Redirect.get), (303, "PUT", .get, .get), (303, "DELETE", .get, .get),
            (303, "HEAD", .again, .again), (301, "POST", .get, .get), (302, "POST", .get, .get),
            (301, "PUT", .again, .refused), (302, "PATCH", .again, .refused), (301, "GET", .again, .again),
            (307, "POST", .again, .refused), (308, "POST", .again, .refused), (308, "PUT", .again, .refused),
            (307, "GET", .again, .again), (300, "POST", .none, .none), (304, "PUT", .none, .none),
            (305, "POST", .none, .none), (201, "POST", .none, .none),
        ])
    func redirect(status: Int, method: String, atOrigin: Redirect, elsewhere: Redirect) {
        let method = RequestMethod(rawValue: method)
        #expect(UploadRules.redirect(status: status, method: method, staysAtOrigin: true) == atOrigin)
        #expect(UploadRules.redirect(status: status, method: method, staysAtOrigin: false) == elsewhere)
    }

    @Test(
        "a request that did not reach the server is sent again; one that may have, only if it is idempotent")
    func retries() {
        let lost = ImageLoadingError.connectionLost(url: "", received: 0, reason: "")
        let refused = ImageLoadingError.connectionFailed(url: "", reason: "")
        let late = ImageLoadingError.timedOut(url: "", phase: .firstByte, seconds: 1)
        #expect(UploadRules.retries(after: .error(refused), mayBeRepeated: true))
        #expect(UploadRules.retries(after: .error(lost), mayBeRepeated: true))
        #expect(!UploadRules.retries(after: .error(late), mayBeRepeated: true))
        #expect(UploadRules.retries(after: .status(503), mayBeRepeated: true))
        #expect(!UploadRules.retries(after: .status(404), mayBeRepeated: true))
        #expect(UploadRules.retries(after: .error(refused), mayBeRepeated: false))
        #expect(!UploadRules.retries(after: .error(lost), mayBeRepeated: false))
        #expect(!UploadRules.retries(after: .status(503), mayBeRepeated: false))
        let fault = ImageLoadingError.fileChanged(path: "")
        #expect(!UploadRules.retries(after: .error(fault), mayBeRepeated: true))
    }

    @Test("the method decides whether a request is idempotent, unless the caller does")
    func mayBeRepeated() throws {
        for method in ["GET", "HEAD", "PUT", "DELETE"] {
            #expect(try UploadRequest("http://localhost/", RequestMethod(rawValue: method)).mayBeRepeated)
        }
        for method in ["POST", "PATCH", "MKCOL", "put"] {
            #expect(try !UploadRequest("http://localhost/", RequestMethod(rawValue: method)).mayBeRepeated)
        }
    }

    @Test("a successful write invalidates; a failed write or a safe method does not")
    func invalidation() {
        for status in [200, 201, 204, 303, 399] { #expect(UploadRules.invalidates(.put, status: status)) }
        for status in [199, 400, 412, 500] { #expect(!UploadRules.invalidates(.put, status: status)) }
        #expect(!UploadRules.invalidates(.get, status: 200))
    }
}
