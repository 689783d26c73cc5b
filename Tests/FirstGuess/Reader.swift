import Foundation
import LazyImages
import BackgroundTransfers

// A round avatar: crop to fill, then two processors in a row.
func guess01(_ loader: ImageLoader, _ url: URL) async throws -> Bitmap {
    let request = ImageRequest(
        url, targetSize: ImageSize(width: 96, height: 96), contentMode: .fill,
        processors: [.circle(), .grayscale])
    return try await loader.image(for: request).bitmap
}

// Rounded corners with a border, and a blur behind, as background of a detail page.
func guess02(_ url: URL) -> ImageRequest {
    ImageRequest(
        url,
        processors: [.blur(radius: 8), .roundedCorners(radius: 12, border: .init(color: .white, width: 2))])
}

// A processor of one's own.
struct Mirrored: ImageProcessing {
    var identifier: String { "com.example.mirrored" }
    func process(_ bitmap: Bitmap) throws -> Bitmap {
        bitmap.flipped(.horizontal)
    }
}
func guess03(_ loader: ImageLoader, _ url: URL) async throws -> LoadedImage {
    try await loader.image(for: ImageRequest(url, processors: [Mirrored()]))
}

// A request of high priority, raised again while it runs.
func guess04(_ loader: ImageLoader, _ url: URL) async throws -> LoadedImage {
    let task = loader.imageTask(with: ImageRequest(url, priority: .high))
    task.priority = .veryHigh
    return try await task.value
}

// Pull to refresh: ignore what the caches hold and fetch again.
func guess05(_ loader: ImageLoader, _ url: URL) async throws -> LoadedImage {
    try await loader.image(for: ImageRequest(url, cachePolicy: .reloadIgnoringCachedData))
}

// Offline mode: only what is cached, never the network.
func guess06(_ loader: ImageLoader, _ url: URL) async throws -> LoadedImage? {
    var request = ImageRequest(url)
    request.options = [.returnCacheDataDontLoad]
    return try? await loader.image(for: request)
}

// A bearer token in the headers of one request.
func guess07(_ url: URL, _ token: String) -> ImageRequest {
    var request = ImageRequest(url)
    request.headers["Authorization"] = "Bearer \(token)"
    return request
}

// Signed URLs: the same image under an id of its own, whatever the signature.
func guess08(_ signed: URL, _ photoID: String) -> ImageRequest {
    ImageRequest(signed, imageID: photoID)
}

// Signed URLs, for a whole loader: leave some query items out of the cache key.
func guess09() -> ImageLoader {
    var configuration = ImageLoader.Configuration()
    configuration.ignoredQuery = .items(["X-Amz-Signature", "X-Amz-Date", "X-Amz-Expires"])
    return ImageLoader(configuration: configuration)
}

// Time limits and retries for a bad network.
func guess10() -> ImageLoader {
    let downloader = ImageDownloader(
        timeouts: Timeouts(connect: .seconds(5), idle: .seconds(15), total: .seconds(60)),
        retryPolicy: RetryPolicy(maxAttempts: 3, delay: .exponential(base: .milliseconds(500))))
    return ImageLoader(downloader: downloader)
}

// A retry strategy of one's own, which looks at the attempt that failed.
struct OnlyServerErrors: RetryStrategy {
    func delay(after attempt: FailedAttempt) async -> Duration? {
        guard attempt.error.isRetryable, attempt.count < 4 else { return nil }
        return .seconds(attempt.count)
    }
}
func guess11() -> ImageDownloader {
    ImageDownloader(retryStrategy: OnlyServerErrors())
}

// Upload a photo as a multipart form, with progress.
func guess12(_ url: URL, _ file: URL) async throws -> Int {
    let form = UploadBody.form([
        .field(name: "title", value: "Holiday"), .file(name: "photo", url: file, contentType: "image/jpeg"),
    ])
    let task = Uploader().uploadTask(with: UploadRequest(url, method: .post, body: form))
    for await progress in task.progress { print(progress.fraction ?? 0) }
    return try await task.value.statusCode
}

// Prewarm the next screen, with progress, and pause it while the user drags.
func guess13(_ loader: ImageLoader, _ requests: [ImageRequest]) async {
    let prewarmer = Prewarmer(loader: loader, destination: .diskCache, maxConcurrentCount: 2)
    prewarmer.start(with: requests)
    prewarmer.isPaused = true
    prewarmer.isPaused = false
    for await progress in prewarmer.progress { print(progress.completed, progress.total) }
}

// Memory and disk limits.
func guess14(_ folder: URL) throws -> ImageLoader {
    let memory = MemoryCache(costLimit: 64 * 1024 * 1024, countLimit: 500)
    let disk = try DiskCache(folder: folder, sizeLimit: 300 * 1024 * 1024)
    return ImageLoader(memoryCache: memory, diskCache: disk)
}

// A loader without a disk cache, for private pictures.
func guess15() -> ImageLoader {
    ImageLoader(memoryCache: MemoryCache(), diskCache: nil)
}

// Empty both caches when the user logs out, and one image when it was replaced.
func guess16(_ loader: ImageLoader, _ request: ImageRequest) async throws {
    await loader.removeCachedImage(for: request)
    loader.memoryCache.removeAll()
    try await loader.diskCache?.removeAll()
}

