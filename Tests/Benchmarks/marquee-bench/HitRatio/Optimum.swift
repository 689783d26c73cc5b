/// The hits of a cache that knows the future (Belady, "A study of replacement algorithms", 1966): it evicts the key
/// whose next use is furthest away, even if that is the newest.
enum Optimum {
    private struct Use {
        let key: Int
        /// The time of the key's next use.
        let next: Int
    }

    static func hits(_ trace: [Int], capacity: Int, keyCount: Int) -> Int {
        let next = nextUses(trace, keyCount: keyCount)
        // The next use of each key in the cache; -1 for other keys.
        var held = [Int](repeating: -1, count: keyCount)
        var count = 0
        var heap: [Use] = []
        var hits = 0
        for (time, key) in trace.enumerated() {
            if held[key] >= 0 { hits += 1 } else { count += 1 }
            held[key] = next[time]
            push(Use(key: key, next: next[time]), to: &heap)
            while count > capacity, let furthest = pop(&heap) {
                // The heap still contains past uses and evicted keys.
                guard held[furthest.key] == furthest.next else { continue }
                held[furthest.key] = -1
                count -= 1
            }
            if heap.count > 4 * capacity + 1024 { tidy(&heap, after: time) }
        }
        return hits
    }

    private static func nextUses(_ trace: [Int], keyCount: Int) -> [Int] {
        var next = [Int](repeating: .max, count: trace.count)
        var last = [Int](repeating: .max, count: keyCount)
        for (time, key) in trace.enumerated().reversed() {
            next[time] = last[key]
            last[key] = time
        }
        return next
    }

    /// Removes past uses, which would collect at the heap's bottom.
    private static func tidy(_ heap: inout [Use], after time: Int) {
        heap.removeAll { $0.next <= time }
        // An array sorted with the furthest use first is a valid heap.
        heap.sort { $0.next > $1.next }
    }

    private static func push(_ use: Use, to heap: inout [Use]) {
        heap.append(use)
        var index = heap.count - 1
        while index > 0, heap[(index - 1) / 2].next < use.next {
            heap[index] = heap[(index - 1) / 2]
            index = (index - 1) / 2
        }
        heap[index] = use
    }

    private static func pop(_ heap: inout [Use]) -> Use? {
        guard let top = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return top }
        var index = 0
        while 2 * index + 1 < heap.count {
            var child = 2 * index + 1
            if child + 1 < heap.count, heap[child + 1].next > heap[child].next { child += 1 }
            guard heap[child].next > last.next else { break }
            heap[index] = heap[child]
            index = child
        }
        heap[index] = last
        return top
    }
}
