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

    private let files: [File]
    private let manager: String?
    private let report: @Sendable (Report) -> Void
    private let requests = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    /// Whether the service stops. Held while the manager is told, so that no notice comes after that of the stop.
    private let isClosed = Lock(false)

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
        let requests = requests.stream
        Task { [weak self] in
            for await _ in requests { await self?.run() }
        }
    }

    deinit { requests.continuation.finish() }

    /// Starts a run, or asks for another after the present one. Returns at once. After `close` it does nothing.
    package func request() { requests.continuation.yield() }

    /// Ends the reloading: the service stops. A present run goes on, but the manager is not told of its end.
    package func close() {
        isClosed.withLock { $0 = true }
        requests.continuation.finish()
    }

    private func run() async {
        notify(.reloading)
        if files.isEmpty { report(.done("there is no file to read anew")) }
        for file in files { report(await outcome(of: file)) }
        notify(.ready)
    }

    private func outcome(of file: File) async -> Report {
        do {
            return .done("read \(file.name) anew: \(try await file.read() ?? "nothing has changed")")
        } catch {
            return .failed("\(file.name) were not read anew: \(error); the old ones stay")
        }
    }

    /// The manager's socket does not block.
    private func notify(_ notice: ServiceManager.State) {
        isClosed.withLock { if !$0 { ServiceManager.notify(notice, socket: manager) } }
    }
}
