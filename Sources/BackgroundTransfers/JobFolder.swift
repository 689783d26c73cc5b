import LazyImages
import FoundationEssentials
import SystemSupport

/// The folder of one job. Only its owner can open it.
///
///     order      the plan: JSON
///     results    a line of JSON for each event (JobLine)
///     traffic    the bytes received so far, for displays: {"received":150000,"remaining":50000,"underWay":0.75}
///     log, log.1 what went wrong, with times, for people
///     lock       locked while a process works on the job, from before it begins
///     control    a pipe with a name: what is written to it cancels the job
struct JobFolder: Sendable {
    static let (order, results, log, oldLog, lock, control) = (
        "order", "results", "log", "log.1", "lock", "control"
    )
    private static let (traffic, newTraffic) = ("traffic", "traffic.new")

    let name: String
    /// The absolute path.
    let path: String
    let calls = FileCalls()

    /// - Parameter parent: the absolute path of the folder of all jobs.
    init(_ name: String, in parent: String) {
        self.name = name
        path = parent + "/" + name
    }

    /// Calls `body` with the open folder.
    func opened<Value: ~Copyable>(
        _ body: (borrowing Descriptor) throws(FileFault) -> Value
    ) throws(BackgroundJobsError) -> Value {
        do throws(FileFault) {
            return try body(try calls.openFolder(path))
        } catch {
            throw error.isAbsence && !exists
                ? .notFound(name: name) : .storageFailed(path: path, reason: error.explanation)
        }
    }

    /// Whether the job exists.
    // Losing the error is right: a folder that cannot be examined is not a job.
    var exists: Bool { (try? calls.status(ofPath: path))?.isFolder == true }

    /// Whether a process works on the job.
    func isRunning() throws(BackgroundJobsError) -> Bool {
        try opened { folder throws(FileFault) in
            do throws(FileFault) {
                return try calls.isLocked(calls.openForReading(Self.lock, in: folder))
            } catch let error where error.isAbsence {
                return false
            }
        }
    }

    /// Locks the job for a process that works on it.
    func locked() throws(BackgroundJobsError) -> Descriptor {
        let lock = try opened { folder throws(FileFault) in
            try calls.openForWriting(Self.lock, in: folder, creating: .ifAbsent)
        }
        var isLocked = false
        do throws(FileFault) {
            isLocked = try calls.tryLockWithCopies(lock)
        } catch {
            throw .storageFailed(path: path, reason: error.explanation)
        }
        guard isLocked else { throw .running(name: name) }
        return lock
    }

    func storedPlan() throws(BackgroundJobsError) -> JobPlan {
        let bytes = try opened { _ throws(FileFault) in
            try calls.contents(ofPath: path + "/" + Self.order)
        }
        do {
            return try JSONDecoder().decode(JobPlan.self, from: Data(bytes))
        } catch {
            throw .storageFailed(path: path, reason: "its plan cannot be read; remove the job")
        }
    }

    /// The bytes received so far; nil if the job's process has stored none.
    // Losing the error is right: a display without these bytes shows those of the results.
    var storedTraffic: NetworkActivity.Traffic? {
        (try? calls.contents(ofPath: path + "/" + Self.traffic)).flatMap {
            try? JSONDecoder().decode(NetworkActivity.Traffic.self, from: Data($0))
        }
    }

    /// Replaces the stored bytes. A reader finds the old ones or the new ones. Blocks.
    func store(_ traffic: NetworkActivity.Traffic) throws(FileFault) {
        // Losing the error is right: encoding finite numbers never fails.
        guard let bytes = try? JSONEncoder().encode(traffic) else { return }
        let folder = try calls.openFolder(path)
        let file = try calls.openForWriting(Self.newTraffic, in: folder, creating: .ifAbsent)
        try calls.truncate(file, to: 0)
        try calls.write([UInt8](bytes), to: file)
        try calls.rename(Self.newTraffic, to: Self.traffic, in: folder)
    }

    /// All events so far.
    func events() throws(BackgroundJobsError) -> [JobEvent] {
        try opened { _ throws(FileFault) in
            var reader = try JobReader(path + "/" + Self.results)
            return try reader.next()
        }
    }

    func status() throws(BackgroundJobsError) -> JobStatus {
        // In this order: if the job finishes in between, the events show it.
        let isRunning = try isRunning()
        return JobStatus(name, try storedPlan(), try events(), isRunning: isRunning)
    }

    /// Creates the folder under a temporary name, and renames it: a job exists completely or not at all.
    /// - Returns: its lock.
    func make(_ plan: JobPlan, in parent: borrowing Descriptor) throws(FileFault) -> Descriptor {
        let draft = ".new-" + UUID().uuidString
        try calls.makeFolder(draft, in: parent)
        do throws(FileFault) {
            let folder = try calls.openFolder(draft, in: parent)
            let lock = try calls.openForWriting(Self.lock, in: folder, creating: .always)
            _ = try calls.tryLockWithCopies(lock)
            // Losing the error is right: encoding strings and numbers never fails.
            let encoded = (try? JSONEncoder().encode(plan)) ?? Data()
            try calls.write(
                [UInt8](encoded), to: try calls.openForWriting(Self.order, in: folder, creating: .always))
            _ = try calls.openForAppending(Self.results, in: folder)
            _ = try calls.openForAppending(Self.log, in: folder)
            try calls.makePipe(Self.control, in: folder)
            try calls.rename(draft, to: name, in: parent)
            return lock
        } catch {
            remove(draft, in: parent)
            throw error
        }
    }

    /// Removes the folder of a job that is not running.
    func remove() throws(BackgroundJobsError) {
        let lock = try locked()
        try removeLocked()
        _ = consume lock
    }

    /// As `remove()`, for a caller that has locked the job.
    func removeLocked() throws(BackgroundJobsError) {
        do throws(FileFault) {
            let parent = try calls.openFolder(String(path.dropLast(name.utf8.count + 1)))
            let removed = ".old-" + UUID().uuidString
            try calls.rename(name, to: removed, in: parent)
            remove(removed, in: parent)
        } catch {
            throw .storageFailed(path: path, reason: error.explanation)
        }
    }

    /// Removes a renamed folder and its files, as far as possible.
    private func remove(_ name: String, in parent: borrowing Descriptor) {
        // Losing the errors is right: a folder that stays has a name that no job can have.
        if let folder = try? calls.openFolder(name, in: parent) {
            for file in (try? calls.names(in: folder)) ?? [] { try? calls.remove(file, in: folder) }
        }
        try? calls.removeFolder(name, in: parent)
    }
}
