import Hashing

/// The eviction policy of a bounded cache: W-TinyLFU of Einziger, Friedman and Manes ("TinyLFU: A Highly Efficient
/// Cache Admission Policy", ACM Transactions on Storage 13(4), 2017), by cost. It has nodes, not values; the caller
/// stores values by a node's index.
///
/// A new entry enters the window, an LRU list. When the window is full, its oldest entry is the candidate for the main
/// space. If the main space is full too, the candidate must have been used more often than the main space's victim, by
/// a sketch that also counts keys outside the cache; else the candidate is evicted. So a scan does not evict entries
/// that are used again and again. The main space is a segmented LRU: entries are on probation until their next use,
/// then protected. With a window of the whole size the policy is plain LRU.
///
/// Every operation is O(1) for each entry that it adds or removes; a use allocates nothing. Nodes lie in flat arrays. A
/// table maps a key to its node's index, and indices link the nodes of a segment into a ring.
struct WTinyLFU {
    /// The first three nodes are not entries. Each is the anchor of a segment's ring: its `older` is the newest entry,
    /// its `newer` the oldest.
    private enum Segment {
        static let window: Int32 = 0
        static let probation: Int32 = 1
        static let protected: Int32 = 2
        /// Pinned entries, which are in no ring.
        static let pinned: Int32 = 3
        /// Nodes that are not entries.
        static let free: Int32 = 4
    }

    private struct Node: BitwiseCopyable {
        var cost: Int
        var newer: Int32
        var older: Int32
        var segment: Int32

        static func anchor(_ index: Int32) -> Node {
            Node(cost: 0, newer: index, older: index, segment: index)
        }
    }

    static let none = KeyTable.none
    private static let anchors = [Node.anchor(0), Node.anchor(1), Node.anchor(2)]
    private static let noDigest = SHA256.Digest(first: 0, second: 0, third: 0, fourth: 0)
    /// The protected share of the main space (section 4 of the paper).
    private static let protectedShare = 0.8
    /// The most nodes that one operation moves from a segment that is too large: a window that shrinks empties over
    /// several operations.
    private static let moves = 4
    /// The same for the entries that a window had before it shrank. More than `moves`: entries in the window are
    /// evicted first, although newer ones are worth less.
    private static let movesOfRest = 64

    /// The most that all entries may cost.
    private(set) var limit: Int
    /// The most that the window may cost.
    private(set) var window: Int
    private(set) var cost = 0
    private(set) var count = 0

    private var table = KeyTable()
    private var nodes = anchors
    /// The keys of the nodes. A separate array, so that the links of a ring lie closer together.
    private var digests = [SHA256.Digest](repeating: noDigest, count: anchors.count)
    private var windowCost = 0
    /// The cost that the window still has to move to the main space since it shrank.
    private var windowRest = 0
    private var protectedCost = 0
    /// The free nodes, linked by `older`.
    private var firstFree = none
    #if DEBUG
        /// The transitions since all nodes were checked.
        private var unchecked = 0
    #endif

    /// - Parameter windowShare: the window's share of the limit, from 0 to 1.
    init(limit: Int, windowShare: Double) {
        self.limit = limit
        window = Self.window(limit, windowShare)
    }

    /// One more than the highest index ever used.
    var indexEnd: Int { nodes.count }

    mutating func setWindow(share: Double) {
        window = Self.window(limit, share)
        windowRest = max(0, windowCost - window)
    }

    /// Changes the limit. The caller must evict what exceeds it: see `removeNext(above:)`.
    mutating func setLimit(_ limit: Int, windowShare: Double) {
        self.limit = limit
        setWindow(share: windowShare)
    }

    private static func window(_ limit: Int, _ share: Double) -> Int { max(1, Int(Double(limit) * share)) }

    /// The node of a key, or `none`.
    func node(of digest: SHA256.Digest) -> Int32 {
        table.node(digest) { digests[Int($0)] == digest }
    }

    func digest(of index: Int32) -> SHA256.Digest { digests[Int(index)] }

    func cost(of index: Int32) -> Int { nodes[Int(index)].cost }

