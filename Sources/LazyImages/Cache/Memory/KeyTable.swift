/// A hash table from keys to node indices: open addressing, linear probing, deletion by shifting back. Keys are
/// digests, whose bits serve as hashes. The table stores no keys: the caller compares them.
struct KeyTable {
    /// 32 bits of the key's hash, where its search begins, and its node.
    private struct Slot: BitwiseCopyable {
        var hash: UInt32
        var node: Int32

        static let empty = Slot(hash: 0, node: none)
    }

    /// No node.
    static let none: Int32 = 0

    private var slots = [Slot](repeating: .empty, count: 64)
    private var count = 0

    /// The node with this hash for which `isRight` is true, or `none`.
    @inline(__always)
    func node(_ digest: SHA256.Digest, where isRight: (Int32) -> Bool) -> Int32 {
        let hash = Self.hash(of: digest)
        let mask = slots.count - 1
        var index = Int(hash) & mask
        while slots[index].node != Self.none {
            if slots[index].hash == hash, isRight(slots[index].node) { return slots[index].node }
            index = (index + 1) & mask
        }
        return Self.none
    }

    /// Inserts a node for a new key. At most half of the slots are taken.
    mutating func insert(_ node: Int32, _ digest: SHA256.Digest) {
        count += 1
        if 2 * count > slots.count { grow() }
        insert(Slot(hash: Self.hash(of: digest), node: node))
    }

    /// Empties a node's slot, and moves back the slots after it whose search passes it, so that no search ends too
    /// early.
    mutating func remove(_ node: Int32, _ digest: SHA256.Digest) {
        count -= 1
        var slots = slots.mutableSpan
        let mask = slots.count - 1
        var gap = Int(Self.hash(of: digest)) & mask
        while slots[gap].node != node { gap = (gap + 1) & mask }
        var index = (gap + 1) & mask
        while slots[index].node != Self.none {
            let home = Int(slots[index].hash) & mask
            if (index - home) & mask >= (index - gap) & mask {
                slots[gap] = slots[index]
                gap = index
            }
            index = (index + 1) & mask
        }
        slots[gap] = .empty
    }

    /// Writes a slot into the first empty place of its search.
    private mutating func insert(_ slot: Slot) {
        var slots = slots.mutableSpan
        let mask = slots.count - 1
        var index = Int(slot.hash) & mask
        while slots[index].node != Self.none { index = (index + 1) & mask }
        slots[index] = slot
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: .empty, count: 2 * old.count)
        for slot in old where slot.node != Self.none { insert(slot) }
    }

    private static func hash(of digest: SHA256.Digest) -> UInt32 { UInt32(truncatingIfNeeded: digest.first) }
}
