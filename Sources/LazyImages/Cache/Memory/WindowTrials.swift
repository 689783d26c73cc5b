/// Finds the best window size for W-TinyLFU. A few trial caches without values, each with another window, see the uses
/// of a sample of the keys and count hits. The window adapts as in "Adaptive Software Cache Management" (Einziger,
/// Eytan, Friedman, Manes, Middleware 2018), but not by hill climbing: that needs many more uses and cannot cross a
/// valley, and for a list read in a loop a window helps only if the whole loop fits.
///
/// The cache starts as plain LRU. When it is full for the first time, `start` guesses a window: a short trace would end
/// before the trials know enough. Little evidence is enough to change a guess; every later change needs more.
///
/// In a small cache the trials see every use, which costs several times as much as the use itself. If no trial misses
/// anything, all windows are equally good: the trials then rest until something new is stored.
struct WindowTrials {
    /// The window's share of the cache in each trial. The first is plain LRU, with which a cache starts.
    private static let shares = [1, 0.5, 0.2, 0.01]
    /// The most entries of a trial that sees all keys, which gives the best evidence.
    private static let allEntries = 512
    /// The most entries of a trial that sees a sample: few, since each sampled use costs as much as several hits.
    private static let sampledEntries = 128
    /// The fewest sampled uses in a round; else a round has as many as a trial has entries.
    private static let leastUses = 100
    /// How often a round compares the trials.
    private static let comparisons = 10
    /// The weight of a round's hits in the next round: about the last twenty rounds decide.
    private static let decay = 0.95
    /// How many more hits per entry another window must have: about as many are lost while the cache changes.
    private static let evidenceForChange = 0.5
    /// The same while the window is a guess.
    private static let evidenceForGuess = 0.15
    /// The index of the guessed share: small enough for frequency to count, large enough for keys that are used again
    /// soon.
    private static let guess = 2
    /// The fewest entries for a guess. In a smaller cache the trials soon know the best window.
    private static let guessedEntries = 256
    /// The highest hit rate, while the cache fills, for a guess. Above it plain LRU is good enough.
    private static let guessedHits = 0.6

    /// After how many rounds in a row without a miss the trials rest.
    private static let roundsUntilRest = 4

    private struct Trial {
        var policy: WTinyLFU
        var hits = 0.0
    }

    private var trials: [Trial]
    /// A key is in the sample if these bits of it are zero.
    private var mask: UInt64 = 0
    /// Uses in this round before the last comparison.
    private var comparedUses = 0
    /// Uses since the last comparison.
    private var uses = 0
    private var best = 0
    private var isGuess = false
    /// Rounds in a row without a miss in any trial; -1 after a miss, until the round ends.
    private var roundsWithoutMiss = 0

    init(limit: Int) {
        trials = Self.shares.map { Trial(policy: WTinyLFU(limit: limit, windowShare: $0)) }
    }

    /// Changes the limit of the cache. The trials keep their samples and their hits.
    mutating func setLimit(_ limit: Int) {
        for index in trials.indices {
            trials[index].policy.setLimit(limit >> mask.nonzeroBitCount, windowShare: Self.shares[index])
            let bound = trials[index].policy.limit
            while trials[index].policy.removeNext(above: bound) != nil {}
        }
    }

    /// The share of the cache of the best window.
    var share: Double { Self.shares[best] }

    /// Whether the window is the whole cache.
    var isPlainLRU: Bool { best == 0 }

    /// Guesses the window when the cache is full for the first time. Without hits while it filled, there is no evidence
    /// against plain LRU.
    /// - Parameters:
    ///   - entries: how many entries the cache has.
    ///   - hits: how many of the uses so far were hits.
    ///   - uses: how many hits and stores there were.
    mutating func start(entries: Int, hits: Int, uses: Int) {
        guard best == 0, entries >= Self.guessedEntries else { return }
        guard hits > 0, Double(hits) <= Self.guessedHits * Double(uses) else { return }
        best = Self.guess
        isGuess = true
    }

    /// Whether the trials want to see the use of a key.
    @inline(__always)
    func samples(_ digest: SHA256.Digest) -> Bool {
        digest.fourth & mask == 0 && roundsWithoutMiss < Self.roundsUntilRest
    }

    /// Wakes the trials: something new was stored.
    mutating func wake() { roundsWithoutMiss = 0 }

    /// Shows the trials the use of a sampled key. True if another window is now the best.
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
        guard uses * Self.comparisons >= round else { return false }
        let current = best
        compare()
        comparedUses += uses
        uses = 0
        if comparedUses >= round { endRound() }
        return best != current
    }

    private mutating func compare() {
        let current = best
        for index in trials.indices where trials[index].hits > trials[best].hits { best = index }
        let needed =
            (isGuess ? Self.evidenceForGuess : Self.evidenceForChange) * Double(trials[0].policy.count)
        if trials[best].hits <= trials[current].hits + needed { best = current }
        if best != current { isGuess = false }
    }

    private mutating func endRound() {
        comparedUses = 0
        roundsWithoutMiss += 1
        for index in trials.indices { trials[index].hits *= Self.decay }
        if trials[0].policy.count > (mask == 0 ? Self.allEntries : Self.sampledEntries) {
            while trials[0].policy.count > Self.sampledEntries { halveSample() }
        }
    }

    /// Halves the sample, and the size of the trials.
    private mutating func halveSample() {
        let mask = mask << 1 | 1
        self.mask = mask
        for index in trials.indices {
            trials[index].hits /= 2
            trials[index].policy.halve { $0.fourth & mask == 0 }
        }
    }
}
