/// Decides which keys a cache of a fixed number of entries holds. Keys are small numbers, from 0 on.
protocol ReplacementPolicy {
    init(capacity: Int, keyCount: Int)

    /// Uses a key. Returns whether it was in the cache; the policy may admit it now.
    mutating func use(_ key: Int) -> Bool
}

/// A queue of keys, linked by their numbers, the newest first.
struct KeyQueue {
    private static let end = -1
    private var newer: [Int]
    private var older: [Int]
    private(set) var newest = end
    private(set) var oldest = end
    private(set) var count = 0

    init(keyCount: Int) {
        newer = Array(repeating: Self.end, count: keyCount)
        older = newer
    }

    mutating func pushNewest(_ key: Int) {
        (newer[key], older[key]) = (Self.end, newest)
        if newest == Self.end { oldest = key } else { newer[newest] = key }
        newest = key
        count += 1
    }

    mutating func remove(_ key: Int) {
        let (newer, older) = (newer[key], older[key])
        if newer == Self.end { newest = older } else { self.older[newer] = older }
        if older == Self.end { oldest = newer } else { self.newer[older] = newer }
        count -= 1
    }

    /// The next newer key; nil after the newest.
    func next(after key: Int) -> Int? { newer[key] == Self.end ? nil : newer[key] }
}

/// Evicts the least recently used key.
struct LeastRecentlyUsed: ReplacementPolicy {
    private let capacity: Int
    private var queue: KeyQueue
    private var isHeld: [Bool]

    init(capacity: Int, keyCount: Int) {
        self.capacity = capacity
        queue = KeyQueue(keyCount: keyCount)
        isHeld = Array(repeating: false, count: keyCount)
    }

    mutating func use(_ key: Int) -> Bool {
        let isHit = isHeld[key]
        if isHit {
            queue.remove(key)
        } else if queue.count == capacity {
            isHeld[queue.oldest] = false
            queue.remove(queue.oldest)
        }
        queue.pushNewest(key)
        isHeld[key] = true
        return isHit
    }
}

/// SIEVE (Zhang, Yang, Yue, Vigfusson, Rashmi, NSDI 2024): a hand moves from the oldest key to the newest and evicts the
/// first one not used since its last visit. Surviving keys keep their place, and new keys enter at the front, away from
/// the hand.
struct Sieve: ReplacementPolicy {
    private let capacity: Int
    private var queue: KeyQueue
    private var hand: Int?
    private var isHeld: [Bool]
    private var isUsed: [Bool]

    init(capacity: Int, keyCount: Int) {
        self.capacity = capacity
        queue = KeyQueue(keyCount: keyCount)
        isHeld = Array(repeating: false, count: keyCount)
        isUsed = isHeld
    }

    mutating func use(_ key: Int) -> Bool {
        if isHeld[key] {
            isUsed[key] = true
            return true
        }
        if queue.count == capacity { evict() }
        queue.pushNewest(key)
        isHeld[key] = true
        isUsed[key] = false
        return false
    }

    private mutating func evict() {
        var key = hand ?? queue.oldest
        while isUsed[key] {
            isUsed[key] = false
            key = queue.next(after: key) ?? queue.oldest
        }
        hand = queue.next(after: key)
        isHeld[key] = false
        queue.remove(key)
    }
}
