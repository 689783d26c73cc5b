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
