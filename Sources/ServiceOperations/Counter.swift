internal import Synchronization
internal import SystemSupport

/// A count that only grows. Any thread may add to it; an addition is one atomic operation.
package final class Counter: Sendable {
    private let count = Atomic(0)

    init() {}

    package var value: Int { count.load(ordering: .relaxed) }

    package func add(_ number: Int = 1) { count.wrappingAdd(number, ordering: .relaxed) }
}

/// The distribution of times: their counts up to each bound, and their sum. A time costs two atomic additions.
package final class Histogram: Sendable {
    /// Bounds for the times of requests, in seconds: from a hit in memory to the longest wait.
    package static let seconds = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    private let bounds: [(seconds: Double, nanoseconds: Int)]
    /// The count of each bucket alone, not cumulative. The last bucket has no bound.
    private let counts: [Counter]
    /// In nanoseconds.
    private let sum = Counter()

    /// - Parameter bounds: in seconds, ascending.
    init(bounds: [Double]) {
        self.bounds = bounds.map { ($0, Int($0 * 1e9)) }
        counts = (0...bounds.count).map { _ in Counter() }
    }

    /// Counts a time. Any thread may call it.
    package func observe(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        counts[bounds.firstIndex { nanoseconds <= $0.nanoseconds } ?? bounds.count].add()
        sum.add(nanoseconds)
    }

    /// - Parameter labels: of all lines, as name and value.
    func samples(_ labels: [(String, String)] = []) -> [Metrics.Sample] {
        let counts = counts.map(\.value)
        let total = counts.reduce(0, +)
        var count = 0
        var samples: [Metrics.Sample] = []
        for (bound, number) in zip(bounds.map(\.seconds) + [.infinity], counts) {
            count += number
            samples.append(
                Metrics.Sample(
                    suffix: "_bucket", labels: Metrics.labels(labels + [("le", Metrics.number(bound))]),
                    value: Double(count)))
        }
        let labels = Metrics.labels(labels)
        samples.append(Metrics.Sample(suffix: "_sum", labels: labels, value: Double(sum.value) / 1e9))
        samples.append(Metrics.Sample(suffix: "_count", labels: labels, value: Double(total)))
        return samples
    }
}
