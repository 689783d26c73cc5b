import HTTPSemantics

/// The rules for redirects, retries and invalidation of uploads.
enum UploadRules {
    /// How to follow a redirect.
    enum Redirect: Equatable {
        /// The answer is not a redirect to follow.
        case none
        /// Send a GET without the body to the target.
        case get
        /// Send the same request, with its whole body, to the target.
        case again
        /// The body must not be sent to the target.
        case refused
    }

    /// RFC 9110 section 15.4: a 303 becomes a GET; so does a 301 or 302 of a POST, as in all browsers. All others keep
    /// method and body, but must not leave the origin.
    static func redirect(status: Int, method: HTTPMethod, staysAtOrigin: Bool) -> Redirect {
        switch status {
        case 303 where method != .head: .get
        case 301 where method == .post, 302 where method == .post: .get
        case 301, 302, 303, 307, 308: method.isSafe || staysAtOrigin ? .again : .refused
        default: .none
        }
    }

    /// Whether a request with this error is sent again: it did not reach the server, or may reach it twice.
    static func retries(after error: ImageLoadingError, mayBeRepeated: Bool) -> Bool {
        switch error {
        case .connectionFailed: true
        default: mayBeRepeated && RetryPolicy.covers(error)
        }
    }

    /// Whether a request with this status is sent again. A server may have performed the write already, although it or
    /// its proxy answers that it is busy. So only a repeatable request is sent again.
    static func retries(afterStatus status: Int, mayBeRepeated: Bool) -> Bool {
        mayBeRepeated && RetryPolicy.covers(status: status)
    }

    /// Whether the answer invalidates the URL in caches (RFC 9111 section 4.4).
    static func invalidates(_ method: HTTPMethod, status: Int) -> Bool {
        !method.isSafe && (200..<400).contains(status)
    }
}
