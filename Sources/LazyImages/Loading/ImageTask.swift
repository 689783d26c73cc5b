import Coalescing
import FoundationEssentials
import SystemSupport

/// One caller's load of one image. The load begins with the task. All tasks for the same image and size share it.
///
///     let task = loader.imageTask(with: request)
///     for await progress in task.progress { show(progress) }
///     let image = try await task.value
///
/// Safe for concurrent use from any thread or actor. Releasing a task does not cancel it; ``cancel()`` does.
public final class ImageTask: Sendable {
    /// The request of the load.
    public let request: ImageRequest

    /// An event of a load.
    public enum Event: Sendable {
        /// The load waits: for its turn, or for another try.
        case waiting
        /// A transfer has begun. `queued` is how long it has waited for its turns so far.
        case started(queued: Duration)
        /// More of the file has arrived.
        case progress(TransferProgress)
        /// A picture of the bytes so far.
        case preview(ImagePreview)
        /// The image, or the reason why there is none. The last event.
        case finished(Result<LoadedImage, ImageLoadingError>)
    }

    /// Sends the events of a load of another program's loader.
    public struct Feed: Sendable {
        fileprivate let flight: ImageFlight

        /// The load begins to transfer bytes.
        /// - Parameter queued: how long it has waited.
        public func started(queued: Duration = .zero) { flight.emit(.started(queued: queued)) }

        /// More bytes have arrived.
        /// - Parameter progress: the bytes so far.
        public func progress(_ progress: TransferProgress) { flight.emit(.progress(progress, nil)) }

        /// A picture of the bytes so far.
        /// - Parameter preview: the picture.
        public func preview(_ preview: ImagePreview) { flight.emit(.preview(preview)) }

        /// The metrics of the load, before it ends.
        /// - Parameter metrics: the metrics.
        public func measured(_ metrics: LoadMetrics) { flight.emit(.measured(metrics)) }

        /// Whether somebody reads previews.
        public var wantsPreviews: Bool { flight.isDemanded }
    }

    private enum Load {
        case running(ImageFlight.Caller)
        /// Memory had the image.
        case done(LoadedImage)
    }

    private let load: Load

    init(_ request: ImageRequest, _ caller: ImageFlight.Caller) {
        (self.request, load) = (request, .running(caller))
    }

    /// A finished task with an image.
    init(_ request: ImageRequest, _ image: LoadedImage) {
        (self.request, load) = (request, .done(image))
    }

    /// A task for loaders of other programs.
    /// - Parameters:
    ///   - request: the image to load.
    ///   - work: loads the image. It is cancelled with the task.
    public convenience init(
        _ request: ImageRequest,
        work: @escaping @Sendable (ImageRequest) async throws(ImageLoadingError) -> LoadedImage
    ) {
        self.init(request, feeding: { request, _ async throws(ImageLoadingError) in try await work(request) })
    }

    /// A task for loaders of other programs that send events.
    /// - Parameters:
    ///   - request: the image to load.
    ///   - work: loads the image, and sends its events. It is cancelled with the task.
    public convenience init(
        _ request: ImageRequest,
        feeding work: @escaping @Sendable (ImageRequest, Feed) async throws(ImageLoadingError) -> LoadedImage
    ) {
        let flight = ImageFlight { .cancelled(url: request.url.displayText) }
        self.init(request, flight.firstCaller(request.priority.rank))
        flight.run { () throws(ImageLoadingError) in try await work(request, Feed(flight: flight)) }
    }

    private var caller: ImageFlight.Caller? { if case .running(let caller) = load { caller } else { nil } }

    /// The image. Cancelling a task that waits for it cancels this load.
    /// - Throws: the reason why there is no image; `.cancelled` after ``cancel()``.
    public var value: LoadedImage {
        get async throws(ImageLoadingError) {
            switch load {
            case .running(let caller): try await caller.value
            case .done(let image): image
            }
        }
    }

    /// The image, or the reason why there is none, for a program that does not want to catch an error. Waits as
    /// ``value``.
    public var result: Result<LoadedImage, ImageLoadingError> {
        get async { await Result.of { () async throws(ImageLoadingError) in try await value } }
    }

