package import FoundationEssentials
import HTTPSemantics
public import LazyImages
import SystemSupport

/// The process that works on a background job, started by ``JobCommand``.
///
///     let process = try JobProcess()
///     let requests = process.plan.items.map { ImageRequest(.url(...)) }
///     exit(await process.run(requests, with: loader))
public final class JobProcess: Sendable {
    /// The job's name.
    public var name: String { folder.name }
    /// The plan of the job.
    public let plan: JobPlan
    /// The secrets from the starter.
    public let secrets: [UInt8]

    private let folder: JobFolder
    /// The connection to the starter; nil once it has the answer.
    private let connection: Lock<Int32?>

    /// Takes over the descriptors of the starter. Make only one in a process, before other descriptors are opened.
    /// Blocks.
    /// - Throws: if this process was not started as a job's process.
    public init() throws(BackgroundJobsError) {
        connection = Lock(JobMessage.connection)
        let error = BackgroundJobsError.notStarted(
            name: "?", reason: "this program was not started as the process of a job")
        guard fcntl(JobMessage.lock, F_GETFD) >= 0, fcntl(JobMessage.connection, F_GETFD) >= 0 else {
            throw error
        }
        // Reads from a copy, so that the descriptor stays open.
        let bytes = SessionProcess.receiveAll(Descriptor(dup(JobMessage.connection)))
        // Ignored: it only says how the message of another program is malformed.
        guard let message = try? JSONDecoder().decode(JobMessage.self, from: Data(bytes)) else {
            throw error
        }
        let end = message.folder.lastIndex(of: "/") ?? message.folder.startIndex
        folder = JobFolder(
            String(message.folder[end...].dropFirst()), in: String(message.folder[..<end]))
        secrets = [UInt8](message.secrets)
        plan = try folder.storedPlan()
    }

    /// Tells the starter in one line why the job cannot start.
    public func refuse(_ reason: String) { answer(Array(reason.utf8)) }

    /// Works on the images without a result. Returns when it is done, was cancelled (by ``BackgroundJob/cancel()`` or
    /// with the calling task), or cannot write the results. Call it once in a process.
    /// - Parameters:
    ///   - requests: the requests of the plan's items, in the same order.
    ///   - loader: loads the images into its disk tier.
    ///   - concurrency: the most images at once. Default: 32.
    ///   - wantsChecksums: whether the results have the SHA-256 of each file. Default: false.
    ///   - explain: makes the message of an error, for people. Default: its description.
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
        precondition(requests.count == plan.items.count, "a job has a request for each item of its plan")
        let log = JobLog(folder)
        let work: JobWork
        let listener: JobListener
        let events: [JobEvent]
        do {
            events = try folder.events()
            work = JobWork(
                pieces: plan.remaining(after: events).map { .init(index: $0, request: requests[$0]) },
                local: Prewarmer(loader, concurrency: concurrency),
                remote: Prewarmer(loader, concurrency: concurrency), refusesCellular: plan.refusesCellular,
                recorder: try JobRecorder(folder, loader.disk), log: log, wantsChecksums: wantsChecksums,
                explain: explain)
            listener = try JobListener(folder)
        } catch {
            refuse("\(error)")
            return 2
        }
        work.recorder.addNow(.started(process: getpid(), time: Self.now))
        if let fault = work.recorder.fault {
            refuse(fault.description)
            return 2
        }
        answer(JobMessage.begun)
        let before = JobStatus(name, plan, events, isRunning: true).bytesFetched
        let reporting = Task { await storeTraffic(of: loader.downloader.activity, before: before) }
        let task = Task { await work.run(paths: paths, pressure: pressure) }
        await withTaskCancellationHandler {
            listener.listen { task.cancel() }
            await task.value
        } onCancel: {
            task.cancel()
        }
        listener.stop()
        reporting.cancel()
        await reporting.value
        return finish(work, log, loader.disk, isCancelled: task.isCancelled)
    }

    /// How often the received bytes are stored.
    private static let trafficPause = Duration.milliseconds(250)

    /// Stores the received bytes as they change, until the task is cancelled, for displays in other processes.
    /// - Parameter before: the bytes that earlier runs have fetched.
    private func storeTraffic(of activity: NetworkActivity, before: Int) async {
        var stored: NetworkActivity.Traffic?
        var isOver = false
        repeat {
            // Checked first: the last bytes are stored too.
            isOver = Task.isCancelled
            var traffic = activity.traffic
            traffic.received += before
            if traffic != stored {
                stored = traffic
                await BlockingThreads.runOnOwnThread { [folder, traffic] in
                    // Ignored: only the display lacks these bytes.
                    try? folder.store(traffic)
                }
            }
            // Ignored: the loop checks for cancellation.
            if !isOver { try? await Task.sleep(for: Self.trafficPause) }
        } while !isOver
    }

    /// Records the end.
    private func finish(_ work: JobWork, _ log: JobLog, _ disk: DiskCache?, isCancelled: Bool) -> Int32 {
        if let fault = work.recorder.fault {
            log.add("the job stops: its results cannot be written: \(fault)")
            return 2
        }
        var status: Int32 = 130
        // Ignored: without readable results no image counts as finished.
        let events = (try? folder.events()) ?? []
        let now = JobStatus(name, plan, events, isRunning: true)
        if now.finished >= now.total || !isCancelled {
            status = now.failed == 0 ? 0 : now.failed < now.finished ? 1 : 2
        }
        if let fault = disk?.counters.lastFault {
            log.add("the cache has a fault: \(fault)")
            if status == 0 { status = 1 }
        }
        work.recorder.addNow(.ended(status: status, time: Self.now))
        return status
    }

    private static var now: Double { Date().timeIntervalSince1970 }

    private func answer(_ bytes: [UInt8]) {
        guard let descriptor = connection.withLock({ $0.take() }) else { return }
        // The job continues without its starter.
        _ = SessionProcess.sendAll(bytes, to: Descriptor(descriptor))
    }
}

