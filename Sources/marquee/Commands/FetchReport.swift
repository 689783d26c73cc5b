import LazyImages
import SystemSupport

/// Reports the result of each address when it is done, and the summary at the end.
final class FetchReport: Sendable {
    private struct State {
        var done = 0
        var failed = 0
        var failures: FailureReport
    }

    private let session: Session
    private let state: Lock<State>

    init(_ session: Session) {
        self.session = session
        state = Lock(State(failures: FailureReport(session.output)))
    }

    /// How many loads have ended, and how many of them failed.
    var counts: (ended: Int, failed: Int) { state.withLock { ($0.done + $0.failed, $0.failed) } }

    /// Takes one result. A cancelled load has a JSON object but no message.
    func add(_ record: FetchRecord) {
        if session.settings.wantsJSON {
            session.output.json(record)
        } else if record.error == nil, !session.output.isQuiet {
            session.output.line(record.line)
        }
        session.output.flush()
        state.withLock { state in
            if record.error == nil { state.done += 1 }
            if let error = record.error, !record.isCancelled {
                state.failed += 1
                state.failures.add(error.message)
            }
        }
    }

    /// Takes a failure that has no address.
    func add(_ failure: Failure) {
        state.withLock { state in
            state.failed += 1
            state.failures.add(failure.description)
        }
    }

    var status: ExitStatus {
        state.withLock { $0.failed == 0 ? .done : $0.done == 0 ? .nothingDone : .someFailed }
    }
}

/// Prints one line for each failure. A line that would repeat for every address is printed once.
struct FailureReport {
    private let output: Output
    private var seen: Set<String> = []

    init(_ output: Output) { self.output = output }

    var isEmpty: Bool { seen.isEmpty }

    mutating func add(_ message: String) {
        if seen.insert(message).inserted { output.failure(message) }
    }
}
