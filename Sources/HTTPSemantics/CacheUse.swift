/// What may be done with a stored answer, at one moment, for one request (RFC 9111 section 4).
package enum CacheUse: Hashable, Sendable {
    /// It is the answer.
    case fresh
    /// It is the answer although it is stale: the request allows that.
    case stale
    /// It is the answer, and is to be validated meanwhile (RFC 5861 section 3).
    case staleWhileRevalidating
    /// The server is to be asked whether it still holds.
    case validate

    /// - Parameters:
    ///   - age: the stored answer's, in seconds.
    ///   - lifetime: how long it is fresh, in seconds.
    ///   - control: its Cache-Control.
    ///   - directives: the request's.
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

    /// Whether it may be used, stale, because the server fails (RFC 9111 section 4.2.4, RFC 5861 section 4): not where it
    /// forbids that, nor longer than it or the request says, if one of them does.
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

/// Whether an answer may be stored by a private cache (RFC 9111 section 3).
package enum Storability {
    /// - Parameters:
    ///   - directives: the request's Cache-Control.
    ///   - isWhole: whether the request asked for all of it.
    package static func allows(_ head: ResponseHead, directives: CacheControl, isWhole: Bool = true) -> Bool {
        guard isWhole, head.status >= 200, head.status != 206, head.status != 304, !directives.noStore else {
            return false
        }
        let control = CacheControl(head.fields)
        if control.mustUnderstand {
            // Section 5.2.2.3: then no-store is meant for those who do not know what the status means.
            guard understood.contains(head.status) else { return false }
        } else if control.noStore {
            return false
        }
        // Section 4.1: it would match no request.
        if Vary.names(in: head.fields) == nil { return false }
        return Freshness.isHeuristicallyCacheable(head.status) || control.isPublic || control.isPrivate
            || control.maxAge != nil || head.fields["expires"] != nil
    }

    /// Statuses whose meaning for a cache is known here (RFC 9110 section 15).
    private static let understood: Set<Int> = [
        200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501,
    ]
}
