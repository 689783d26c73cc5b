import SystemSupport

/// Reads a `MemoryPressure` in a task, which is cancelled with this object.
package final class PressureReader: Sendable {
    private let task = Lock<Task<Void, Never>?>(nil)

    package init() {}

    deinit { task.withLock { $0 }?.cancel() }

    /// Calls `body` with every level, one at a time.
    package func read(
        _ pressure: MemoryPressure?, _ body: @escaping @Sendable (MemoryPressure.Level) async -> Void
    ) {
        guard let pressure else { return }
        // The stream exists before this returns, so that it misses no later report.
        let levels = pressure.levels
        let reading = Task { for await level in levels { await body(level) } }
        task.withLock { $0 = reading }
    }
}
