/// Which of the entries of a bounded cache go when there is no room: W-TinyLFU of Einziger, Friedman and Manes
/// ("TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on Storage 13(4), 2017), by cost. It keeps
/// nodes and not values; a node's index says where its value lies.
///
/// What is new enters a window in the order of use. What the window has no room for goes to the main space if that has,
/// and otherwise must have been used more often of late, before its last use, than what the main space would let go of
/// for it, by a sketch that knows keys which are not here too. So a scan passes through and leaves what is wanted again
/// and again alone. The main space is a segmented LRU: probation, and what was used there, protected. A window of the
/// whole size is plain LRU.
///
/// Every operation is O(1) for each entry it adds or takes out; a use allocates nothing. Flat arrays: a table leads from
/// a key to a node's index, and the nodes of a segment are linked by indices into a ring.
struct WTinyLFU {
    /// The first nodes are no entries: each closes the ring of a segment, between the newest (its `older`) and the oldest
    /// (its `newer`).
    private enum Segment {
        static let window: Int32 = 0
        static let probation: Int32 = 1
        static let protected: Int32 = 2
        /// Of nodes that are pinned and in no ring.
        static let pinned: Int32 = 3
        /// Of nodes that are no entries.
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
    /// The part of the main space that is protected (section 4 of the paper).
    private static let protectedShare = 0.8
    /// The most nodes one operation moves from a segment that has become too large: a window that is made smaller
    /// empties with the next operations and not at once.
    private static let moves = 4
    /// The same for what a window held before it was made smaller. More than `moves`: an entry that is still in the
    /// window is the next to go, although newer ones are worth less.
    private static let movesOfRest = 64

    /// The most that the costs should sum up to.
    private(set) var limit: Int
    /// The most that the window may cost.
    private(set) var window: Int
    private(set) var cost = 0
    private(set) var count = 0

    private var table = KeyTable()
    private var nodes = anchors
    /// The keys of the nodes. Apart, because the links of a ring then lie closer together.
    private var digests = [SHA256.Digest](repeating: noDigest, count: anchors.count)
    private var windowCost = 0
    /// What the window still has to give to the main space since it was made smaller.
    private var windowRest = 0
    private var protectedCost = 0
    /// Nodes that are no entries, linked by `older`.
    private var firstFree = none

    /// - Parameter windowShare: the window's part of the limit, from 0 to 1.
    init(limit: Int, windowShare: Double) {
        self.limit = limit
        window = Self.window(limit, windowShare)
    }

    /// One more than the highest index that was ever an entry's.
    var indexEnd: Int { nodes.count }

    mutating func setWindow(share: Double) {
        window = Self.window(limit, share)
        windowRest = max(0, windowCost - window)
    }

    private static func window(_ limit: Int, _ share: Double) -> Int { max(1, Int(Double(limit) * share)) }

    /// The key's node, or none.
    func node(of digest: SHA256.Digest) -> Int32 {
        table.node(digest) { digests[Int($0)] == digest }
    }

    func digest(of index: Int32) -> SHA256.Digest { digests[Int(index)] }

    func cost(of index: Int32) -> Int { nodes[Int(index)].cost }