    /// Notes the use of an entry. An entry on probation becomes protected; any other becomes the newest of its segment.
    mutating func use(_ index: Int32) {
        defer { checkInvariants() }
        let node = nodes[Int(index)]
        switch node.segment {
        case Segment.pinned: break
        case Segment.window: makeNewest(index, in: Segment.window)
        // A window that has grown fills with all entries that are used.
        case _ where windowCost + node.cost <= window: move(index, to: Segment.window)
        case Segment.protected: makeNewest(index, in: Segment.protected)
        default:
            move(index, to: Segment.protected)
            let bound = Int(Double(limit - window) * Self.protectedShare)
            for _ in 0..<Self.moves where protectedCost > bound {
                move(nodes[Int(Segment.protected)].newer, to: Segment.probation)
            }
        }
    }

    /// Adds an entry for a new key, and returns its index. The caller must call `removeNext` then.
    mutating func add(_ digest: SHA256.Digest, cost: Int) -> Int32 {
        let index = newNode(digest)
        var nodes = nodes.mutableSpan
        nodes[Int(index)].cost = cost
        nodes[Int(index)].segment = Segment.window
        Self.link(index, Segment.window, &nodes)
        record(cost, in: Segment.window)
        self.cost += cost
        count += 1
        table.insert(index, digest)
        checkInvariants()
        return index
    }

    /// Removes an entry.
    mutating func remove(_ index: Int32) {
        table.remove(index, digest(of: index))
        let nextFree = firstFree
        var nodes = nodes.mutableSpan
        let node = nodes[Int(index)]
        Self.unlink(node, &nodes)
        nodes[Int(index)].older = nextFree
        nodes[Int(index)].segment = Segment.free
        firstFree = index
        record(-node.cost, in: node.segment)
        cost -= node.cost
        count -= 1
        checkInvariants()
    }

    /// Changes an entry's cost. The caller must call `removeNext` then.
    mutating func setCost(_ cost: Int, of index: Int32) {
        let change = cost - nodes[Int(index)].cost
        nodes[Int(index)].cost = cost
        self.cost += change
        record(change, in: nodes[Int(index)].segment)
        checkInvariants()
    }

    /// Protects an entry from eviction until it is unpinned.
    mutating func pin(_ index: Int32) {
        leaveRing(index)
        nodes[Int(index)].newer = index
        nodes[Int(index)].older = index
        nodes[Int(index)].segment = Segment.pinned
        checkInvariants()
    }

    mutating func unpin(_ index: Int32) {
        link(index, to: Segment.window)
        checkInvariants()
    }

    /// Evicts one entry and returns its index, which is free from then on; nil if the others fit, or are pinned. Moves
    /// entries that do not fit into the window to the main space.
    @inline(__always)
    mutating func removeNext(_ sketch: borrowing FrequencySketch) -> Int32? {
        if windowRest > 0 { moveWindowRest() }
        for _ in 0..<Self.moves where windowCost > window {
            let candidate = nodes[Int(Segment.window)].newer
            guard cost > limit else {
                move(candidate, to: Segment.probation)
                continue
            }
            guard let victim = mainVictim(), isMoreFrequent(candidate, than: victim, sketch) else {
                remove(candidate)
                return candidate
            }
            move(candidate, to: Segment.probation)
            remove(victim)
            return victim
        }
        return removeNext(above: limit)
    }

    /// Whether a candidate was used more often than a victim. The candidate's last use does not count: in a loop all
    /// keys are used equally often, and the key that was just used is one use ahead of those that come later in the
    /// round.
    @inline(__always)
    private func isMoreFrequent(
        _ candidate: Int32, than victim: Int32, _ sketch: borrowing FrequencySketch
    ) -> Bool {
        sketch.frequency(of: digest(of: candidate)) - 1 > sketch.frequency(of: digest(of: victim))
    }

    /// Moves the entries that the window had before it shrank to the main space.
    @inline(never)
    private mutating func moveWindowRest() {
        for _ in 0..<Self.movesOfRest where windowRest > 0 && windowCost > window {
            let oldest = nodes[Int(Segment.window)].newer
            windowRest -= nodes[Int(oldest)].cost
            move(oldest, to: Segment.probation)
        }
    }

