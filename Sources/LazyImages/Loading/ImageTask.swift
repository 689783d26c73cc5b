import FoundationEssentials
import ImageCodecs

/// One caller's load of one image. The load begins when the task is made, and is shared by all tasks for the same image and
/// size.
///
///     let task = loader.task(for: request)
///     for await progress in task.progress { show(progress) }
///     let image = try await task.value
///
/// Safe for concurrent use from any thread or actor. A task that is let go of goes on; ``cancel()`` ends it.
public final class ImageTask: Sendable {
    /// What is loaded.
    public let request: ImageRequest

    private let load: SharedTask<LoadedImage>
    private let caller: Int

    init(_ request: ImageRequest, _ load: SharedTask<LoadedImage>, caller: Int) {
        self.request = request
        self.load = load
        self.caller = caller
    }

    /// A task with an image that is there already.
    convenience init(_ request: ImageRequest, _ image: LoadedImage) {
        let load = SharedTask<LoadedImage>(url: request.url, outcome: .success(image))
        self.init(request, load, caller: load.joinDone(request.priority))
    }

    /// A task for a loader of the caller's own.
    /// - Parameters:
    ///   - request: what to load.
    ///   - work: loads the image. It is cancelled when the task is.
    public convenience init(
        _ request: ImageRequest,
        work: @escaping @Sendable (ImageRequest) async throws(ImageLoadingError) -> LoadedImage
    ) {
        let load = SharedTask<LoadedImage>(url: request.url)
        self.init(request, load, caller: load.join(request.priority) ?? 0)
        load.run({ () throws(ImageLoadingError) in try await work(request) }, finish: load.finish)
    }

    /// The image. Cancelling a task that waits for it cancels this task.
    /// - Throws: whatever stands between the URL and its image; `.cancelled` after ``cancel()``.
    public var value: LoadedImage {
        get async throws(ImageLoadingError) { try await load.value(for: caller) }
    }

    /// How urgent the load is for this caller: the request's priority, unless it was set. A transfer that waits for a slot
    /// goes by the highest priority of all who wait for it. Setting it does nothing once the image is there.
    public var priority: ImageRequest.Priority {
        get { load.priority(of: caller) ?? request.priority }
        set { load.setPriority(of: caller) { newValue } }
    }

    /// How far the transfer is: the newest value that was not read. Ends with the load. Each use is a sequence of its own.
    public var progress: AsyncStream<TransferProgress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { progress in
            load.listen(
                TaskListener { event in
                    switch event {
                    case .progress(let value, _): progress.yield(value)
                    case .ended: progress.finish()
                    case .started, .sent, .preview, .file: break
                    }
                }, for: caller)
        }
    }

    /// What a progressive JPEG looks like while it is downloaded, at about the size wanted: six previews at most, each of
    /// twice the bytes of the one before. None are made unless somebody asks. Ends with the load. Each use is a sequence of
    /// its own.
    public var previews: AsyncStream<ImagePreview> {
        AsyncStream { previews in
            load.listen(
                TaskListener(wantsPreviews: true) { event in
                    switch event {
                    case .preview(let preview): previews.yield(preview)
                    case .ended: previews.finish()
                    case .started, .progress, .sent, .file: break
                    }
                }, for: caller)
        }
    }

    /// Has a listener told what happens from now on, and at once how far things are.
    func listen(_ listener: TaskListener) { load.listen(listener, for: caller) }

    /// The image or why there is none; nil as long as neither is known.
    var outcome: Result<LoadedImage, ImageLoadingError>? { load.outcome(for: caller) }

    /// Leaves the load, which goes on if others wait for it. Does nothing once the image is there.
    public func cancel() { load.leave(caller) }
}
