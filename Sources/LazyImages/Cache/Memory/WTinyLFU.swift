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
    }

    /// Changes an entry's cost. The caller must call `removeNext` then.
    mutating func setCost(_ cost: Int, of index: Int32) {
        let change = cost - nodes[Int(index)].cost
        nodes[Int(index)].cost = cost
        self.cost += change
        record(change, in: nodes[Int(index)].segment)
    }

    /// Protects an entry from eviction until it is unpinned.
    mutating func pin(_ index: Int32) {
        leaveRing(index)
        nodes[Int(index)].newer = index
        nodes[Int(index)].older = index
        nodes[Int(index)].segment = Segment.pinned
    }

    mutating func unpin(_ index: Int32) { link(index, to: Segment.window) }

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
    mutating func halve(_ isKept: (SHA256.Digest) -> Bool) {
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
