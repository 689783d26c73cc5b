import Coalescing
import FoundationEssentials
import ImageCodecs

/// One caller's load of one image. The load begins with the task. All tasks for the same image and size share it.
///
///     let task = loader.task(for: request)
///     for await progress in task.progress { show(progress) }
///     let image = try await task.value
///
/// Safe for concurrent use from any thread or actor. Releasing a task does not cancel it; ``cancel()`` does.
public final class ImageTask: Sendable {
    /// The request of the load.
    public let request: ImageRequest

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
        let flight = ImageFlight { .cancelled(url: request.url.displayText) }
        self.init(request, flight.firstCaller(request.priority.rawValue))
        flight.run { () throws(ImageLoadingError) in try await work(request) }
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

    /// This caller's priority: the request's, until it is set. A waiting transfer has the highest priority of all its
    /// callers. Setting it has no effect once the load has finished.
    public var priority: ImageRequest.Priority {
        get { caller?.priority.flatMap(ImageRequest.Priority.init) ?? request.priority }
        set { caller?.setPriority { newValue.rawValue } }
    }

    /// The progress of the transfer. A slow reader gets only the newest value. Ends with the load. Each use makes a new
    /// sequence.
    public var progress: AsyncStream<TransferProgress> {
        stream(.bufferingNewest(1)) { event in
            if case .progress(let progress, _) = event { progress } else { nil }
        }
    }

    /// Previews of a progressive JPEG during the download, at about the wanted size: at most six, each with twice the
    /// bytes of the last one. Made only while somebody reads this property. Ends with the load. Each use makes a new
    /// sequence.
    public var previews: AsyncStream<ImagePreview> {
        stream(.unbounded, isDemanding: true) { event in
            if case .preview(let preview) = event { preview } else { nil }
        }
    }

    private func stream<Element: Sendable>(
        _ policy: AsyncStream<Element>.Continuation.BufferingPolicy, isDemanding: Bool = false,
        of element: @escaping @Sendable (LoadEvent) -> Element?
    ) -> AsyncStream<Element> {
        caller?.stream(policy, isDemanding: isDemanding, of: element) ?? AsyncStream { $0.finish() }
    }

    /// Adds a listener. It hears the last events at once, and all later ones.
    func listen(_ listener: LoadListener) {
        if let caller { caller.listen(listener) } else { listener.hear(nil) }
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
