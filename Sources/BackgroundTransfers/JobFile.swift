import FoundationEssentials
import LazyImages
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
                ? .notFound(name: name) : .storageFailed(path: path, reason: error.description)
        }
    }

    /// Whether the job exists.
    // Ignored: a folder that cannot be examined is not a job.
    var exists: Bool { (try? calls.status(ofPath: path))?.isFolder == true }

    /// Whether a process works on the job.
    func isRunning() throws(BackgroundJobsError) -> Bool {
        try opened { folder throws(FileFault) in
            try calls.unlessAbsent { () throws(FileFault) in
                try calls.isLocked(calls.openForReading(Self.lock, in: folder))
            } ?? false
        }
    }

    /// Locks the job for a process that works on it.
    func locked() throws(BackgroundJobsError) -> Descriptor {
        let locked = try opened { folder throws(FileFault) -> Descriptor? in
            let lock = try calls.openForWriting(Self.lock, in: folder, creating: .ifAbsent)
            guard try calls.tryLockWithCopies(lock) else { return nil }
            return lock
        }
        guard let lock = locked else { throw .running(name: name) }
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
    // Ignored: a display without these bytes shows those of the results.
    var storedTraffic: NetworkActivity.Traffic? {
        (try? calls.contents(ofPath: path + "/" + Self.traffic)).flatMap {
            try? JSONDecoder().decode(NetworkActivity.Traffic.self, from: Data($0))
        }
    }

    /// Replaces the stored bytes. A reader finds the old ones or the new ones. Blocks.
    func store(_ traffic: NetworkActivity.Traffic) throws(FileFault) {
        // Ignored: encoding finite numbers never fails.
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
            // Ignored: encoding strings and numbers never fails.
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
            throw .storageFailed(path: path, reason: error.description)
        }
    }

    /// Removes a renamed folder and its files, as far as possible.
    private func remove(_ name: String, in parent: borrowing Descriptor) {
        // Ignored: a folder that stays has a name that no job can have.
        if let folder = try? calls.openFolder(name, in: parent) {
            for file in (try? calls.names(in: folder)) ?? [] { try? calls.remove(file, in: folder) }
        }
        try? calls.removeFolder(name, in: parent)
    }
}

/// A line of a job's results: one event as JSON.
///
///     {"process":4711,"started":1795400000.25}
///     {"waiting":"network"}
///     {"waiting":""}
///     {"result":{"index":0,"url":"https://example.org/a.png","outcome":"network","bytes":70,…}}
///     {"ended":1795400060.5,"status":0}
///
/// Each line is written in one call. Invalid lines are skipped: a kill or a full disk can leave half a line.
struct JobLine: Codable {
    private var started: Double?
    private var process: Int32?
    private var waiting: String?
    private var result: JobResult?
    private var ended: Double?
    private var status: Int32?

    init(_ event: JobEvent) {
        switch event {
        case .started(let process, let time): (self.process, started) = (process, time)
        case .waiting(let wait): waiting = wait?.rawValue ?? ""
        case .result(let result): self.result = result
        case .ended(let status, let time): (self.status, ended) = (status, time)
        case .stopped: break
        }
    }

    var event: JobEvent? {
        if let result { return .result(result) }
        if let started { return .started(process: process ?? 0, time: started) }
        if let ended, let status { return .ended(status: status, time: ended) }
        return waiting.map { .waiting(JobWait(rawValue: $0)) }
    }

    /// The events as lines.
    static func bytes(_ events: [JobEvent]) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var bytes: [UInt8] = []
        for event in events {
            // Ignored: encoding strings and finite numbers never fails.
            guard let line = try? encoder.encode(JobLine(event)) else { continue }
            bytes += line + [UInt8(ascii: "\n")]
        }
        return bytes
    }

    /// The event of a line; nil for an invalid line.
    static func event(_ line: some Collection<UInt8>) -> JobEvent? {
        // Ignored: an invalid line is skipped.
        (try? JSONDecoder().decode(JobLine.self, from: Data(line)))?.event
    }
}

/// Reads a job's results. Each call continues where the last one stopped.
struct JobReader: ~Copyable {
    private let file: Descriptor
    private let calls = FileCalls()
    private var offset = 0
    /// The beginning of an incomplete line.
    private var rest: [UInt8] = []

    init(_ path: String) throws(FileFault) { file = try calls.openForReading(path: path) }

    /// The events since the last call.
    mutating func next() throws(FileFault) -> [JobEvent] {
        var events: [JobEvent] = []
        var part = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = try calls.read(file, into: &part, at: offset)
            if count == 0 { return events }
            offset += count
            rest += part[..<count]
            var start = rest.startIndex
            while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                if let event = JobLine.event(rest[start..<end]) { events.append(event) }
                start = end + 1
            }
            rest.removeFirst(start)
        }
    }
}

/// Writes a job's events to its results, several in one call. A result is written after its file is on disk: a kill in
/// between would otherwise lose the file.
final class JobRecorder: Sendable {
    private struct State {
        var waiting: [JobEvent] = []
        var fault: FileFault?
    }

    private let folder: JobFolder
    private let disk: DiskCache?
    private let state = Lock(State())
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// - Parameter disk: the disk tier of the files.
    init(_ folder: JobFolder, _ disk: DiskCache?) throws(FileFault) {
        self.folder = folder
        self.disk = disk
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        // Ends an incomplete line of an earlier process, which is then skipped.
        let calls = folder.calls
        let file = try calls.openForAppending(JobFolder.results, in: try calls.openFolder(folder.path))
        var last: [UInt8] = [0]
        let size = try calls.status(of: file).size
        guard size > 0, try calls.read(file, into: &last, at: size - 1) == 1 else { return }
        if last[0] != UInt8(ascii: "\n") { try calls.write([UInt8(ascii: "\n")], to: file) }
    }

    /// The fault after which nothing is written; nil before it.
    var fault: FileFault? { state.withLock { $0.fault } }

    /// Adds an event, which `write` writes.
    func add(_ event: JobEvent) {
        state.withLock { $0.waiting.append(event) }
        signal.yield()
    }

    /// Writes an event now. Blocks.
    func addNow(_ event: JobEvent) {
        state.withLock { $0.waiting.append(event) }
        writeWaiting(take())
    }

    /// Writes the added events, until `finish`.
    /// - Parameter failed: called if writing fails.
    func write(failed: @Sendable () -> Void) async {
        for await _ in signals {
            await writeOnce()
            if fault != nil { failed() }
        }
        await writeOnce()
    }

    /// Ends `write`. Later events can only use `addNow`.
    func finish() { signal.finish() }

    private func writeOnce() async {
        let events = take()
        guard !events.isEmpty else { return }
        await disk?.flush()
        await BlockingThreads.runOnOwnThread { [self] in writeWaiting(events) }
    }

    private func take() -> [JobEvent] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    private func writeWaiting(_ events: [JobEvent]) {
        guard fault == nil else { return }
        do throws(FileFault) {
            let calls = folder.calls
            let file = try calls.openForAppending(JobFolder.results, in: try calls.openFolder(folder.path))
            try calls.write(JobLine.bytes(events), to: file)
        } catch {
            state.withLock { $0.fault = error }
        }
    }
}

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
            // Ignored: the results have the same errors.
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
