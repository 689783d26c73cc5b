import SystemSupport

/// Fills a loader's tiers ahead of time: every image of a list, each fetched at most once, what is there already skipped
/// while it is fresh, and revalidated when it is not.
/// A run that was killed goes on where it stopped, because everything it stored is there; no failure stops the rest.
///
///     let prewarmer = Prewarmer(loader)
///     await prewarmer.run(requests)
///
/// It works in the background: its transfers wait for those of a higher priority. ``pause()``, ``resume()`` and
/// ``stop()`` act on every run of this prewarmer.
///
/// Safe for concurrent use from any thread or actor.
public final class Prewarmer: Sendable {
    /// Where the images are kept.
    public enum Destination: Sendable, Hashable, CaseIterable {
        /// The file in the disk tier: costs no decoding and no memory.
        case disk
        /// The image in the memory tier, decoded to the size its request wants, and its file in the disk tier.
        case memory
    }

    /// What became of one image.
    public enum Outcome: Sendable {
        /// A tier has its file already, revalidated or not, or it is local.
        case alreadyCached(LoadedFile)
        /// Memory has the image already, where memory is the destination.
        case alreadyDecoded(LoadedImage)
        /// It was fetched and stored.
        case fetched(LoadedFile)
        /// It could not be had.
        case failed(ImageLoadingError)
    }

    /// One image's outcome.
    public struct ItemResult: Sendable {
        /// Where in the list it stands, from 0.
        public let index: Int
        /// What was asked for.
        public let request: ImageRequest
        /// What became of it.
        public let outcome: Outcome
        /// How long it took, waiting for a slot included.
        public let duration: Duration
        /// How much of that its transfer waited for a slot.
        public let queued: Duration
    }

    /// What became of a whole list.
    public struct Summary: Sendable, Hashable {
        /// Images that were there already.
        public var alreadyCached = 0
        /// Of those, images about which the server was asked.
        public var revalidated = 0
        /// Images fetched and stored.
        public var fetched = 0
        /// Images that could not be had.
        public var failed = 0
        /// Images not tried or given up, because the run was cancelled or stopped, or they were.
        public var cancelled = 0
        /// Bytes fetched.
        public var bytesFetched = 0

        /// Nothing yet.
        package init() {}
    }

    private enum Phase { case open, paused, stopped }

    private struct State {
        var phase = Phase.open
        var lastNumber = 0
        /// What was stopped of each run under way.
        var runs: [Int: Set<LoadKey>] = [:]
        /// The images that are worked on or wait for `resume()`.
        var tasks: [Int: (key: LoadKey, task: Task<ItemResult, Never>)] = [:]
        /// Those that wait.
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]

        func isStopped(_ key: LoadKey, in run: Int) -> Bool { runs[run]?.contains(key) == true }

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let files: FileLoader
    /// Decodes; nil where the disk is the destination.
    private let images: ImageLoader?
    private let concurrency: Int
    private let state = Lock(State())

    /// A prewarmer that fills `loader`'s disk tier, and its memory for files, if it has one.
    /// - Parameters:
    ///   - loader: the loader to fill.
    ///   - concurrency: images worked on at once; the loader's downloader has limits of its own. Default 32.
    public init(_ loader: FileLoader, concurrency: Int = 32) {
        files = loader
        images = nil
        self.concurrency = max(1, concurrency)
    }

    /// A prewarmer that fills `loader`'s tiers.
    /// - Parameters:
    ///   - loader: the loader to fill.
    ///   - destination: where the images are kept. Default: memory. More than memory has room for push each other out
    ///     of it.
    ///   - concurrency: images worked on at once; the loader's downloader has limits of its own. Default 32.
    public init(_ loader: ImageLoader, destination: Destination = .memory, concurrency: Int = 32) {
        files = loader.files
        images = destination == .memory ? loader : nil
        self.concurrency = max(1, concurrency)
    }

    // MARK: Control

    /// Begins no image until ``resume()``; what runs goes on.
    public func pause() { state.withLock { if $0.phase == .open { $0.phase = .paused } } }

