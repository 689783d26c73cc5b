import Glibc
package import SystemSupport

/// A system with a limited number of threads.
package final class LimitedThreads: Sendable {
    private let left: Lock<Int>
    private let begun = Lock(0)

    package init(_ count: Int) { left = Lock(count) }

    /// The number of started threads.
    package var started: Int { begun.withLock { $0 } }

    package func give(_ count: Int) { left.withLock { $0 += count } }

    package func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(ResourceShortage) {
        let isThere = left.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        guard isThere else { throw ResourceShortage(missing: .thread, code: EAGAIN) }
        begun.withLock { $0 += 1 }
        try BlockingThreads.startThread(name: name, body)
    }
}
