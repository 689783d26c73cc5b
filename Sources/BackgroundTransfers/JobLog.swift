import FoundationEssentials
import HTTPSemantics
import SystemSupport

/// The log of a job, for people: one line for each failure, with its time. The process's standard output and error go
/// there too. A log above 1 MiB is renamed to `log.1` and replaces the old one, so both have about 2 MiB at most.
final class JobLog: Sendable {
    static let limit = 1 << 20

    private let folder: JobFolder
    private let redirectOutput: @Sendable (borrowing Descriptor) -> Void
    private let lock = Lock(())

    /// - Parameter takeOutput: makes a file the process's standard output and error.
    init(
        _ folder: JobFolder,
        redirectOutput: @escaping @Sendable (borrowing Descriptor) -> Void = {
            SessionProcess.redirectOutput($0)
        }
    ) {
        self.folder = folder
        self.redirectOutput = redirectOutput
    }

    /// Adds a line. Blocks.
    func add(_ text: String) {
        let time = Date().formatted(.iso8601)
        let line = Array("\(time) \(text.replacing("\n", with: " "))\n".utf8)
        lock.withLock { _ in
            // Losing the error is right: the results have the same errors.
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
        redirectOutput(next)
        try calls.write(line, to: next)
    }
}
