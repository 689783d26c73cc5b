import SystemSupport

/// Prefetches a list of images: loads them into a loader's tiers ahead of time. Fresh images are skipped, stale ones
/// revalidated. A run after a kill continues where the last one stopped, since the stored files are fresh. A failure
/// does not stop the run.
///
///     let prewarmer = Prewarmer(loader)
///     await prewarmer.run(requests)
///
/// Its transfers have a low priority by default. ``isPaused`` and ``finish()`` affect all runs of this
/// prewarmer.
///
/// Safe for concurrent use from any thread or actor.
public final class Prewarmer: Sendable {
    /// The tiers to fill.
    public enum Destination: Sendable, Hashable, CaseIterable {
        /// Files in the disk tier, without decoding; and the results of requests that store them.
        case disk
        /// Decoded images in the memory tier, at the sizes of their requests, and their files in the disk tier.
        case memory
    }

    /// The outcome for one image.
    public enum Outcome: Sendable {
        /// A tier has the file already, revalidated or not, or the file is local.
        case alreadyCached(LoadedFile)
        /// Memory has the decoded image already, with the destination `memory`.
        case alreadyDecoded(LoadedImage)
        /// The file was fetched and stored.
        case fetched(LoadedFile)
        /// The load failed.
        case failed(ImageLoadingError)
    }

    /// The outcome for one image, with its timing.
    public struct ItemResult: Sendable {
        /// The index of the request in the list, from 0.
        public let index: Int
        /// The request of the image.
        public let request: ImageRequest
        /// The outcome.
        public let outcome: Outcome
        /// The duration, including the wait for slots.
        public let duration: Duration
        /// How long its transfer waited for slots.
        public let queued: Duration
    }

    /// The counts of a whole run.
    public struct Summary: Sendable, Hashable {
        /// Images that a tier already had.
        public var alreadyCached = 0
        /// Of those, images that were revalidated.
        public var revalidated = 0
        /// Images fetched and stored.
        public var fetched = 0
        /// Images whose loads failed.
        public var failed = 0
        /// Images not begun or cancelled, because the run or the image was cancelled or stopped.
        public var cancelled = 0
        /// Bytes fetched.
        public var bytesFetched = 0

        /// All counts are zero.
        package init() {}
    }

    private enum Phase { case open, paused, stopped }

    private struct State {
        var phase = Phase.open
        var lastNumber = 0
        /// The stopped images of each run.
        var runs: [Int: Set<LoadKey>] = [:]
        /// The images that are loading or wait for the end of a pause.
        var tasks: [Int: (key: LoadKey, task: Task<ItemResult, Never>)] = [:]
        /// The images that wait for the end of a pause.
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]

        func isStopped(_ key: LoadKey, in run: Int) -> Bool { runs[run]?.contains(key) == true }

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let files: FileLoader
    /// Decodes the images; nil for a prewarmer of files.
    private let images: ImageLoader?
    private let destination: Destination
    private let concurrency: Int
    private let state = Lock(State())

    /// A prewarmer that fills `loader`'s disk tier, and its memory tier, if it has one.
    /// - Parameters:
    ///   - loader: the loader to fill.
    ///   - concurrency: the most images at once; the loader's limits for transfers hold too. Default: 32.
    public init(_ loader: FileLoader, concurrency: Int = 32) {
        files = loader
        images = nil
        destination = .disk
        self.concurrency = max(1, concurrency)
    }

    /// A prewarmer that fills `loader`'s tiers.
    /// - Parameters:
    ///   - loader: the loader to fill. Default: the shared one.
    ///   - destination: the tiers to fill. Default: memory, which evicts images that exceed its limit.
    ///   - concurrency: the most images at once; the loader's limits for transfers hold too. Default: 32.
    public init(
        _ loader: ImageLoader = .shared, destination: Destination = .memory, concurrency: Int = 32
    ) {
        files = loader.files
        images = loader
        self.destination = destination
        self.concurrency = max(1, concurrency)
    }

    // MARK: Control

    /// Whether no image begins. Running loads continue. Default: false.
    public var isPaused: Bool {
        get { state.withLock { $0.phase == .paused } }
        set { setPhase(newValue ? .paused : .open) }
    }

    /// Begins no more images. Running loads finish. Images that were not begun count as cancelled. Cannot be undone.
    public func finish() { setPhase(.stopped) }

    /// Cancels these images in the present runs, whether begun or not. A transfer with other callers continues. Later
    /// runs may load them.
    /// - Parameter requests: requests of ``run(_:priority:report:)``; their priorities do not matter.
    public func cancel(_ requests: [ImageRequest]) {
        let keys = Set(requests.map(LoadKey.init))
        let tasks = state.withLock { state in
            for run in state.runs.keys { state.runs[run]?.formUnion(keys) }
            return state.tasks.values.filter { keys.contains($0.key) }.map(\.task)
        }
        for task in tasks { task.cancel() }
    }

    /// How many images wait for the end of a pause.
    package var waitingCount: Int { state.withLock { $0.waiters.count } }

