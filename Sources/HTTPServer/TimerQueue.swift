/// Timers, the earliest first: a binary heap.
struct TimerQueue<Key> {
    private var entries: [(time: ContinuousClock.Instant, key: Key)] = []

    /// The earliest instant.
    var next: ContinuousClock.Instant? { entries.first?.time }

    mutating func insert(_ key: Key, at time: ContinuousClock.Instant) {
        entries.append((time, key))
        var child = entries.count - 1
        while child > 0, entries[child].time < entries[(child - 1) / 2].time {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the earliest entry, if it is due.
    mutating func pop(until now: ContinuousClock.Instant) -> (time: ContinuousClock.Instant, key: Key)? {
        guard let first = entries.first, first.time <= now else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return first
    }

    /// Moves the root down until the heap is in order.
    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child].time < entries[least].time { least = child }
            if least == parent { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