    /// Evicts the least valuable entry if the cost is more than `bound`.
    mutating func removeNext(above bound: Int) -> Int32? {
        guard cost > bound, let victim = victim() else { return nil }
        remove(victim)
        return victim
    }

    /// Halves the limit, and keeps only the entries for whose keys `isKept` is true.
    fileprivate mutating func halve(_ isKept: (SHA256.Digest) -> Bool) {
        limit /= 2
        window = max(1, window / 2)
        for index in Self.anchors.count..<nodes.count where isEntry(Int32(index)) {
            if !isKept(digests[index]) { remove(Int32(index)) }
        }
        while removeNext(above: limit) != nil {}
    }

    private func isEntry(_ index: Int32) -> Bool { nodes[Int(index)].segment != Segment.free }

    /// The oldest entry on probation, else the oldest protected one; nil if the main space is empty.
    private func mainVictim() -> Int32? {
        let probation = nodes[Int(Segment.probation)].newer
        if probation != Segment.probation { return probation }
        let protected = nodes[Int(Segment.protected)].newer
        return protected != Segment.protected ? protected : nil
    }

    /// The entry to evict first; nil if all are pinned.
    private func victim() -> Int32? {
        if let victim = mainVictim() { return victim }
        let window = nodes[Int(Segment.window)].newer
        return window != Segment.window ? window : nil
    }

    /// Traps in a debug build if the sums do not agree. Called at the end of each transition. Looks at all nodes only as
    /// often as there are nodes, so that a transition stays O(1).
    private mutating func checkInvariants() {
        #if DEBUG
            precondition(
                windowCost >= 0 && protectedCost >= 0 && windowCost + protectedCost <= cost,
                "WTinyLFU: the costs of window and protected segment > the cost of all")
            unchecked += 1
            guard unchecked > nodes.count else { return }
            unchecked = 0
            var (costs, counts) = ([0, 0, 0, 0, 0], [0, 0, 0, 0, 0])
            for node in nodes.dropFirst(Self.anchors.count) {
                costs[Int(node.segment)] += node.cost
                counts[Int(node.segment)] += 1
            }
            precondition(
                costs.dropLast().reduce(0, +) == cost, "WTinyLFU: the sum of the nodes' costs != cost")
            precondition(counts.dropLast().reduce(0, +) == count, "WTinyLFU: the nodes in use != count")
            precondition(costs[0] == windowCost, "WTinyLFU: the sum of the window's costs != windowCost")
            precondition(
                costs[2] == protectedCost, "WTinyLFU: the sum of the protected costs != protectedCost")
            for segment in 0..<Int32(Self.anchors.count) {
                var (index, length) = (nodes[Int(segment)].newer, 0)
                while index != segment, length <= counts[Int(segment)] {
                    (index, length) = (nodes[Int(index)].newer, length + 1)
                }
                precondition(
                    length == counts[Int(segment)], "WTinyLFU: a ring's length != its segment's nodes")
            }
        #endif
    }
}

// MARK: Rings

extension WTinyLFU {
    /// A node that is in no ring.
    private mutating func newNode(_ digest: SHA256.Digest) -> Int32 {
        let index = firstFree
        if index != Self.none {
            firstFree = nodes[Int(index)].older
            digests[Int(index)] = digest
            return index
        }
        nodes.append(.anchor(Self.none))
        digests.append(digest)
        return Int32(nodes.count - 1)
    }

    private mutating func record(_ change: Int, in segment: Int32) {
        if segment == Segment.window { windowCost += change }
        if segment == Segment.protected { protectedCost += change }
    }

    private mutating func move(_ index: Int32, to segment: Int32) {
        leaveRing(index)
        link(index, to: segment)
    }

    // Each of these takes a span of the nodes first: the array then checks its uniqueness once and not for every link,
    // which would take half the time of a hit.

    private mutating func leaveRing(_ index: Int32) {
        var nodes = nodes.mutableSpan
        let node = nodes[Int(index)]
        Self.unlink(node, &nodes)
        record(-node.cost, in: node.segment)
    }

