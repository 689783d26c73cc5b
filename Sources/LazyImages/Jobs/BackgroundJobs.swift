import FoundationEssentials
import SystemSupport

/// Prewarms that go on when the program that started them has ended: each in a process of its own, without a terminal.
///
///     let jobs = BackgroundJobs()
///     let command = JobCommand("/proc/self/exe", ["myprogram", "job-process"])
///     let job = try jobs.start(JobOrder(items), named: "night", by: command)
///     for await event in job.events { print(event) }      // follows; another program may do the same
///     let status = await job.completion()                 // 0 when all is done
///
/// And where the program is called as the command says:
///
///     let process = try JobProcess()
///     exit(await process.run(requests(process.order), with: loader))
///
/// A job is a folder with its order, its results and its log. It is locked while its process lives, so a job that was
/// killed is known as stopped; `resume` works on what has no result yet. What the cache has is not fetched again.
///
/// Safe for concurrent use from any thread or actor, and from several programs. The calls read and write small files and
/// block for that long.
public struct BackgroundJobs: Sendable {
    /// The absolute path of the folder of all jobs.
    public let folder: String
    private let calls = FileCalls()

    /// The jobs in a folder, which is made when the first one starts.
    public init(folder: String = BackgroundJobs.standardFolder) { self.folder = folder }

    /// The user's own jobs: `marquee/jobs` in `XDG_STATE_HOME`, or in `~/.local/state` where that is not set or not absolute
    /// (XDG Base Directory Specification).
    public static var standardFolder: String {
        UserFolder.path(variable: "XDG_STATE_HOME", standard: ".local/state") + "/marquee/jobs"
    }

    /// Starts a job, and returns when its process works on it.
    /// - Parameters:
    ///   - order: what it fetches, and how.
    ///   - name: 1 to 64 letters, digits, `.`, `_` and `-`; a letter or digit first.
    ///   - secrets: what the process needs and must stand in no file: it gets them by a pipe.
    ///   - command: the program that works on it.
    /// - Throws: `.running` or `.exists` where there is a job of this name.
    @discardableResult
    public func start(
        _ order: JobOrder, named name: String, secrets: [UInt8] = [], by command: JobCommand
    ) throws(BackgroundJobsError) -> BackgroundJob {
        guard Self.isName(name) else { throw .invalidName(name) }
        let job = JobFolder(name, in: folder)
        if job.exists { throw try job.isRunning() ? .running(name: name) : .exists(name: name) }
        let lock: Descriptor
        do throws(FileFault) {
            try calls.makeFolders(folder)
            lock = try job.make(order, in: try calls.openFolder(folder))
        } catch {
            // Another program was quicker.
            if error.kind == .rename, job.exists { throw .running(name: name) }
            throw .storageFailed(path: folder, reason: error.explanation)
        }
        do {
            try command.start(job, lock, secrets: secrets)
        } catch {
            // Losing the error is right: why it did not start says more.
            try? job.removeLocked()
            throw error
        }
        return BackgroundJob(folder: job)
    }

    /// Works on what is left of a job that does not run: the images without a result or, if there are none, those that
    /// failed.
    /// - Parameters:
    ///   - name: the job's.
    ///   - secrets: as for `start`.
    ///   - secretNames: the names of what is among the secrets now.
    ///   - command: the program that works on it.
    /// - Throws: `.secretsMissing` where the order names others too, `.complete` where nothing is left.
    @discardableResult
    public func resume(
        _ name: String, secrets: [UInt8] = [], secretNames: [String] = [], by command: JobCommand
    ) throws(BackgroundJobsError) -> BackgroundJob {
        let job = JobFolder(name, in: folder)
        guard Self.isName(name), job.exists else { throw .notFound(name: name) }
        let lock = try job.locked()
        let order = try job.storedOrder()
        let missing = order.secretNames.filter { !secretNames.contains($0) }
        guard missing.isEmpty else { throw .secretsMissing(name: name, secrets: missing) }
        let events = try job.events()
        // One that was killed between its last result and its end has its end to say.
        let hasEnded = JobStatus(name, order, events, isRunning: false).exitStatus.map { $0 != 130 } == true
        if hasEnded, order.remaining(after: events).isEmpty { throw .complete(name: name) }
        do {
            try command.start(job, lock, secrets: secrets)
        } catch {
            calls.unlockWithCopies(lock)
            throw error
        }
        return BackgroundJob(folder: job)
    }

    /// Every job, by name.
    public func list() throws(BackgroundJobsError) -> [JobStatus] {
        let names: [String]
        do throws(FileFault) {
            names = try calls.names(in: try calls.openFolder(folder))
        } catch {
            if error.isAbsence { return [] }
            throw .storageFailed(path: folder, reason: error.explanation)
        }
        var jobs: [JobStatus] = []
        for name in names.sorted() where Self.isName(name) {
            do throws(BackgroundJobsError) {
                jobs.append(try JobFolder(name, in: folder).status())
            } catch {
                // Removed meanwhile.
                if case .notFound = error { continue }
                // A damaged one must not hide the others.
                jobs.append(JobStatus(name, JobOrder([]), [], isRunning: false))
            }
        }
        return jobs
    }

    /// The job of a name.
    public func job(_ name: String) throws(BackgroundJobsError) -> BackgroundJob {
        let job = JobFolder(name, in: folder)
        guard Self.isName(name), job.exists else { throw .notFound(name: name) }
        return BackgroundJob(folder: job)
    }

    /// Removes a job that does not run: its order, results and log. The cache keeps what it brought.
    public func remove(_ name: String) throws(BackgroundJobsError) {
        let job = JobFolder(name, in: folder)
        guard Self.isName(name), job.exists else { throw .notFound(name: name) }
        try job.remove()
    }

    /// Whether a text can be a job's name.
    public static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 64 else { return false }
        func isLetterOrDigit(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        return isLetterOrDigit(first)
            && text.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
    }
}

extension JobOrder {
    /// The images to work on after these events, by their index: those without a result or, if there are none, those that
    /// failed.
    func remaining(after events: [JobEvent]) -> [Int] {
        var failedBy: [Int: Bool] = [:]
        for case .result(let result) in events { failedBy[result.index] = result.error != nil }
        let untried = items.indices.filter { failedBy[$0] == nil }
        return untried.isEmpty ? items.indices.filter { failedBy[$0] == true } : untried
    }
}
