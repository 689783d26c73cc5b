internal import SystemSupport

/// Limits the rate of repeated messages: a message is printed at once, and its repetitions at most once in each pause of a
/// second, or of another length, as a count.
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
        /// The detail of the last one.
        var detail = ""
    }

    private struct State {
        var repetitions: [String: Repetition] = [:]
        /// Whether a task waits for the end of the pause.
        var isWaiting = false
    }

    private let state = Lock(State())
    private let time: @Sendable () -> Int
    private let pause: @Sendable () async -> Void
    private let print: @Sendable (String) -> Void

    /// The most different messages whose rate is limited at one time. Further ones share one line.
    private static let mostMessages = 100
    private static let furtherMessages = "further errors of other kinds"

    /// - Parameters:
    ///   - time: the clock, in milliseconds since 1970. Default: the system's.
    ///   - pause: returns after the time between two lines. Default: a second of the system's clock.
    ///   - print: prints a line. Called on the thread that reports, or on a task.
    package init(
        time: (@Sendable () -> Int)? = nil,
        // Ignored: the task that waits is never cancelled.
        pause: @escaping @Sendable () async -> Void = { try? await Task.sleep(for: .seconds(1)) },
        print: @escaping @Sendable (String) -> Void
    ) {
        self.time = time ?? { LogTime.now }
        self.pause = pause
        self.print = print
    }

    /// Prints a message now, or counts it if it was printed less than a pause ago.
    /// - Parameter detail: follows the message, and may differ in each repetition: who it was. The last one is printed.
    package func report(_ message: String, _ detail: String = "") {
        let now = time()
        let (isNew, waits) = state.withLock { state in
            let isKnown = state.repetitions[message] != nil
            let key = isKnown || state.repetitions.count < Self.mostMessages ? message : Self.furtherMessages
            let isNew = state.repetitions[key] == nil && key == message
            state.repetitions[key, default: Repetition(since: now)].count += isNew ? 0 : 1
            state.repetitions[key]?.detail = detail
            return (isNew, !exchange(&state.isWaiting, with: true))
        }
        if isNew { print(message + detail) }
        if waits { Task { await printAfterEachPause() } }
    }

    /// Prints the counts that no line has reported yet. For the end of the program.
    package func flush() {
        let now = time()
        let lines = state.withLock { state in
            var lines: [String] = []
            for (message, repetition) in state.repetitions.sorted(by: { $0.key < $1.key }) {
                guard repetition.count > 0 else {
                    // A pause without a repetition: the next one is printed at once.
                    state.repetitions[message] = nil
                    continue
                }
                state.repetitions[message] = Repetition(since: now)
                let times = repetition.count == 1 ? "once" : "\(repetition.count) times"
                lines.append(
                    "\(message)\(repetition.detail) (\(times) since \(LogTime.text(repetition.since)))")
            }
            return lines
        }
        lines.forEach(print)
    }

    /// Prints the counts after each pause, until one without messages.
    private func printAfterEachPause() async {
        repeat {
            await pause()
            flush()
        } while state.withLock { state in
            state.isWaiting = !state.repetitions.isEmpty
            return state.isWaiting
        }
    }
}
