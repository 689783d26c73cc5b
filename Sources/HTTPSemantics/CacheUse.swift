/// How a stored response may be used now, for one request (RFC 9111 section 4).
package enum CacheUse: Hashable, Sendable {
    /// Use it: it is fresh.
    case fresh
    /// Use it although it is stale: the request allows it.
    case stale
    /// Use it stale, and revalidate it in the background (RFC 5861 section 3).
    case staleWhileRevalidating
    /// Validate it with the server first.
    case validate

    /// - Parameters:
    ///   - age: the age of the stored response, in seconds.
    ///   - lifetime: its freshness lifetime, in seconds.
    ///   - control: its Cache-Control.
    ///   - directives: the request's Cache-Control.
    package init(age: Int, lifetime: Int, control: CacheControl, directives: CacheControl) {
        let isFresh = age < lifetime && !control.noCache
        if control.noCache || directives.noCache || directives.noStore {
            self = .validate
        } else if let maxAge = directives.maxAge, age > maxAge || maxAge == 0,
            !(isFresh && control.isImmutable)
        {
            self = .validate
        } else if let minFresh = directives.minFresh, lifetime - age < minFresh {
            self = .validate
        } else if isFresh {
            self = .fresh
        } else if control.mustRevalidate {
            self = .validate
        } else if let maxStale = directives.maxStale, age - lifetime <= maxStale {
            self = .stale
        } else if let window = control.staleWhileRevalidate, age - lifetime <= window,
            directives.maxAge == nil, directives.minFresh == nil
        {
            self = .staleWhileRevalidating
        } else {
            self = .validate
        }
    }

    /// Whether a stale response may be used because the server fails (RFC 9111 section 4.2.4, RFC 5861 section 4):
    /// unless a directive forbids it, and within stale-if-error of the request or the response.
    package static func allowsStaleOnError(
        age: Int, lifetime: Int, control: CacheControl, directives: CacheControl
    ) -> Bool {
        if control.noCache || control.mustRevalidate || directives.noCache || directives.noStore {
            return false
        }
        guard let window = directives.staleIfError ?? control.staleIfError else { return true }
        return age - lifetime <= window
    }
}

/// Whether a private cache may store a response (RFC 9111 section 3).
package enum Storability {
    /// - Parameters:
    ///   - directives: the request's Cache-Control.
    ///   - isWhole: whether the request asked for the complete representation.
    package static func allows(_ head: ResponseHead, directives: CacheControl, isWhole: Bool = true) -> Bool {
        guard isWhole, head.status >= 200, head.status != 206, head.status != 304, !directives.noStore else {
            return false
        }
        let control = CacheControl(head.fields)
        if control.mustUnderstand {
            // Section 5.2.2.3: no-store then applies only to caches that do not understand the status.
            guard understood.contains(head.status) else { return false }
        } else if control.noStore {
            return false
        }
        // Section 4.1: a response with `Vary: *` matches no request.
        if Vary.names(in: head.fields) == nil { return false }
        return Freshness.isHeuristicallyCacheable(head.status) || control.isPublic || control.isPrivate
            || control.maxAge != nil || head.fields["expires"] != nil
    }

    /// The statuses that this cache understands (RFC 9110 section 15).
    private static let understood: Set<Int> = [
        200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501,
    ]
}
