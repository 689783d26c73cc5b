import FoundationEssentials

/// One redirect on the way to an answer.
struct RedirectStep: Hashable, Sendable {
    /// The head of the redirect's answer.
    let head: ResponseHead
    /// The URL to which it leads.
    let target: URL
    /// When the head arrived, in seconds since 1970, and how many seconds after the request was sent.
    let received: Int
    let delay: Int
    /// Private or shared: the rules for its lifetime.
    var kind = CacheKind.private

    /// The lifetime of a permanent redirect that names none: the longest that a heuristic allows (RFC 9110 sections
    /// 15.4.2 and 15.4.9 make such redirects heuristically cacheable).
    private static let assumedLifetime = Freshness.heuristicLimit

    /// Whether the status says that the redirect is permanent.
    var isPermanent: Bool { head.status == 301 || head.status == 308 }

    /// How many seconds after its arrival the redirect is fresh; 0 if it may not be stored.
    var freshSeconds: Int {
        guard kind.allowsStoring(head) else { return 0 }
        let freshness = Freshness(
            head, kind.control(head.fields), received: received, delay: delay,
            defaultLifetime: isPermanent ? Self.assumedLifetime : 0)
        return max(0, freshness.lifetime - freshness.initialAge)
    }
}

extension StoredResponse.PermanentMove {
    /// The target of the permanent redirects at the beginning, and their expiry; nil if the first is not permanent.
    init?(_ steps: [RedirectStep], at now: Int) {
        var move: Self?
        var seconds = Int.max
        for step in steps {
            seconds = min(seconds, step.isPermanent ? step.freshSeconds : 0)
            guard seconds > 0 else { break }
            move = Self(url: step.target.absoluteString, until: now + seconds)
        }
        guard let move else { return nil }
        self = move
    }
}
