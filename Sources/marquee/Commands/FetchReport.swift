import LazyImages
import SystemSupport

/// Tells what became of each address, as it is done, and at last how it went.
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

    /// How many have ended, and how many of them badly.
    var counts: (ended: Int, failed: Int) { state.withLock { ($0.done + $0.failed, $0.failed) } }

    /// One more has ended. What was given up because the program is to end has an object and no message.
    func add(_ record: FetchRecord) {
        if session.settings.wantsJSON {
            session.output.json(record)
        } else if record.error == nil, !session.output.isQuiet {
            session.output.line(record.summary + "  " + record.url)
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

    /// Something that names no address has failed.
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

/// Says what failed, a line each; what would be the same line for every address only once.
struct FailureReport {
    private let output: Output
    private var seen: Set<String> = []

    init(_ output: Output) { self.output = output }

    var isEmpty: Bool { seen.isEmpty }

    mutating func add(_ message: String) {
        if seen.insert(message).inserted { output.failure(message) }
    }
}
