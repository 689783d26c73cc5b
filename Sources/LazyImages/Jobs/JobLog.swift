import FoundationEssentials
import HTTPSemantics
import SystemSupport

/// What went wrong in a job, for people: a line each, with its time. It is also where the process's standard output and
/// error go. When it has more than 1 MiB it becomes `log.1`, in the place of the one before: there are never much more
/// than 2 MiB.
final class JobLog: Sendable {
    static let limit = 1 << 20

    private let folder: JobFolder
    private let takeOutput: @Sendable (borrowing Descriptor) -> Void
    private let lock = Lock(())

    /// - Parameter takeOutput: makes a file the process's standard output and error.
    init(
        _ folder: JobFolder,
        takeOutput: @escaping @Sendable (borrowing Descriptor) -> Void = { SessionProcess.takeOutput($0) }
    ) {
        self.folder = folder
        self.takeOutput = takeOutput
    }

    /// Adds a line. Blocks.
    func add(_ text: String) {
        let time = Date().formatted(.iso8601)
        let line = Array("\(time) \(text.replacing("\n", with: " "))\n".utf8)
        lock.withLock { _ in
            // Losing the error is right: the log is for people, and the results say the same.
            try? write(line)
        }
    }

    private func write(_ line: [UInt8]) throws(FileFault) {
        let calls = folder.calls
        let place = try calls.openFolder(folder.path)
        let log = try calls.openForAppending(JobFolder.log, in: place)
        guard try calls.status(of: log).size + line.count > Self.limit else {
            return try calls.write(line, to: log)
        }
        try calls.rename(JobFolder.log, to: JobFolder.oldLog, in: place)
        let next = try calls.openForAppending(JobFolder.log, in: place)
        takeOutput(next)
        try calls.write(line, to: next)
    }
}
