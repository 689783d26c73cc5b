internal import Dispatch

/// Work divided among the processors.
package enum Parallel {
    /// The results of `make` for 0 to `count` - 1, in order. Blocks until all are done; the calling thread does a part
    /// of the work.
    package static func map<Value: Sendable>(_ count: Int, _ make: @Sendable (Int) -> Value) -> [Value] {
        if count == 1 { return [make(0)] }
        let values = Lock<[Value?]>(Array(repeating: nil, count: count))
        DispatchQueue.concurrentPerform(iterations: count) { number in
            let value = make(number)
            values.withLock { $0[number] = value }
        }
        return values.withLock { $0.compactMap(\.self) }
    }

    /// As above, in rounds: `body` gets each round's results, in order, before the next round begins.
    package static func forEach<Value: Sendable, Failure: Error>(
        _ count: Int, atATime round: Int, _ make: @Sendable (Int) -> Value,
        body: (Value) throws(Failure) -> Void
    ) throws(Failure) {
        for start in stride(from: 0, to: count, by: round) {
            for value in map(min(round, count - start), { make(start + $0) }) { try body(value) }
        }
    }
}