    private func setPhase(_ phase: Phase) {
        let waiters = state.withLock { state in
            guard state.phase != .stopped else { return [CheckedContinuation<Bool, Never>]() }
            state.phase = phase
            if phase == .paused { return [] }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: phase == .open) }
    }

    /// Waits while the prewarmer is paused. False if the image must not begin: the prewarmer was stopped, or the task
    /// cancelled.
    private func waitUntilOpen() async -> Bool {
        let number = state.withLock { $0.nextNumber() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    // An earlier cancellation is seen here. A later one waits for the lock, and finds the waiter.
                    if Task.isCancelled { return false }
                    switch state.phase {
                    case .open: return true
                    case .stopped: return false
                    case .paused:
                        state.waiters[number] = continuation
                        return nil
                    }
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: false)
        }
    }

    // MARK: A run

    /// Loads `requests` in order, and reports each image when it is done, one at a time. Returns when all fetched files
    /// are on disk. Cancelling the calling task cancels the run. Runs on the caller's actor.
    /// - Parameters:
    ///   - requests: the images to load, in order.
    ///   - priority: the priority of the transfers, in place of the requests' own. Default: `.low`.
    ///   - report: receives the outcome for each image, on the caller's actor. Not called for cancelled images.
    @discardableResult
    public nonisolated(nonsending) func run(
        _ requests: [ImageRequest], priority: ImageRequest.Priority = .low,
        report: nonisolated(nonsending) (ItemResult) async -> Void = { _ in }
    ) async -> Summary {
        var summary = Summary()
        let run = state.withLock { state in
            let run = state.nextNumber()
            state.runs[run] = []
            return run
        }
        await withTaskGroup(of: ItemResult.self) { group in
            var next = 0
            func start() {
                guard next < requests.count, !Task.isCancelled else { return }
                let index = next
                next += 1
                var request = requests[index]
                request.priority = priority
                group.addTask { [request] in await self.loadInTask(request, index: index, of: run) }
            }
            for _ in 0..<concurrency { start() }
            while let result = await group.next() {
                summary.count(result.outcome)
                if !result.isCancelled { await report(result) }
                start()
            }
            summary.cancelled += requests.count - next
        }
        state.withLock { $0.runs[run] = nil }
        await files.flush()
        return summary
    }

    /// Loads one image in its own task, so that it can be stopped.
    private func loadInTask(_ request: ImageRequest, index: Int, of run: Int) async -> ItemResult {
        let key = LoadKey(request)
        if state.withLock({ $0.isStopped(key, in: run) }) { return cancelled(request, index: index) }
        let task = Task {
            await waitUntilOpen() ? await load(request, index: index) : cancelled(request, index: index)
        }
        let (number, isStopped) = state.withLock { state in
            let number = state.nextNumber()
            state.tasks[number] = (key, task)
            // The image may have been stopped meanwhile.
            return (number, state.isStopped(key, in: run))
        }
        if isStopped { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        state.withLock { $0.tasks[number] = nil }
        return result
    }

    private func cancelled(_ request: ImageRequest, index: Int) -> ItemResult {
        ItemResult(
            index: index, request: request, outcome: .failed(.cancelled(url: request.url.displayText)),
            duration: .zero, queued: .zero)
    }

    private func load(_ request: ImageRequest, index: Int) async -> ItemResult {
        let clock = ContinuousClock()
        let start = clock.now
        let result: Result<Outcome, ImageLoadingError>
        let timing: LoadTiming
        if let images, destination == .memory || request.storesResult != nil {
            var request = request
            if destination == .disk { request.options.usesMemory = false }
            let loaded = await images.timedImage(for: request)
            timing = loaded.timing
            result = loaded.image.map { loaded.file.map(Self.outcome) ?? .alreadyDecoded($0) }
        } else {
            let loaded = await files.timedFile(for: request)
            timing = loaded.timing
            result = loaded.file.map(Self.outcome)
        }
        let outcome =
            switch result {
            case .success(let outcome): outcome
            case .failure(let error): Outcome.failed(error)
            }
        return ItemResult(
            index: index, request: request, outcome: outcome, duration: clock.now - start,
            queued: timing.queued)
    }

    private static func outcome(_ file: LoadedFile) -> Outcome {
        [.network, .resumed].contains(file.source) ? .fetched(file) : .alreadyCached(file)
    }
}

extension Prewarmer.ItemResult {
    /// Whether the image was cancelled, with its run or by `stop`.
    var isCancelled: Bool { if case .failed(.cancelled) = outcome { true } else { false } }
}

extension Prewarmer.Summary {
    mutating func count(_ outcome: Prewarmer.Outcome) {
        switch outcome {
        case .alreadyCached(let file):
            alreadyCached += 1
            if file.source == .revalidated { revalidated += 1 }
        case .alreadyDecoded: alreadyCached += 1
        case .fetched(let file):
            fetched += 1
            bytesFetched += file.bytes.count
        case .failed(.cancelled): cancelled += 1
        case .failed: failed += 1
        }
    }
}