    /// An entry was used: on probation it is protected from now on, elsewhere it is its segment's newest.
    mutating func use(_ index: Int32) {
        let node = nodes[Int(index)]
        switch node.segment {
        case Segment.pinned: break
        case Segment.window: makeNewest(index, in: Segment.window)
        // A window that was made larger fills with whatever is used.
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

    /// Adds an entry for a key that has none; `removeNext` is due then. Returns its index.
    mutating func add(_ digest: SHA256.Digest, cost: Int) -> Int32 {
        let index = newNode(digest)
        var nodes = nodes.mutableSpan
        nodes[Int(index)].cost = cost
        nodes[Int(index)].segment = Segment.window
        Self.link(index, Segment.window, &nodes)
        note(cost, in: Segment.window)
        self.cost += cost
        count += 1
        table.enter(index, digest)
        return index
    }

    /// Takes an entry out.
    mutating func remove(_ index: Int32) {
        table.leave(index, digest(of: index))
        let nextFree = firstFree
        var nodes = nodes.mutableSpan
        let node = nodes[Int(index)]
        Self.unlink(node, &nodes)
        nodes[Int(index)].older = nextFree
        nodes[Int(index)].segment = Segment.free
        firstFree = index
        note(-node.cost, in: node.segment)
        cost -= node.cost
        count -= 1
    }

    /// Changes an entry's cost; `removeNext` is due then.
    mutating func setCost(_ cost: Int, of index: Int32) {
        let change = cost - nodes[Int(index)].cost
        nodes[Int(index)].cost = cost
        self.cost += change
        note(change, in: nodes[Int(index)].segment)
    }

    /// Keeps an entry out of every choice of what goes, until it is unpinned.
    mutating func pin(_ index: Int32) {
        leaveRing(index)
        nodes[Int(index)].newer = index
        nodes[Int(index)].older = index
        nodes[Int(index)].segment = Segment.pinned
    }

    mutating func unpin(_ index: Int32) { link(index, to: Segment.window) }

    /// Takes out the next entry that goes because there is no room, and returns its index, free from then on; nil when the
    /// rest fits, or is pinned. Moves on what the window has no room for.
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

    /// Whether a candidate was used more often than a victim. The candidate's last use does not count, because the
    /// victim's next one may be due: in a loop all keys are used equally often, and the one that was just used is a
    /// use ahead of those that come later in the same round.
    @inline(__always)
    private func isMoreFrequent(
        _ candidate: Int32, than victim: Int32, _ sketch: borrowing FrequencySketch
    ) -> Bool {
        sketch.frequency(of: digest(of: candidate)) - 1 > sketch.frequency(of: digest(of: victim))
    }

    /// Moves on what a window held before it was made smaller. Newer entries take the places of those that went
    /// meanwhile.
    @inline(never)
    private mutating func moveWindowRest() {
        for _ in 0..<Self.movesOfRest where windowRest > 0 && windowCost > window {
            let oldest = nodes[Int(Segment.window)].newer
            windowRest -= nodes[Int(oldest)].cost
            move(oldest, to: Segment.probation)
        }
    }

    /// Takes out what is worth least if more than `bound` is left.
    mutating func removeNext(above bound: Int) -> Int32? {
        guard cost > bound, let victim = victim() else { return nil }
        remove(victim)
        return victim
    }

    /// Goes on with half the limit and the entries whose keys `isKept` wants.
    mutating func halve(_ isKept: (SHA256.Digest) -> Bool) {
        limit /= 2
        window = max(1, window / 2)
        for index in Self.anchors.count..<nodes.count where isEntry(Int32(index)) {
            if !isKept(digests[index]) { remove(Int32(index)) }
        }
        while removeNext(above: limit) != nil {}
    }

    private func isEntry(_ index: Int32) -> Bool { nodes[Int(index)].segment != Segment.free }

    /// The least recently used on probation, or the least recently used that is protected; nil if the main space is empty.
    private func mainVictim() -> Int32? {
        let probation = nodes[Int(Segment.probation)].newer
        if probation != Segment.probation { return probation }
        let protected = nodes[Int(Segment.protected)].newer
        return protected != Segment.protected ? protected : nil
    }

    /// What goes first of all entries, or nil if everything is pinned.
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

    private mutating func note(_ change: Int, in segment: Int32) {
        if segment == Segment.window { windowCost += change }
        if segment == Segment.protected { protectedCost += change }
    }

    private mutating func move(_ index: Int32, to segment: Int32) {
        leaveRing(index)
        link(index, to: segment)
    }

    // Each of these takes the nodes as a span first, so that the array is made sure to be ours once and not for every
    // link: a hit would spend half its time there.

    private mutating func leaveRing(_ index: Int32) {
        var nodes = nodes.mutableSpan
        let node = nodes[Int(index)]
        Self.unlink(node, &nodes)
        note(-node.cost, in: node.segment)
    }

    private mutating func link(_ index: Int32, to segment: Int32) {
        var nodes = nodes.mutableSpan
        Self.link(index, segment, &nodes)
        nodes[Int(index)].segment = segment
        note(nodes[Int(index)].cost, in: segment)
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
