internal import SystemSupport

/// Reads the files of a running service anew on request, as SIGHUP does. One after the other; a request during a run
/// starts another run after it, so that no change of a file is missed.
///
/// What is wrong in a file leaves the old content in use.
package final class FileReloader: Sendable {
    /// A file, or several that belong together.
    package struct File: Sendable {
        /// What the file holds, in the plural: `tokens`.
        let name: String
        let read: @Sendable () async throws -> String?

        /// - Parameters:
        ///   - name: what the file holds, in the plural: `tokens`.
        ///   - read: reads the file and puts its content into use. It must end: while it waits, as for a pipe without a
        ///     writer, nothing else is read. Returns what has changed, such as `1 added`; nil if
        ///     nothing has. An error leaves the old content in use, and says in one line what is wrong.
        package init(_ name: String, read: @escaping @Sendable () async throws -> String?) {
            self.name = name
            self.read = read
        }
    }

    /// The outcome for one file, as a line for the operator.
    package enum Report: Sendable, Hashable {
        /// `read tokens anew: 1 added, 1 removed`
        case done(String)
        /// `tokens were not read anew: line 3: …; the old ones stay`
        case failed(String)
    }

    private enum State {
        case idle
        case running(again: Bool)
        case closed
    }

    private let files: [File]
    private let manager: String?
    private let report: @Sendable (Report) -> Void
    private let state = Lock(State.idle)

    /// - Parameters:
    ///   - manager: the socket of the service manager, as in `ServiceManager.notify`.
    ///   - report: takes each file's outcome, on a task.
    package init(
        _ files: [File], manager: String? = ServiceManager.environmentSocket,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.files = files
        self.manager = manager
        self.report = report
    }

    /// Starts a run, or asks the present one for another. Returns at once. After `close` it does nothing.
    package func request() {
        let starts = state.withLock { state in
            switch state {
            case .idle:
                state = .running(again: false)
                return true
            case .running:
                state = .running(again: true)
                return false
            case .closed: return false
            }
        }
        if starts { Task { await run() } }
    }

    /// Ends the reloading: the service stops. A present run goes on, but the manager is not told of its end.
    package func close() { state.withLock { $0 = .closed } }

    private func run() async {
        repeat {
            notify(.reloading)
            if files.isEmpty { report(.done("there is no file to read anew")) }
            for file in files { report(await outcome(of: file)) }
        } while runsAgain()
    }

    private func outcome(of file: File) async -> Report {
        do {
            return .done("read \(file.name) anew: \(try await file.read() ?? "nothing has changed")")
        } catch {
            return .failed("\(file.name) were not read anew: \(error); the old ones stay")
        }
    }

    private func runsAgain() -> Bool {
        state.withLock { state in
            guard case .running(let again) = state else { return false }
            state = again ? .running(again: false) : .idle
            if !again { ServiceManager.notify(.ready, socket: manager) }
            return again
        }
    }

    /// Under the lock, as above: no state may follow the one that reports the stop, and none may overtake another. The
    /// manager's socket does not block.
    private func notify(_ notice: ServiceManager.State) {
        state.withLock { state in
            if case .closed = state { return }
            ServiceManager.notify(notice, socket: manager)
        }
    }
}
