import FoundationEssentials

/// One redirect on the way to an answer.
struct RedirectStep: Hashable, Sendable {
    /// What it answered with.
    let head: ResponseHead
    /// Where it leads.
    let target: URL
    /// When it came, in seconds since 1970, and how many seconds after it was asked for.
    let received: Int
    let delay: Int
    /// The rules that say how long it holds.
    var kind = CacheKind.private

    /// How long a permanent redirect that says nothing is taken to hold: as long as any guess may (RFC 9110 sections
    /// 15.4.2 and 15.4.9 make them cacheable by heuristic).
    private static let assumedLifetime = Freshness.heuristicLimit

    /// Whether it is for good.
    var isPermanent: Bool { head.status == 301 || head.status == 308 }

    /// For how many seconds from then on it can be followed without asking; 0 for one that may not be stored.
    var freshSeconds: Int {
        guard kind.allows(head) else { return 0 }
        let freshness = Freshness(
            head, kind.control(head.fields), received: received, delay: delay,
            assuming: isPermanent ? Self.assumedLifetime : 0)
        return max(0, freshness.lifetime - freshness.initialAge)
    }
}

extension StoredResponse.PermanentMove {
    /// Where the permanent redirects at the beginning lead, and until when; nil if the first is not permanent.
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
