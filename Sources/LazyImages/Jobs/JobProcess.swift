import FoundationEssentials
import Glibc
import HTTPSemantics
import SystemSupport

/// The process that works on a background job, as `JobCommand` has started it.
///
///     let process = try JobProcess()
///     let requests = process.order.items.map { ImageRequest(url: ...) }
///     exit(await process.run(requests, with: loader))
public final class JobProcess: Sendable {
    /// The job's name.
    public var name: String { folder.name }
    /// What is to be done.
    public let order: JobOrder
    /// What the starter gave by the pipe.
    public let secrets: [UInt8]

    private let folder: JobFolder
    /// The line to the starter; nil once it has its answer.
    private let line: Lock<Int32?>

    /// Takes over what the starter has left: one of it in a process, before other descriptors are opened. Blocks.
    /// - Throws: where nobody has started this process as a job's.
    public init() throws(BackgroundJobsError) {
        line = Lock(JobMessage.line)
        let stranger = BackgroundJobsError.notStarted(
            name: "?", reason: "only a job's starter calls this program so")
        guard fcntl(JobMessage.lock, F_GETFD) >= 0, fcntl(JobMessage.line, F_GETFD) >= 0 else {
            throw stranger
        }
        // Not to be closed at the end of this block: the number stays in use.
        let heard = Self.hear()
        guard let message = try? JSONDecoder().decode(JobMessage.self, from: Data(heard)) else {
            throw stranger
        }
        let end = message.folder.lastIndex(of: "/") ?? message.folder.startIndex
        folder = JobFolder(
            String(message.folder[end...].dropFirst()), in: String(message.folder[..<end]))
        secrets = [UInt8](message.secrets)
        order = try folder.storedOrder()
    }

    /// Tells the starter that there is nothing to be done, and why, in one line.
    public func refuse(_ reason: String) { answer(Array(reason.utf8)) }

    /// Works on what has no result yet, and returns when it is done, cancelled (by `BackgroundJob.cancel()`, or with the
    /// calling task) or cannot be recorded: 0, 1, 2 or 130 as in `JobEvent.ended`. Once in a process.
    /// - Parameters:
    ///   - requests: those of the order, in its order.
    ///   - loader: where they are loaded. Its disk tier is what the job fills.
    ///   - concurrency: images worked on at once. Default 32.
    ///   - wantsChecksums: whether the results have the SHA-256 of each file.
    ///   - explain: the message of an error, for people.
    public func run(
        _ requests: [ImageRequest], with loader: FileLoader, concurrency: Int = 32,
        wantsChecksums: Bool = false,
        explain: @escaping @Sendable (ImageLoadingError) -> String = { $0.description }
    ) async -> Int32 {
        await run(
            requests, with: loader, concurrency: concurrency, wantsChecksums: wantsChecksums,
            paths: PathMonitor(), explain: explain)
    }

    func run(
        _ requests: [ImageRequest], with loader: FileLoader, concurrency: Int, wantsChecksums: Bool,
        paths: some AsyncSequence<NetworkPath, Never> & Sendable, pressure: MemoryPressure = .system,
        explain: @escaping @Sendable (ImageLoadingError) -> String
    ) async -> Int32 {
        precondition(requests.count == order.items.count, "a job has a request for each item of its order")
        let log = JobLog(folder)
        let work: JobWork
        let listener: JobListener
        do {
            work = JobWork(
                requests, order.remaining(after: try folder.events()), loader: loader,
                concurrency: concurrency, refusesCellular: order.refusesCellular,
                recorder: try JobRecorder(folder, loader.disk), log: log, wantsChecksums: wantsChecksums,
                explain: explain)
            listener = try JobListener(folder)
        } catch {
            let reason = (error as? FileFault)?.explanation ?? "\(error)"
            refuse(reason)
            return 2
        }
        work.recorder.addNow(.started(process: getpid(), time: Self.now))
        if let fault = work.recorder.fault {
            refuse(fault.explanation)
            return 2
        }
        answer(JobMessage.begun)
        let task = Task { await work.run(paths: paths, pressure: pressure) }
        await withTaskCancellationHandler {
            listener.listen { task.cancel() }
            await task.value
        } onCancel: {
            task.cancel()
        }
        listener.stop()
        return finish(work, log, loader.disk, isCancelled: task.isCancelled)
    }

    /// Records the end.
    private func finish(_ work: JobWork, _ log: JobLog, _ disk: DiskCache?, isCancelled: Bool) -> Int32 {
        if let fault = work.recorder.fault {
            log.add("the job stops, because its results cannot be written: \(fault.explanation)")
            return 2
        }
        var status: Int32 = 130
        // Losing the error is right: results that cannot be read are none.
        let events = (try? folder.events()) ?? []
        let now = JobStatus(name, order, events, isRunning: true)
        if now.finished >= now.total || !isCancelled {
            status = now.failed == 0 ? 0 : now.failed < now.finished ? 1 : 2
        }
        if let fault = disk?.counters.lastFault {
            log.add("the cache does not work as it should: \(fault)")
            if status == 0 { status = 1 }
        }
        work.recorder.addNow(.ended(status: status, time: Self.now))
        return status
    }

    private static var now: Double { Date().timeIntervalSince1970 }

    private static func hear() -> [UInt8] {
        let copy = Descriptor(dup(JobMessage.line))
        return SessionProcess.hear(copy)
    }

    private func answer(_ bytes: [UInt8]) {
        let line = line.withLock { line in
            defer { line = nil }
            return line
        }
        guard let line else { return }
        // A starter that has gone is no reason to end.
        _ = SessionProcess.say(bytes, to: Descriptor(line))
    }
}

/// Hears, on a thread of its own, whether the job is to end.
private final class JobListener: Sendable {
    private let pipe: Int32
    private let end: WakeDescriptor

    init(_ folder: JobFolder) throws {
        end = try WakeDescriptor()
        let pipe = try folder.calls.openPipe(JobFolder.control, in: try folder.calls.openFolder(folder.path))
        // Its owner from here on is this object.
        self.pipe = dup(pipe.number)
        if self.pipe < 0 { throw ResourceShortage(missing: .descriptor, code: errno) }
    }

    deinit { close(pipe) }

    func listen(cancel: @escaping @Sendable () -> Void) {
        // Losing the error is right: without a thread the job runs, and can be ended by a signal.
        try? BlockingThreads.startThread(name: "LazyImages.job") { [self] in
            while true {
                let ready = Polling.ready([(end.descriptor, POLLIN), (pipe, POLLIN)])
                if ready[0] { return }
                if ready[1] { return cancel() }
            }
        }
    }

    func stop() { end.signal() }
}