// Is it cached already, and where; how big is the disk cache.
func guess17(_ loader: ImageLoader, _ request: ImageRequest) async {
    if let image = loader.cachedImage(for: request) { print("in memory", image.bitmap.size) }
    if await loader.isCached(request, in: .disk) { print("on disk") }
    print(await loader.diskCache?.totalSize ?? 0)
}

// The system runs short of memory: give memory back; and the cache's hit rate.
func guess18(_ cache: MemoryCache) async {
    for await level in MemoryPressure().levels where level == .critical {
        cache.trim(toCost: cache.costLimit / 4)
    }
    print(cache.counters.hits, cache.counters.misses)
}

// A spinner in the status bar while anything is transferred, and a log of network events.
func guess19(_ loader: ImageLoader) async {
    for await event in loader.downloader.events {
        switch event {
        case .started(let request): print("start", request.url)
        case .finished(let metrics): print("done", metrics.bytesReceived)
        default: break
        }
    }
}

// Name and password for a server that asks (401).
struct Login: HTTPAuthenticator {
    func credential(for challenge: AuthenticationChallenge) async -> Credential? {
        challenge.previousFailureCount == 0 ? .basic(user: "anna", password: "secret") : nil
    }
}
func guess20() -> ImageDownloader {
    ImageDownloader(authenticator: Login())
}

// A decoder of one's own for a format that the library has not.
struct QOIDecoder: ImageDecoding {
    func canDecode(_ data: Data) -> Bool { data.starts(with: Array("qoif".utf8)) }
    func decode(_ data: Data) throws -> Bitmap {
        Bitmap(width: 1, height: 1, pixels: [255, 0, 0, 255])
    }
}
func guess21() -> ImageLoader {
    ImageLoader(decoders: ImageDecoders([QOIDecoder()] + ImageDecoders.default.decoders))
}

// Progressive JPEG: show previews while the bytes arrive, then the metrics.
func guess22(_ loader: ImageLoader, _ url: URL, _ show: (Bitmap) -> Void) async throws {
    let task = loader.imageTask(with: ImageRequest(url, previews: true))
    for await preview in task.previews { show(preview.bitmap) }
    let image = try await task.value
    print(
        image.metrics.totalDuration, image.metrics.decodingDuration,
        image.metrics.transfer?.bytesReceived ?? 0)
}

// The kinds of an error, for a message to the user.
func guess23(_ error: ImageLoadingError) -> String {
    switch error {
    case .cancelled: "Cancelled"
    case .timedOut: "Too slow"
    case .httpStatus(let code): "The server says \(code)"
    case .decodingFailed(let reason): "Not an image: \(reason)"
    case .notCached: "Not available offline"
    default: error.localizedDescription
    }
}

// One view with a placeholder and a failure picture, reloaded by a tap.
func guess24(_ loader: ImageLoader, _ request: ImageRequest, _ grey: Bitmap, _ broken: Bitmap) -> LazyImage {
    let image = LazyImage(request, loader: loader, placeholder: grey, failureImage: broken)
    image.onChange = { state in print(state) }
    image.load()
    return image
}

// A list: try failed rows again when the network is back, and count the states.
func guess25(_ model: ImageListModel) {
    model.retryFailedRows()
    let counters = model.counters
    print(counters.loaded, counters.loading, counters.failed)
}

// Decode local Data to about a size, and resize, then encode as PNG and JPEG.
func guess26(_ data: Data, _ size: ImageSize) throws -> (png: Data, jpeg: Data) {
    let bitmap = try ImageDecoders.default.decode(data, targetSize: size)
    let small = bitmap.resized(to: size, contentMode: .fit)
    return (try PNGEncoder().encode(small), try JPEGEncoder(quality: 0.8).encode(small))
}

// The original file's bytes without decoding, with a checksum that must match.
func guess27(_ loader: FileLoader, _ url: URL, _ sha256: String) async throws -> Data {
    let file = try await loader.file(for: ImageRequest(url, checksum: .sha256(sha256)))
    return file.data
}

// Mirrors: the next URL when the first fails; and callbacks for code without async, in a group.
func guess28(_ loader: ImageLoader, _ url: URL, _ mirror: URL) -> LoadGroup {
    let group = LoadGroup(loader: loader)
    group.load(ImageRequest(url, alternatives: [mirror])) { result in
        if case .success(let image) = result { print(image.bitmap) }
    }
    group.notify { print("all done") }
    return group
}

// A fetch guard: an image proxy may only fetch https from public addresses of known hosts.
func guess29() -> ImageDownloader {
    let guardian = FetchGuard(
        schemes: ["https"], allowedHosts: ["*.example.org"], addresses: .publicOnly, maxBytes: 20_000_000)
    return ImageDownloader(fetchGuard: guardian)
}

// A download that goes on when the program ends, and its result at the next start.
func guess30(_ folder: URL, _ url: URL, _ destination: URL) async throws {
    let jobs = try BackgroundJobs(folder: folder)
    let job = try await jobs.start(.download(url, to: destination))
    for await event in job.events { print(event) }
    print(try await job.result)
}
