import HTTPSemantics

/// What follows an answer, or a failure, of a request that writes.
enum UploadRules {
    /// What becomes of a request that is redirected.
    enum Redirect: Equatable {
        /// The answer is no redirect that is followed.
        case none
        /// The target is asked with GET and without the body.
        case get
        /// The same request is sent to the target, its body from the beginning.
        case again
        /// The body must not go there.
        case refused
    }

    /// RFC 9110 section 15.4: 303 becomes GET; so do 301 and 302 of a POST, as every browser has it; all others keep method
    /// and body, which go to no other origin.
    static func redirect(status: Int, method: HTTPMethod, staysAtOrigin: Bool) -> Redirect {
        switch status {
        case 303 where method != .head: .get
        case 301 where method == .post, 302 where method == .post: .get
        case 301, 302, 303, 307, 308: method.isSafe || staysAtOrigin ? .again : .refused
        default: .none
        }
    }

    /// Whether a request that failed so is sent again: one that did not reach the server, or one that may reach it twice.
    static func retries(after error: ImageLoadingError, mayBeRepeated: Bool) -> Bool {
        switch error {
        case .connectionFailed: true
        default: mayBeRepeated && RetryPolicy.covers(error)
        }
    }

    /// Whether a request that was answered so is sent again. A server that says that it is busy may have begun, and so may
    /// have one behind a proxy that says it: what must not happen twice is not sent twice.
    static func retries(afterStatus status: Int, mayBeRepeated: Bool) -> Bool {
        mayBeRepeated && RetryPolicy.covers(status: status)
    }

    /// Whether what caches have of the URL is no longer right (RFC 9111 section 4.4).
    static func invalidates(_ method: HTTPMethod, status: Int) -> Bool {
        !method.isSafe && (200..<400).contains(status)
    }
}
