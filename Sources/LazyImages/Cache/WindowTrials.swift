/// How large the window of W-TinyLFU should be: caches without values, one for each of a few sizes, that see the uses of
/// a sample of the keys and count their hits. The window adapts as in "Adaptive Software Cache Management" (Einziger,
/// Eytan, Friedman, Manes, Middleware 2018), but not by climbing, which needs many more uses and ends before a valley:
/// for a list that is gone through in a loop a window helps only once the whole loop fits into it.
///
/// In a small cache they see every use, which costs several times what the use itself does. Where each of them has all that
/// is wanted there is nothing to choose: they rest then, until something new is stored.
struct WindowTrials {
    /// The windows' parts of the cache. The first is plain LRU, as which a cache begins.
    private static let shares = [1, 0.8, 0.5, 0.2, 0.01]
    /// The most entries of a trial that sees all keys, which is most sure.
    private static let allEntries = 512
    /// The most entries of one that sees a sample: few, since each use of the sample costs as much as several hits.
    private static let sampledEntries = 96
    /// Uses of the sample between two judgements: as many as a trial has entries, and not fewer than these.
    private static let leastUses = 100
    /// What the hits of one round still count in the next: about the last twenty rounds decide.
    private static let memory = 0.95
    /// How many more hits another window must have, for each entry: about so many are lost while the cache changes.
    private static let priceOfChange = 0.5

    /// The rounds in a row in which no trial misses anything, after which they rest.
    private static let calm = 4

    private struct Trial {
        var policy: WTinyLFU
        var hits = 0.0
    }

    private var trials: [Trial]
    /// A key is in the sample if these bits of it are zero.
    private var mask: UInt64 = 0
    private var uses = 0
    private var best = 0
    /// The rounds in a row in which every trial had all that was used; -1 once one had not, until the round ends.
    private var roundsWithoutMiss = 0

    init(limit: Int) {
        trials = Self.shares.map { Trial(policy: WTinyLFU(limit: limit, windowShare: $0)) }
    }

    /// The window's part of the cache that does best.
    var share: Double { Self.shares[best] }

    /// Whether the window is the whole cache.
    var isPlainLRU: Bool { best == 0 }

    /// Whether the use of a key is to be noted.
    @inline(__always)
    func samples(_ digest: SHA256.Digest) -> Bool {
        digest.fourth & mask == 0 && roundsWithoutMiss < Self.calm
    }

    /// Something new was stored: its use is the first to be noted again.
    mutating func wake() { roundsWithoutMiss = 0 }

    /// Notes the use of a key in the sample. True if another window is the best now.
    @inline(never)
    mutating func use(_ digest: SHA256.Digest, cost: Int, _ sketch: borrowing FrequencySketch) -> Bool {
        for index in trials.indices {
            let node = trials[index].policy.node(of: digest)
            if node != WTinyLFU.none {
                trials[index].hits += 1
                trials[index].policy.use(node)
            } else {
                roundsWithoutMiss = -1
                _ = trials[index].policy.add(digest, cost: cost)
                while trials[index].policy.removeNext(sketch) != nil {}
            }
        }
        uses += 1
        guard uses >= max(Self.leastUses, trials[0].policy.count) else { return false }
        roundsWithoutMiss += 1
        return judge()
    }

    private mutating func judge() -> Bool {
        uses = 0
        let current = best
        for index in trials.indices where trials[index].hits > trials[best].hits { best = index }
        if trials[best].hits <= trials[current].hits + Self.priceOfChange * Double(trials[0].policy.count) {
            best = current
        }
        for index in trials.indices { trials[index].hits *= Self.memory }
        if trials[0].policy.count > (mask == 0 ? Self.allEntries : Self.sampledEntries) {
            while trials[0].policy.count > Self.sampledEntries { halveSample() }
        }
        return best != current
    }

    /// Sees half as many keys from now on, with half the room.
    private mutating func halveSample() {
        let mask = mask << 1 | 1
        self.mask = mask
        for index in trials.indices {
            trials[index].hits /= 2
            trials[index].policy.halve { $0.fourth & mask == 0 }
        }
    }
}
