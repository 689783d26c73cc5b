import SystemSupport

/// How short memory is, as news: an asynchronous sequence of levels, for any number of readers. Each reader gets the level
/// of now first unless it is `.normal`, and then every change; one that is slow gets only the latest.
///
/// ``system`` watches this process's surroundings. One that is made with `init()` says what ``report(_:)`` is told, for
/// tests and for programs that know better.
///
/// Safe for concurrent use.
public final class MemoryPressure: AsyncSequence, Sendable {
    /// How short memory is.
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        /// There is enough.
        case normal
        /// It runs short: what may be wanted some time should go.
        case warning
        /// It is about to run out: everything that nobody looks at should go.
        case critical

        /// Whether memory is less short in `left`.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The pressure on this process, by systemd's protocol, the kernel's stall information, or else by looking at what is
    /// left. One thread watches for the whole process, from the first use on.
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
        var lastReader = 0
        var readers: [Int: AsyncStream<Level>.Continuation] = [:]
    }

    private let state = Lock(State())

    /// A sequence without a watch.
    public init() {}

    /// The level of now.
    public var level: Level { state.withLock { $0.level } }

    /// Tells every reader that the level is now this one, unless it was already.
    /// - Parameter level: how short memory is now.
    public func report(_ level: Level) {
        let readers = state.withLock { state -> [AsyncStream<Level>.Continuation] in
            guard level != state.level else { return [] }
            state.level = level
            return Array(state.readers.values)
        }
        for reader in readers { reader.yield(level) }
    }

    /// A reader of its own. It ends only with its task.
    public func makeAsyncIterator() -> AsyncStream<Level>.Iterator { levels.makeAsyncIterator() }

    /// What a new reader gets.
    var levels: AsyncStream<Level> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Level.self, bufferingPolicy: .bufferingNewest(1))
        let (number, level) = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = continuation
            return (state.lastReader, state.level)
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.readers[number] = nil }
        }
        if level != .normal { continuation.yield(level) }
        return stream
    }
}
