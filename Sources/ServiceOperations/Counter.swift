internal import Synchronization
internal import SystemSupport

/// A count that only grows. Any thread may add to it; an addition is one atomic operation.
package final class Counter: Sendable {
    private let count = Atomic(0)

    init() {}

    package var value: Int { count.load(ordering: .relaxed) }

    package func add(_ number: Int = 1) { count.wrappingAdd(number, ordering: .relaxed) }
}

/// The distribution of a measured value: its counts up to each bound, and its sum.
package final class Histogram: Sendable {
    /// Bounds for the times of requests, in seconds: from a hit in memory to the longest wait.
    package static let seconds = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    private struct State: Sendable {
        /// The count of each bucket alone, not cumulative. The last bucket has no bound.
        var counts: [Int]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Lock<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Lock(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    /// Counts a value, in the base unit. Any thread may call it.
    package func observe(_ value: Double) {
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    /// Counts a time, in seconds.
    package func observe(_ time: Duration) { observe(time / .seconds(1)) }

    var samples: [Metrics.Sample] {
        let state = state.withLock { $0 }
        var total = 0
        var samples: [Metrics.Sample] = []
        for (bound, count) in zip(bounds + [.infinity], state.counts) {
            total += count
            samples.append(
                Metrics.Sample(
                    suffix: "_bucket", labels: Metrics.labels("le", Metrics.number(bound)),
                    value: Double(total)))
        }
        samples.append(Metrics.Sample(suffix: "_sum", value: state.sum))
        samples.append(Metrics.Sample(suffix: "_count", value: Double(total)))
        return samples
    }
}
