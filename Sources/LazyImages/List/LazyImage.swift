public import FoundationEssentials
public import ImageCodecs
public import Observation
import SystemSupport

/// One image for a view: what to draw now, and every change of it, by Swift's observation.
///
///     let poster = LazyImage(loader, placeholder: grey, failurePicture: broken)
///     poster.load(ImageRequest("https://example.org/posters/1.jpg", targetSize: size))
///     withObservationTracking { draw(poster.bitmap) } onChange: { redrawSoon() }
///
/// Safe for concurrent use from any thread or actor. `onChange` is called on the thread of the change: with
/// ``load(_:)`` the caller's, later no particular one. Releasing the object cancels its load.
public final class LazyImage: Observable, Sendable {
    private struct Content {
        var state = RowState.placeholder
        var request: ImageRequest?
        var task: ImageTask?
    }

    private let loader: any ImageLoading
    private let pictures: RowPictures
    private let content = Lock(Content())
    private let registrar = ObservationRegistrar()

    /// Shows the placeholder until a load begins.
    /// - Parameters:
    ///   - loader: loads the image. Default: the shared one.
    ///   - placeholder: the picture until there is an image or a preview. Default: nil, none.
    ///   - failurePicture: the picture after a failure. Default: nil, none.
    public init(
        _ loader: any ImageLoading = ImageLoader.shared, placeholder: Bitmap? = nil,
        failurePicture: Bitmap? = nil
    ) {
        self.loader = loader
        pictures = RowPictures(placeholder: placeholder, failure: failurePicture)
    }

    /// Begins to load the image at a URL, at its own size.
    /// - Parameters:
    ///   - url: an https, http, file or data URL; nil for none.
    ///   - loader: loads the image. Default: the shared one.
    public convenience init(url: URL?, loader: any ImageLoading = ImageLoader.shared) {
        self.init(loader)
        load(url.map { ImageRequest($0) })
    }

    deinit { content.withLock { $0.task }?.cancel() }

    /// The state of the load.
    public var state: RowState {
        registrar.access(self, keyPath: \.state)
        return content.withLock { $0.state }
    }

    /// The image, once it is loaded.
    public var image: LoadedImage? { state.image }
    /// Whether the image is loading.
    public var isLoading: Bool { state.isLoading }
    /// Why the load failed.
    public var error: ImageLoadingError? { state.error }

    /// What to draw: the image; while it loads its last preview, or the placeholder; after a failure the picture for it.
    public var bitmap: Bitmap? { pictures.bitmap(for: state) }

    /// Loads an image in place of the present one. An image in memory is shown at once. Does nothing if the request is
    /// that of the present image or load.
    /// - Parameter request: the image to load; nil for none, which shows the placeholder.
    public func load(_ request: ImageRequest?) {
        guard content.withLock({ $0.request != request }) else { return }
        start(request, as: request)
    }

    /// Loads the image again after a failure: from the network, even if the failure is remembered.
    public func retry() {
        let failed = content.withLock { content -> ImageRequest? in
            if case .failed = content.state { return content.request }
            return nil
        }
        guard let failed else { return }
        var again = failed
        again.retry()
        start(failed, as: again)
    }

    /// - Parameter sent: the request for the loader.
    private func start(_ request: ImageRequest?, as sent: ImageRequest?) {
        let image = sent.flatMap { $0.allowsMemory ? loader.cachedImage(for: $0) : nil }
        let task = image == nil ? sent.map { loader.imageTask(with: $0) } : nil
        let old = registrar.withMutation(of: self, keyPath: \.state) {
            content.withLock { content in
                defer {
                    content.request = request
                    content.task = task
                    content.state =
                        image.map { .loaded($0) }
                        ?? (task == nil
                            ? .placeholder
                            : .loading(progress: TransferProgress(received: 0, expected: nil), preview: nil))
                }
                return content.task
            }
        }
        old?.cancel()
        guard let task else { return }
        let events = task.events
        Task { [weak self] in
            for await event in events { self?.follow(event, of: task) }
        }
    }

    /// Takes an event, unless another load has begun meanwhile.
    private func follow(_ event: ImageTask.Event, of task: ImageTask) {
        switch event {
        // They change nothing that a view draws.
        case .waiting, .started: return
        case .progress, .preview, .finished: break
        }
        registrar.withMutation(of: self, keyPath: \.state) {
            content.withLock { content in
                guard content.task === task else { return }
                switch (event, content.state) {
                case (.progress(let progress), .loading(_, let preview)):
                    content.state = .loading(progress: progress, preview: preview)
                case (.preview(let preview), .loading(let progress, _)):
                    content.state = .loading(progress: progress, preview: preview)
                case (.finished(.success(let image)), _): content.state = .loaded(image)
                case (.finished(.failure(let error)), _):
                    content.state = .failed(reason: error, isRetryable: error.isRetryable)
                default: break
                }
            }
        }
    }
}