    private mutating func link(_ index: Int32, to segment: Int32) {
        var nodes = nodes.mutableSpan
        Self.link(index, segment, &nodes)
        nodes[Int(index)].segment = segment
        record(nodes[Int(index)].cost, in: segment)
    }

    private mutating func makeNewest(_ index: Int32, in segment: Int32) {
        var nodes = nodes.mutableSpan
        guard nodes[Int(segment)].older != index else { return }
        Self.unlink(nodes[Int(index)], &nodes)
        Self.link(index, segment, &nodes)
    }

    private static func unlink(_ node: Node, _ nodes: inout MutableSpan<Node>) {
        nodes[Int(node.newer)].older = node.older
        nodes[Int(node.older)].newer = node.newer
    }

    /// Makes a node the newest of a segment's ring.
    private static func link(_ index: Int32, _ segment: Int32, _ nodes: inout MutableSpan<Node>) {
        let newest = nodes[Int(segment)].older
        nodes[Int(index)].newer = segment
        nodes[Int(index)].older = newest
        nodes[Int(newest)].newer = index
        nodes[Int(segment)].older = index
    }
}

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

/// Estimates how often each key was used recently: a count-min sketch of 4-bit counters (Cormode, Muthukrishnan 2005)
/// that halves all counters at intervals, as TinyLFU does (Einziger, Friedman, Manes, "TinyLFU: A Highly Efficient
/// Cache Admission Policy", ACM Transactions on Storage 13(4), 2017). Eight bytes for each entry of the cache.
///
/// The four counters of a key lie in one block of 64 bytes, so that a lookup reads one cache line. Keys are digests,
/// whose bits serve as independent hashes.
struct FrequencySketch {
    /// Sixteen counters per word, eight words per block.
    private var words = [UInt64](repeating: 0, count: blockSize)
    /// Additions since the counters were last halved.
    private var additions = 0

    private static let blockSize = 8
    /// How many additions per word until the counters are halved: the paper's sample, ten times the entries.
    private static let sample = 10
    private static let evenBits: UInt64 = 0x1111_1111_1111_1111
    private static let lowBits: UInt64 = 0x7777_7777_7777_7777

    /// The number of cache entries that it is made for.
    var capacity: Int { words.count }

    /// Doubles the capacity. Both halves hold copies of all counters; each key continues to count in one of them.
    mutating func grow() { words += words }

    /// A key's count, from 0 to 15. Too high if other keys share all its counters.
    func frequency(of digest: SHA256.Digest) -> Int {
        let base = block(of: digest)
        var hash = digest.third
        var least: UInt64 = 15
        for row in 0..<4 {
            least = min(least, words[base + Self.word(hash, row)] >> Self.shift(hash) & 15)
            hash >>= 8
        }
        return Int(least)
    }

    /// Counts one use of a key.
    mutating func add(_ digest: SHA256.Digest) {
        let base = block(of: digest)
        var hash = digest.third
        var added: UInt64 = 0
        var words = words.mutableSpan
        for row in 0..<4 {
            let index = base + Self.word(hash, row)
            let shift = Self.shift(hash)
            // No branch: the processor could not predict it.
            let one: UInt64 = words[index] >> shift & 15 < 15 ? 1 : 0
            words[index] &+= one << shift
            added |= one
            hash >>= 8
        }
        if added != 0 { recordAddition() }
    }

    private mutating func recordAddition() {
        additions += 1
        if additions == Self.sample * words.count { age() }
    }

    /// Halves all counters, so that old uses count less and less.
    private mutating func age() {
        var odd = 0
        for index in words.indices {
            odd += (words[index] & Self.evenBits).nonzeroBitCount
            words[index] = words[index] >> 1 & Self.lowBits
        }
        // Each key has four counters.
        additions = (additions - odd / 4) / 2
    }

    private func block(of digest: SHA256.Digest) -> Int {
        (Int(truncatingIfNeeded: digest.second) & (words.count / Self.blockSize - 1)) * Self.blockSize
    }

    /// The index of a word in the block: each row has two words.
    private static func word(_ hash: UInt64, _ row: Int) -> Int { 2 * row + Int(hash & 1) }

    private static func shift(_ hash: UInt64) -> UInt64 { (hash >> 1 & 15) * 4 }
}
