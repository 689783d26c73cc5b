import SystemSupport

/// One reader's task, which ends with this object.
package final class PressureReader: Sendable {
    private let task = Lock<Task<Void, Never>?>(nil)

    package init() {}

    deinit { task.withLock { $0 }?.cancel() }

    /// Has `body` called with every level, one at a time.
    package func read(
        _ pressure: MemoryPressure?, _ body: @escaping @Sendable (MemoryPressure.Level) async -> Void
    ) {
        guard let pressure else { return }
        // The stream is there before this returns, so that nothing reported afterwards passes it by.
        let levels = pressure.levels
        let reading = Task { for await level in levels { await body(level) } }
        task.withLock { $0 = reading }
    }
}
