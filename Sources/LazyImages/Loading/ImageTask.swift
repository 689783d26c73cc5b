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

    private let load: SharedTask<LoadedImage>
    private let caller: Int

    init(_ request: ImageRequest, _ load: SharedTask<LoadedImage>, caller: Int) {
        self.request = request
        self.load = load
        self.caller = caller
    }

    /// A finished task with an image.
    convenience init(_ request: ImageRequest, _ image: LoadedImage) {
        let load = SharedTask<LoadedImage>(url: request.url, outcome: .success(image))
        self.init(request, load, caller: load.joinDone(request.priority))
    }

    /// A task for loaders of other programs.
    /// - Parameters:
    ///   - request: the image to load.
    ///   - work: loads the image. It is cancelled with the task.
    public convenience init(
        _ request: ImageRequest,
        work: @escaping @Sendable (ImageRequest) async throws(ImageLoadingError) -> LoadedImage
    ) {
        let load = SharedTask<LoadedImage>(url: request.url)
        self.init(request, load, caller: load.join(request.priority) ?? 0)
        load.run({ () throws(ImageLoadingError) in try await work(request) }, finish: load.finish)
    }

    /// The image. Cancelling a task that waits for it cancels this load.
    /// - Throws: the reason why there is no image; `.cancelled` after ``cancel()``.
    public var value: LoadedImage {
        get async throws(ImageLoadingError) { try await load.value(for: caller) }
    }

    /// This caller's priority: the request's, until it is set. A waiting transfer has the highest priority of all its
    /// callers. Setting it has no effect once the load has finished.
    public var priority: ImageRequest.Priority {
        get { load.priority(of: caller) ?? request.priority }
        set { load.setPriority(of: caller) { newValue } }
    }

    /// The progress of the transfer. A slow reader gets only the newest value. Ends with the load. Each use makes a new
    /// sequence.
    public var progress: AsyncStream<TransferProgress> {
        load.stream(for: caller, .bufferingNewest(1)) { event in
            if case .progress(let progress, _) = event { progress } else { nil }
        }
    }

    /// Previews of a progressive JPEG during the download, at about the wanted size: at most six, each with twice the
    /// bytes of the last one. Made only while somebody reads this property. Ends with the load. Each use makes a new
    /// sequence.
    public var previews: AsyncStream<ImagePreview> {
        load.stream(for: caller, .unbounded, wantsPreviews: true) { event in
            if case .preview(let preview) = event { preview } else { nil }
        }
    }

    /// Adds a listener. It hears the last events at once, and all later ones.
    func listen(_ listener: TaskListener) { load.listen(listener, for: caller) }

    /// The image or the error; nil before the load has finished.
    var outcome: Result<LoadedImage, ImageLoadingError>? { load.outcome(for: caller) }

    /// Cancels this caller's load. The shared load continues if others wait for it. Does nothing once the load has
    /// finished.
    public func cancel() { load.leave(caller) }
}
