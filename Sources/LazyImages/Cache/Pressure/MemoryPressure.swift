import SystemSupport

/// Memory pressure: an asynchronous sequence of levels, for any number of readers. Each reader first gets the present
/// level, unless it is `.normal`, and then every change. A slow reader gets only the latest level.
///
/// ``system`` watches this process. An instance made with `init()` passes on what ``report(_:)`` receives, for tests
/// and for programs with their own source.
///
/// Safe for concurrent use.
public final class MemoryPressure: AsyncSequence, Sendable {
    /// A level of memory pressure.
    public enum Level: Sendable, Comparable, CaseIterable {
        /// There is enough memory.
        case normal
        /// Memory runs short: release what may be useful later.
        case warning
        /// Memory is about to run out: release everything that is not on the screen.
        case critical
    }

    /// The memory pressure on this process, by systemd's protocol, else by the kernel's pressure stall information,
    /// else by the memory left. One thread watches for the whole process, from the first use on.
    public static var system: MemoryPressure {
        isWatched.withLock { isWatched in
            guard !isWatched else { return }
            // Losing the error is right: without a thread nobody watches, and the next use tries again.
            isWatched = (try? MemoryWatch.start(reportingTo: watched)) != nil
        }
        return watched
    }

    private static let watched = MemoryPressure()
    private static let isWatched = Lock(false)

    private struct State {
        var level = Level.normal
        var readers = Broadcast<Level>()
    }

    private let state = Lock(State())

    /// A sequence that only ``report(_:)`` changes.
    public init() {}

    /// The present level.
    public var level: Level { state.withLock { $0.level } }

    /// Sets the level, and tells every reader if it has changed.
    /// - Parameter level: the new level.
    public func report(_ level: Level) {
        state.withLock { state in
            guard level != state.level else { return }
            state.level = level
            state.readers.yield(level)
        }
    }

    /// A new reader. It ends only with its task.
    public func makeAsyncIterator() -> AsyncStream<Level>.Iterator { levels.makeAsyncIterator() }

    /// The stream of a new reader.
    var levels: AsyncStream<Level> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Level.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            if state.level != .normal { continuation.yield(state.level) }
            return state.readers.add(continuation)
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.readers.remove(number) } }
        return stream
    }
}
