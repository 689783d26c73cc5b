import FoundationEssentials
import LazyImages
import SystemSupport

/// Prewarms in the background: each job has a process of its own, without a terminal, which outlives the program that
/// started it.
///
///     let jobs = BackgroundJobs()
///     let command = JobCommand("/proc/self/exe", ["myprogram", "job-process"])
///     let job = try jobs.start(JobPlan(items), named: "night", by: command)
///     for await event in job.events { print(event) }      // follows; another program may do the same
///     let status = await job.completion()                 // 0 when all is done
///
/// In the program that the command starts:
///
///     let process = try JobProcess()
///     exit(await process.run(requests(process.plan), with: loader))
///
/// A job is a folder with its plan, its results and its log. Its process holds a lock, so a killed job is recognised
/// as stopped. `resume` works on the images without a result. Images in the cache are not fetched again.
///
/// Safe for concurrent use from any thread or actor, and from several programs. The calls block while they read and
/// write small files.
public struct BackgroundJobs: Sendable {
    /// The absolute path of the folder of all jobs.
    public let folder: String
    private let calls = FileCalls()

    /// The jobs in a folder, which the first job creates.
    /// - Parameter folder: a relative path starts at the present working directory. An empty one, as of an unset variable,
    ///   makes each call fail with `.storageFailed`. Default: the program's own.
    public init(folder: String = BackgroundJobs.standardFolder) {
        self.folder = DiskCache.absolutePath(folder)
    }

    /// The program's own folder, by its name: `jobs` in a folder with the name of the program, as `folder(named:)`.
    public static var standardFolder: String { folder(named: UserFolder.programName) }

    /// A folder of jobs that programs share on purpose, by its name: `NAME/jobs` in `XDG_STATE_HOME`, or in
    /// `~/.local/state` if that variable is not set or not absolute (XDG Base Directory Specification). `marquee jobs`
    /// has the one named `marquee`.
    /// - Parameter name: the name, without a slash.
    public static func folder(named name: String) -> String {
        UserFolder.path(variable: "XDG_STATE_HOME", standard: ".local/state") + "/\(name)/jobs"
    }

    private func checkFolder() throws(BackgroundJobsError) {
        if folder.isEmpty { throw .storageFailed(path: "\"\"", reason: "its path is empty") }
    }

    /// Starts a job, and returns when its process works on it.
    /// - Parameters:
    ///   - plan: the images to load, and the settings.
    ///   - name: 1 to 64 letters, digits, `.`, `_` and `-`; a letter or digit first.
    ///   - secrets: bytes that the process needs and that must not be in a file. They are passed through a socket.
    ///     Default: none.
    ///   - command: the program that works on the job.
    /// - Throws: `.running` or `.exists` if there is a job with this name.
    @discardableResult
    public func start(
        _ plan: JobPlan, named name: String, secrets: [UInt8] = [], by command: JobCommand
    ) throws(BackgroundJobsError) -> BackgroundJob {
        guard Self.isName(name) else { throw .invalidName(name) }
        try checkFolder()
        let job = JobFolder(name, in: folder)
        if job.exists { throw try job.isRunning() ? .running(name: name) : .exists(name: name) }
        let lock: Descriptor
        do throws(FileFault) {
            try calls.makeFolders(folder)
            lock = try job.make(plan, in: try calls.openFolder(folder))
        } catch {
            // Another program has created the job meanwhile.
            if error.kind == .rename, job.exists { throw .running(name: name) }
            throw .storageFailed(path: folder, reason: error.description)
        }
        do {
            try command.start(job, lock, secrets: secrets)
        } catch {
            // Ignored: the first error says more.
            try? job.removeLocked()
            throw error
        }
        return BackgroundJob(folder: job)
    }

    /// Resumes a job that is not running: loads the images without a result or, if there are none, those that failed.
    /// - Parameters:
    ///   - name: the job's name.
    ///   - secrets: as for `start`.
    ///   - secretNames: the names of the passed secrets.
    ///   - command: the program that works on the job.
    /// - Throws: `.secretsMissing` if the plan names other secrets too; `.complete` if nothing is left to do.
    @discardableResult
    public func resume(
        _ name: String, secrets: [UInt8] = [], secretNames: [String] = [], by command: JobCommand
    ) throws(BackgroundJobsError) -> BackgroundJob {
        let job = try job(name).folder
        let lock = try job.locked()
        let plan = try job.storedPlan()
        let missing = plan.secretNames.filter { !secretNames.contains($0) }
        guard missing.isEmpty else { throw .secretsMissing(name: name, secrets: missing) }
        let events = try job.events()
        // A job that was killed after its last result still needs its final status.
        let hasEnded = JobStatus(name, plan, events, isRunning: false).exitStatus.map { $0 != 130 } == true
        if hasEnded, plan.remaining(after: events).isEmpty { throw .complete(name: name) }
        do {
            try command.start(job, lock, secrets: secrets)
        } catch {
            calls.unlockWithCopies(lock)
            throw error
        }
        return BackgroundJob(folder: job)
    }