/// Waits on a thread of its own for the message that cancels the job.
private final class JobListener: Sendable {
    private let pipe: Int32
    private let end: WakeDescriptor

    init(_ folder: JobFolder) throws {
        end = try WakeDescriptor()
        let pipe = try folder.calls.openPipe(JobFolder.control, in: try folder.calls.openFolder(folder.path))
        // This object closes the copy.
        self.pipe = dup(pipe.number)
        if self.pipe < 0 { throw ResourceShortage(missing: .descriptor, code: errno) }
    }

    deinit { close(pipe) }

    func listen(cancel: @escaping @Sendable () -> Void) {
        // Ignored: without a thread the job runs, and a signal can end it.
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

/// Works on the remaining images of a job.
struct JobWork: Sendable {
    struct Piece: Sendable {
        let index: Int
        let request: ImageRequest
    }

    let pieces: [Piece]
    /// Loads the images on this machine.
    let local: Prewarmer
    /// Loads those of other machines.
    let remote: Prewarmer
    let refusesCellular: Bool
    let recorder: JobRecorder
    let log: JobLog
    let wantsChecksums: Bool
    let explain: @Sendable (ImageLoadingError) -> String

    /// How long a job waits before it retries images that failed without a network. By then the path monitor has
    /// reported it.
    private static let pause = Duration.seconds(1)

    /// Returns when all images are done, or the task is cancelled, and all results are written.
    func run(paths: some AsyncSequence<NetworkPath, Never> & Sendable, pressure: MemoryPressure) async {
        let localPieces = pieces.filter(\.request.url.isOfThisMachine)
        let remotePieces = pieces.filter { !$0.request.url.isOfThisMachine }
        let gate = JobGate(
            local: local, remote: remote, remoteRequests: remotePieces.map(\.request),
            refusesCellular: refusesCellular
        ) { [recorder] wait in recorder.add(.waiting(wait)) }
        let writing = Task { [recorder, local, remote] in
            await recorder.write {
                // Without results the work would be lost.
                for prewarmer in [local, remote] { prewarmer.finish() }
            }
        }
        await withTaskGroup(of: Void.self) { watch in
            watch.addTask { for await path in paths { await gate.record(path) } }
            watch.addTask { for await level in pressure { await gate.record(level) } }
            async let localWork: Void = work(on: localPieces, by: local, needsNetwork: false)
            async let remoteWork: Void = work(on: remotePieces, by: remote, needsNetwork: true)
            _ = await (localWork, remoteWork)
            watch.cancelAll()
        }
        recorder.finish()
        await writing.value
    }

    /// Runs until each piece has a result. Pieces that were cancelled without a network begin again.
    private func work(on pieces: [Piece], by prewarmer: Prewarmer, needsNetwork: Bool) async {
        var rest = pieces
        while !rest.isEmpty, !Task.isCancelled, recorder.fault == nil {
            let now = rest
            var done: Set<Int> = []
            await prewarmer.run(now.map(\.request)) { result in
                let index = now[result.index].index
                guard !(needsNetwork && lacksNetwork(result.outcome)),
                    let record = JobResult(
                        result, index: index, wantsChecksum: wantsChecksums, explain: explain)
                else { return }
                done.insert(index)
                recorder.add(.result(record))
                guard let error = record.error else { return }
                await BlockingThreads.runOnOwnThread { [log] in log.add(error.message) }
            }
            rest.removeAll { done.contains($0.index) }
            // Ignored: the loop checks for cancellation.
            if !rest.isEmpty { try? await Task.sleep(for: Self.pause) }
        }
    }

    /// Whether an image failed because there is no network, and so must be loaded again.
    private func lacksNetwork(_ outcome: Prewarmer.Outcome) -> Bool {
        guard case .failed(let error) = outcome else { return false }
        switch error {
        case .hostNotFound, .connectionFailed, .connectionLost, .timedOut:
            return PathMonitor.currentPath().reach == .none
        default: return false
        }
    }
}

extension URL {
    /// Whether it needs no network: a `file:` or `data:` URL, or a server on the loopback interface.
    package var isOfThisMachine: Bool {
        isLocal || HostAndPort(host: lowercasedHost, port: nil).isLoopback
    }
}

/// Pauses and resumes the images of a job: all of them while memory is short, and those of other machines while there
/// is no network, or only one that the plan refuses.
actor JobGate {
    /// The conditions for loading, as plain values.
    struct Conditions {
        let refusesCellular: Bool
        /// Nil before the first report; images of other machines wait for it.
        var path: NetworkPath?
        var level = MemoryPressure.Level.normal

        /// Why images on this machine wait.
        var localWait: JobWait? { level > .normal ? .memory : nil }

        /// Why images of other machines wait.
        var remoteWait: JobWait? {
            if let localWait { return localWait }
            guard let path else { return nil }
            if path.reach == .none { return .network }
            return refusesCellular && path.link == .cellular ? .otherNetwork : nil
        }
    }

    private var conditions: Conditions
    private let local: Prewarmer
    private let remote: Prewarmer
    private let remoteRequests: [ImageRequest]
    private let notify: @Sendable (JobWait?) -> Void
    private var reported: JobWait?

    /// - Parameters:
    ///   - local: loads the images on this machine.
    ///   - remote: loads `remoteRequests`. It is paused until the network is known.
    ///   - notify: receives the reason for waiting, when it changes.
    init(
        local: Prewarmer, remote: Prewarmer, remoteRequests: [ImageRequest], refusesCellular: Bool,
        notify: @escaping @Sendable (JobWait?) -> Void
    ) {
        conditions = Conditions(refusesCellular: refusesCellular)
        (self.local, self.remote, self.remoteRequests, self.notify) = (local, remote, remoteRequests, notify)
        remote.isPaused = true
    }

    func record(_ path: NetworkPath) {
        conditions.path = path
        apply()
    }

    func record(_ level: MemoryPressure.Level) {
        conditions.level = level
        apply()
    }

    private func apply() {
        let (localWait, remoteWait) = (conditions.localWait, conditions.remoteWait)
        local.isPaused = localWait != nil
        remote.isPaused = remoteWait != nil || conditions.path == nil
        // Running transfers would fail or cost money. They are resumed later.
        if remoteWait == .network || remoteWait == .otherNetwork { remote.cancel(remoteRequests) }
        let wait = remoteRequests.isEmpty ? localWait : remoteWait
        guard wait != reported else { return }
        reported = wait
        notify(wait)
    }
}
