/// Fills the disk tier ahead of time: every image of a list, each fetched at most once, what is there already skipped while
/// it is fresh, and revalidated when it is not.
/// A run that was killed goes on where it stopped, because everything it stored is there; no failure stops the rest.
///
/// It works in the background: its transfers wait for those of a higher priority. `pause()`, `resume()` and `stop()` act on
/// every run of this prewarmer, and of its copies.
public struct Prewarmer: Sendable {
    /// What became of one image.
    public enum Outcome: Sendable {
        /// A tier has it already, revalidated or not, or it is local.
        case alreadyCached(LoadedFile)
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
        /// How long it took, waiting for a place included.
        public let duration: Duration
        /// How much of that its transfer waited for a place.
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
        /// Images not tried, because the run was cancelled or stopped.
        public var cancelled = 0
        /// Bytes fetched.
        public var bytesFetched = 0
    }

    private let loader: FileLoader
    private let concurrency: Int
    private let gate = PrewarmGate()

    /// A prewarmer that fills `loader`'s disk tier.
    /// - Parameter concurrency: images worked on at once; the loader's downloader has limits of its own. Default 32.
    public init(_ loader: FileLoader, concurrency: Int = 32) {
        self.loader = loader
        self.concurrency = max(1, concurrency)
    }

    /// Begins no image until `resume()`; what runs goes on.
    public func pause() { gate.shut() }

    /// Goes on after `pause()`.
    public func resume() { gate.open() }

    /// Begins no image any more, for good; what runs goes on to its end. What was not begun counts as cancelled.
    public func stop() { gate.stop() }

    /// Works through `requests` in order and reports each as soon as it is done, one at a time. Returns when everything
    /// fetched is on disk. Cancelling the calling task stops what runs and begins nothing more. Runs where its caller does.
    /// - Parameters:
    ///   - priority: how urgent the transfers are, whatever the requests say. Default `.low`: below what is loaded to be
    ///     looked at.
    ///   - report: is told what became of each image, on the caller's actor.
    public nonisolated(nonsending) func run(
        _ requests: [ImageRequest], priority: ImageRequest.Priority = .low,
        report: nonisolated(nonsending) (ItemResult) async -> Void = { _ in }
    ) async -> Summary {
        var summary = Summary()
        await withTaskGroup(of: ItemResult.self) { group in
            var next = 0
            func begin() {
                guard next < requests.count, !Task.isCancelled else { return }
                let index = next
                next += 1
                var request = requests[index]
                request.priority = priority
                group.addTask { [request] in await warm(request, index: index) }
            }
            for _ in 0..<concurrency { begin() }
            while let result = await group.next() {
                summary.count(result.outcome)
                if !result.isCancelled { await report(result) }
                begin()
            }
            summary.cancelled += requests.count - next
        }
        await loader.flush()
        return summary
    }

    private func warm(_ request: ImageRequest, index: Int) async -> ItemResult {
        guard await gate.pass() else {
            let cancelled = ImageLoadingError.cancelled(url: request.url.displayText)
            return ItemResult(
                index: index, request: request, outcome: .failed(cancelled), duration: .zero, queued: .zero)
        }
        let (loaded, timing) = await loader.timedFile(for: request)
        let outcome: Outcome
        switch loaded {
        case .success(let image):
            outcome = [.network, .resumed].contains(image.source) ? .fetched(image) : .alreadyCached(image)
        case .failure(let error): outcome = .failed(error)
        }
        return ItemResult(
            index: index, request: request, outcome: outcome, duration: timing.total, queued: timing.queued)
    }
}

extension Prewarmer.ItemResult {
    /// Whether the image was given up because the run was cancelled.
    var isCancelled: Bool {
        if case .failed(.cancelled) = outcome { return true }
        return false
    }
}

extension Prewarmer.Summary {
    mutating func count(_ outcome: Prewarmer.Outcome) {
        switch outcome {
        case .alreadyCached(let image):
            alreadyCached += 1
            if image.source == .revalidated { revalidated += 1 }
        case .fetched(let image):
            fetched += 1
            bytesFetched += image.bytes.count
        case .failed(.cancelled): cancelled += 1
        case .failed: failed += 1
        }
    }
}