    /// The status of all jobs, sorted by name.
    public func list() throws(BackgroundJobsError) -> [JobStatus] {
        try checkFolder()
        let names: [String]
        do throws(FileFault) {
            names = try calls.names(in: try calls.openFolder(folder))
        } catch {
            if error.isAbsence { return [] }
            throw .storageFailed(path: folder, reason: error.description)
        }
        var jobs: [JobStatus] = []
        for name in names.sorted() where Self.isName(name) {
            do throws(BackgroundJobsError) {
                jobs.append(try JobFolder(name, in: folder).status())
            } catch {
                // Removed meanwhile.
                if case .notFound = error { continue }
                // A damaged job must not hide the others.
                jobs.append(JobStatus(name, JobPlan([]), [], isRunning: false))
            }
        }
        return jobs
    }

    /// The job with a name.
    public func job(_ name: String) throws(BackgroundJobsError) -> BackgroundJob {
        try checkFolder()
        let job = JobFolder(name, in: folder)
        guard Self.isName(name), job.exists else { throw .notFound(name: name) }
        return BackgroundJob(folder: job)
    }

    /// Removes a job that is not running: its plan, results and log. Its images stay in the cache.
    public func remove(_ name: String) throws(BackgroundJobsError) {
        try job(name).folder.remove()
    }

    /// Whether a text is a valid job name.
    public static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 64 else { return false }
        func isLetterOrDigit(_ byte: UInt8) -> Bool { byte.isLetter || byte.isDigit }
        return isLetterOrDigit(first)
            && text.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
    }
}

extension JobPlan {
    /// The indices of the images to load after these events: those without a result or, if there are none, those that
    /// failed.
    func remaining(after events: [JobEvent]) -> [Int] {
        var failedBy: [Int: Bool] = [:]
        for case .result(let result) in events { failedBy[result.index] = result.error != nil }
        let untried = items.indices.filter { failedBy[$0] == nil }
        return untried.isEmpty ? items.indices.filter { failedBy[$0] == true } : untried
    }
}

/// The program that works on a background job. It must make a ``JobProcess`` as soon as it starts. The simplest is the
/// same program with another argument:
///
///     JobCommand("/proc/self/exe", ["myprogram", "job-process"])
public struct JobCommand: Sendable {
    /// The absolute path of the program.
    public var executable: String
    /// Its arguments, the program's name first. All users of the machine can read them.
    public var arguments: [String]
    /// Its environment. Other processes of this user can read it: pass no secrets.
    public var environment: [String: String]

    /// A program. Default environment: this process's.
    public init(_ executable: String, _ arguments: [String], environment: [String: String]? = nil) {
        (self.executable, self.arguments) = (executable, arguments)
        self.environment = environment ?? ProcessInfo.processInfo.environment
    }

    /// Starts the program as a new process, and returns when it works on the job. Blocks.
    /// - Parameter lock: the job's lock, which the new process keeps.
    func start(_ folder: JobFolder, _ lock: borrowing Descriptor, secrets: [UInt8])
        throws(BackgroundJobsError)
    {
        let answer: [UInt8]
        do {
            let null = try folder.calls.openForReading(path: "/dev/null")
            let parent = try folder.calls.openFolder(folder.path)
            let log = try folder.calls.openForAppending(JobFolder.log, in: parent)
            let ends = try SessionProcess.socketPair()
            let connection = Descriptor(ends.own)
            do {
                let other = Descriptor(ends.other)
                try SessionProcess.start(
                    executable, arguments, environment: environment,
                    descriptors: [null.number, log.number, log.number, other.number, lock.number])
            }
            let message = try JSONEncoder().encode(JobMessage(folder: folder.path, secrets: Data(secrets)))
            // Ignores a failure: then there is no answer either.
            _ = SessionProcess.sendAll([UInt8](message), to: connection)
            answer = SessionProcess.receiveAll(connection)
        } catch {
            throw .notStarted(name: folder.name, reason: "\(error)")
        }
        if answer == JobMessage.begun { return }
        let reason = String(decoding: answer, as: UTF8.self)
        throw .notStarted(
            name: folder.name,
            reason: reason.isEmpty ? "its process ended; see \(folder.path)/\(JobFolder.log)" : reason)
    }
}

/// The starter's message to the job's process, on descriptor 3, as JSON. The process answers with `begun`, or with the
/// reason why it cannot begin.
struct JobMessage: Codable {
    static let begun = [UInt8(ascii: "+")]
    /// The descriptors that the process inherits.
    static let (connection, lock): (Int32, Int32) = (3, 4)

    let folder: String
    let secrets: Data
}
