internal import SystemSupport

/// Limits the rate of repeated messages: a message is printed at once, and its repetitions at most once a second, as a
/// count.
///
///     cannot open films.db: Too many open files
///     cannot open films.db: Too many open files (2745 times since 2026-11-22T15:49:34.123Z)
///
/// Nothing is lost: each repetition is in a count. Any thread may report.
package final class RepeatedMessages: Sendable {
    private struct Repetition {
        /// How often the message has come since it was last printed.
        var count = 0
        /// When it was last printed, in milliseconds since 1970.
        var since: Int
    }

    private struct State {
        var repetitions: [String: Repetition] = [:]
        /// Whether a task waits for the end of the second.
        var isWaiting = false
    }

    private let state = Lock(State())
    private let time: @Sendable () -> Int
    private let second: @Sendable () async -> Void
    private let print: @Sendable (String) -> Void

    /// The most different messages whose rate is limited at one time. Further ones share one line.
    private static let mostMessages = 100
    private static let furtherMessages = "further errors of other kinds"

    /// - Parameters:
    ///   - time: the clock, in milliseconds since 1970. Default: the system's.
    ///   - second: returns after a second. Default: of the system's clock.
    ///   - print: prints a line. Called on the thread that reports, or on a task.
    package init(
        time: (@Sendable () -> Int)? = nil,
        // Ignored: the task that waits is never cancelled.
        second: @escaping @Sendable () async -> Void = { try? await Task.sleep(for: .seconds(1)) },
        print: @escaping @Sendable (String) -> Void
    ) {
        self.time = time ?? { LogTime.now }
        self.second = second
        self.print = print
    }

    /// Prints a message now, or counts it if it was printed less than a second ago.
    package func report(_ message: String) {
        let now = time()
        let (isNew, waits) = state.withLock { state in
            let isKnown = state.repetitions[message] != nil
            let key = isKnown || state.repetitions.count < Self.mostMessages ? message : Self.furtherMessages
            let isNew = state.repetitions[key] == nil && key == message
            state.repetitions[key, default: Repetition(since: now)].count += isNew ? 0 : 1
            defer { state.isWaiting = true }
            return (isNew, !state.isWaiting)
        }
        if isNew { print(message) }
        if waits { Task { await printEachSecond() } }
    }

    /// Prints the counts that no line has reported yet. For the end of the program.
    package func flush() {
        let now = time()
        let lines = state.withLock { state in
            var lines: [String] = []
            for (message, repetition) in state.repetitions.sorted(by: { $0.key < $1.key }) {
                guard repetition.count > 0 else {
                    // A second without a repetition: the next one is printed at once.
                    state.repetitions[message] = nil
                    continue
                }
                state.repetitions[message] = Repetition(since: now)
                let times = repetition.count == 1 ? "once" : "\(repetition.count) times"
                lines.append("\(message) (\(times) since \(LogTime.text(repetition.since)))")
            }
            return lines
        }
        lines.forEach(print)
    }

    /// Prints the counts each second, until a second without messages.
    private func printEachSecond() async {
        repeat {
            await second()
            flush()
        } while goesOn()
    }

    private func goesOn() -> Bool {
        state.withLock { state in
            state.isWaiting = !state.repetitions.isEmpty
            return state.isWaiting
        }
    }
}