    /// Goes on after ``pause()``.
    public func resume() { enter(.open) }

    /// Begins no image any more, for good; what runs goes on to its end. What was not begun counts as cancelled.
    public func stop() { enter(.stopped) }

    /// Gives up these images in the runs under way, begun or not; later runs may have them. A transfer that others wait for
    /// goes on.
    /// - Parameter requests: as they were given to ``run(_:priority:report:)``; priorities do not matter.
    public func stop(_ requests: [ImageRequest]) {
        let keys = Set(requests.map(LoadKey.init))
        let tasks = state.withLock { state in
            for run in state.runs.keys { state.runs[run]?.formUnion(keys) }
            return state.tasks.values.filter { keys.contains($0.key) }.map(\.task)
        }
        for task in tasks { task.cancel() }
    }

    /// How many images wait for `resume()`.
    var waitingCount: Int { state.withLock { $0.waiters.count } }

    private func enter(_ phase: Phase) {
        let waiters = state.withLock { state in
            guard state.phase != .stopped else { return [CheckedContinuation<Bool, Never>]() }
            state.phase = phase
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: phase == .open) }
    }

    /// Waits while the prewarmer is paused. False: the image is not to begin, because of a stop or because its task is
    /// cancelled.
    private func mayBegin() async -> Bool {
        let number = state.withLock { $0.nextNumber() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    // A cancellation before this line is seen here. One after it finds the waiter, since it needs the lock.
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

    /// Works through `requests` in order and reports each as soon as it is done, one at a time. Returns when everything
    /// fetched is on disk. Cancelling the calling task stops what runs and begins nothing more. Runs where its caller does.
    /// - Parameters:
    ///   - requests: what to load, the first one first.
    ///   - priority: how urgent the transfers are, whatever the requests say. Default `.low`: below what is loaded to
    ///     be looked at.
    ///   - report: is told what became of each image, on the caller's actor; of one that was given up, nothing.
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
            func begin() {
                guard next < requests.count, !Task.isCancelled else { return }
                let index = next
                next += 1
                var request = requests[index]
                request.priority = priority
                group.addTask { [request] in await self.warm(request, index: index, of: run) }
            }
            for _ in 0..<concurrency { begin() }
            while let result = await group.next() {
                summary.count(result.outcome)
                if !result.isCancelled { await report(result) }
                begin()
            }
            summary.cancelled += requests.count - next
        }
        state.withLock { $0.runs[run] = nil }
        await files.flush()
        return summary
    }

    /// Works on one image in a task of its own, so that it can be stopped.
    private func warm(_ request: ImageRequest, index: Int, of run: Int) async -> ItemResult {
        let key = LoadKey(request)
        if state.withLock({ $0.isStopped(key, in: run) }) { return cancelled(request, index: index) }
        let task = Task {
            await mayBegin() ? await load(request, index: index) : cancelled(request, index: index)
        }
        let (number, isStopped) = state.withLock { state in
            let number = state.nextNumber()
            state.tasks[number] = (key, task)
            // It may have been stopped since.
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
        if let image = images?.usableImage(for: request, isFirstLook: true) {
            return ItemResult(
                index: index, request: request, outcome: .alreadyDecoded(image), duration: .zero,
                queued: .zero)
        }
        let clock = ContinuousClock()
        let start = clock.now
        let stamp = images?.stamp
        let (loaded, timing) = await files.timedFile(for: request)
        var outcome: Outcome
        do throws(ImageLoadingError) {
            let file = try loaded.get()
            if let images, let stamp { _ = try await images.image(for: request, in: file, since: stamp) }
            outcome = [.network, .resumed].contains(file.source) ? .fetched(file) : .alreadyCached(file)
        } catch {
            outcome = .failed(error)
        }
        return ItemResult(
            index: index, request: request, outcome: outcome, duration: clock.now - start,
            queued: timing.queued)
    }
}

extension Prewarmer.ItemResult {
    /// Whether the image was given up because the run was cancelled, or the image stopped.
    var isCancelled: Bool {
        if case .failed(.cancelled) = outcome { return true }
        return false
    }
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
