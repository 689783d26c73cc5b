/// How large the window of W-TinyLFU should be: caches without values, one for each of a few sizes, that see the uses of
/// a sample of the keys and count their hits. The window adapts as in "Adaptive Software Cache Management" (Einziger,
/// Eytan, Friedman, Manes, Middleware 2018), but not by climbing, which needs many more uses and ends before a valley:
/// for a list that is gone through in a loop a window helps only once the whole loop fits into it.
///
/// The cache fills as plain LRU. `begin` guesses its first window when there is no room for the first time: without a
/// guess, a trace that is short beside its cache would end before the trials know enough. A guess needs little
/// evidence to be given up; every later change needs more.
///
/// In a small cache the trials see every use, which costs several times what the use itself does. Where each of them
/// has all that is wanted there is nothing to choose: they rest then, until something new is stored.
struct WindowTrials {
    /// The windows' parts of the cache. The first is plain LRU, as which a cache begins.
    private static let shares = [1, 0.5, 0.2, 0.01]
    /// The most entries of a trial that sees all keys, which is most sure.
    private static let allEntries = 512
    /// The most entries of one that sees a sample: few, since each use of the sample costs as much as several hits.
    private static let sampledEntries = 128
    /// Uses of the sample in a round: as many as a trial has entries, and not fewer than these.
    private static let leastUses = 100
    /// Judgements in a round.
    private static let judgements = 10
    /// What the hits of one round still count in the next: about the last twenty rounds decide.
    private static let memory = 0.95
    /// How many more hits another window must have, for each entry: about so many are lost while the cache changes.
    private static let priceOfChange = 0.5
    /// The same for the first change, if the window was only guessed.
    private static let priceOfGuess = 0.15
    /// The guess, unless the cache should go on as LRU: small enough for frequency to count, and large enough for keys
    /// that come back soon.
    private static let guess = 2
    /// The fewest entries for which the window is guessed. The trials of a smaller cache know soon what is best.
    private static let guessedEntries = 256
    /// The most of the uses that may have been hits while the cache was filling. Above, nearly all that is used again
    /// fits into it in the order of use.
    private static let guessedHits = 0.6

    /// The rounds in a row in which no trial misses anything, after which they rest.
    private static let calm = 4

    private struct Trial {
        var policy: WTinyLFU
        var hits = 0.0
    }

    private var trials: [Trial]
    /// A key is in the sample if these bits of it are zero.
    private var mask: UInt64 = 0
    /// Uses in this round that a judgement has seen.
    private var judgedUses = 0
    /// Uses since the last judgement.
    private var uses = 0
    private var best = 0
    private var isGuess = false
    /// The rounds in a row in which every trial had all that was used; -1 once one had not, until the round ends.
    private var roundsWithoutMiss = 0

    init(limit: Int) {
        trials = Self.shares.map { Trial(policy: WTinyLFU(limit: limit, windowShare: $0)) }
    }

    /// The window's part of the cache that does best.
    var share: Double { Self.shares[best] }

    /// Whether the window is the whole cache.
    var isPlainLRU: Bool { best == 0 }

    /// Guesses the window of a cache that has been filled and has no room for the first time. If nothing came back while
    /// it was filling, nothing speaks against the order of use.
    /// - Parameters:
    ///   - entries: what the cache holds.
    ///   - hits: how many of the uses so far were hits.
    ///   - uses: the hits, and what was stored.
    mutating func begin(entries: Int, hits: Int, uses: Int) {
        guard best == 0, entries >= Self.guessedEntries else { return }
        guard hits > 0, Double(hits) <= Self.guessedHits * Double(uses) else { return }
        best = Self.guess
        isGuess = true
    }

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
        let round = max(Self.leastUses, trials[0].policy.count)
        guard uses * Self.judgements >= round else { return false }
        let current = best
        judge()
        judgedUses += uses
        uses = 0
        if judgedUses >= round { endRound() }
        return best != current
    }

    private mutating func judge() {
        let current = best
        for index in trials.indices where trials[index].hits > trials[best].hits { best = index }
        let price = (isGuess ? Self.priceOfGuess : Self.priceOfChange) * Double(trials[0].policy.count)
        if trials[best].hits <= trials[current].hits + price { best = current }
        if best != current { isGuess = false }
    }

    private mutating func endRound() {
        judgedUses = 0
        roundsWithoutMiss += 1
        for index in trials.indices { trials[index].hits *= Self.memory }
        if trials[0].policy.count > (mask == 0 ? Self.allEntries : Self.sampledEntries) {
            while trials[0].policy.count > Self.sampledEntries { halveSample() }
        }
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
