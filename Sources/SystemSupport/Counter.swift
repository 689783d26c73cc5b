internal import Synchronization

/// A count that only grows. Any thread may add to it; an addition is one atomic operation.
package final class Counter: Sendable {
    private let count = Atomic(0)

    package init() {}

    package var value: Int { count.load(ordering: .relaxed) }

    package func add(_ number: Int = 1) { count.wrappingAdd(number, ordering: .relaxed) }
}