    /// What the whole load took; nil while it runs.
    public var metrics: LoadMetrics? {
        guard let caller else { return LoadMetrics(source: .memory) }
        for case .measured(let metrics) in caller.flight.recentEvents { return metrics }
        return nil
    }

    /// This caller's priority: the request's, until it is set. A waiting transfer has the highest priority of all its
    /// callers. Setting it has no effect once the load has finished.
    public var priority: ImageRequest.Priority {
        get { caller?.priority.flatMap { ImageRequest.Priority(rawValue: $0) } ?? request.priority }
        set { caller?.setPriority { newValue.rank } }
    }

    /// The progress of the transfer. A slow reader gets only the newest value. Ends with the load. Each use makes a new
    /// sequence.
    public var progress: AsyncStream<TransferProgress> {
        stream(.bufferingNewest(1)) { event in
            if case .progress(let progress, _) = event { progress } else { nil }
        }
    }

    /// Previews of a progressive JPEG, a PNG, a WebP or a GIF during the download, at about the wanted size: at most six,
    /// each with twice the bytes of the last one. Made only while somebody reads this property. Ends with the load. Each
    /// use makes a new sequence.
    public var previews: AsyncStream<ImagePreview> {
        stream(.unbounded, isDemanding: true) { event in
            if case .preview(let preview) = event { preview } else { nil }
        }
    }

    /// What happens to the load, in order: `waiting`, then what came last and all that follows, and `finished` at the end.
    /// A slow reader gets the newest 64. Reading it asks for previews. Each use makes a new sequence.
    public var events: AsyncStream<Event> {
        guard let caller else {
            return AsyncStream { reader in
                if let outcome { reader.yield(.finished(outcome)) }
                reader.finish()
            }
        }
        return caller.stream(.bufferingNewest(64), isDemanding: true, beginningWith: .waiting) { event in
            switch event {
            case .interrupted: return .waiting
            case .started(let queued): return .started(queued: queued)
            case .progress(let progress, _): return .progress(progress)
            case .preview(let preview): return .preview(preview)
            case .measured, .file, .sent: return nil
            case nil: return caller.outcome.map { .finished($0) }
            }
        }
    }

    private func stream<Element: Sendable>(
        _ policy: AsyncStream<Element>.Continuation.BufferingPolicy, isDemanding: Bool = false,
        of element: @escaping @Sendable (LoadEvent?) -> Element?
    ) -> AsyncStream<Element> {
        caller?.stream(policy, isDemanding: isDemanding, of: element) ?? AsyncStream { $0.finish() }
    }

    /// Adds a listener. It receives the last events at once, and all later ones.
    func listen(_ listener: LoadListener) {
        if let caller { caller.listen(listener) } else { listener.receive(nil) }
    }

    /// The image or the error; nil before the load has finished.
    var outcome: Result<LoadedImage, ImageLoadingError>? {
        switch load {
        case .running(let caller): caller.outcome
        case .done(let image): .success(image)
        }
    }

    /// Cancels this caller's load. The shared load continues if others wait for it. Does nothing once the load has
    /// finished.
    public func cancel() { caller?.leave() }
}

/// Loads images for a list. Implemented by ``ImageLoader``, whose methods of the same names say more.
public protocol ImageLoading: Sendable {
    /// The image in memory, at once.
    /// - Parameter request: the image to load.
    func cachedImage(for request: ImageRequest) -> LoadedImage?

    /// Begins to load an image. Returns at once, so that loads begin in the order of the calls.
    /// - Parameter request: the image to load.
    func imageTask(with request: ImageRequest) -> ImageTask

    /// Keeps an image in memory until the pin is released. Nil if memory does not have the image.
    /// - Parameter request: the request of the image and its size.
    func pin(_ request: ImageRequest) -> MemoryPin?
}

extension ImageLoading {
    /// Nil, for loaders that cannot pin.
    /// - Parameter request: the request of the image and its size.
    public func pin(_ request: ImageRequest) -> MemoryPin? { nil }
}

extension ImageLoader: ImageLoading {}
