import Foundation
import LazyImages

// 1. Load with a completion callback and keep the task.
func guess01(_ loader: ImageLoader, _ request: ImageRequest) {
    let task = loader.loadImage(with: request) { result in
        switch result {
        case .success(let response): print(response.image)
        case .failure(let error): print(error)
        }
    }
    _ = task
}

// 2. Load at a target size with aspect fill, by a resize processor.
func guess02(_ loader: ImageLoader, _ url: URL) async throws {
    let request = ImageRequest(
        url: url, processors: [.resize(size: CGSize(width: 320, height: 240), contentMode: .aspectFill)])
    _ = try await loader.image(for: request)
}

// 3. A request with a target size given directly in its initializer.
func guess03(_ url: URL) -> ImageRequest {
    ImageRequest(url: url, targetSize: CGSize(width: 100, height: 100))
}

// 4. Chain several built-in processors: circle crop, rounded corners, blur.
func guess04(_ url: URL) -> ImageRequest {
    ImageRequest(url: url, processors: [.circle(), .roundedCorners(radius: 8), .gaussianBlur(radius: 4)])
}

// 5. Give a request high priority.
func guess05(_ url: URL) -> ImageRequest {
    var request = ImageRequest(url: url)
    request.priority = .high
    return request
}

// 6. Ignore the caches and fetch afresh.
func guess06(_ loader: ImageLoader, _ url: URL) async throws {
    let request = ImageRequest(url: url, options: [.reloadIgnoringCachedData])
    _ = try await loader.image(for: request)
}

// 7. Load only if it is in a cache; never go to the network.
func guess07(_ url: URL) -> ImageRequest {
    var request = ImageRequest(url: url)
    request.cachePolicy = .returnCacheDataDontLoad
    return request
}

// 8. Cancel a running load through its task handle.
func guess08(_ loader: ImageLoader, _ url: URL) async throws {
    let task = loader.imageTask(with: url)
    task.cancel()
    _ = try await task.image
}

// 9. Follow the download's progress as an async sequence.
func guess09(_ loader: ImageLoader, _ request: ImageRequest) async throws {
    let task = loader.imageTask(with: request)
    for await progress in task.progress {
        print(progress.completed, progress.total, progress.fraction)
    }
    _ = try await task.response
}

// 10. Raise the priority of a load that is already running.
func guess10(_ loader: ImageLoader, _ request: ImageRequest) {
    let task = loader.imageTask(with: request)
    task.priority = .veryHigh
}

// 11. Look at a typed error's details.
func guess11(_ loader: ImageLoader, _ url: URL) async {
    do {
        _ = try await loader.image(for: url)
    } catch ImageLoadingError.badStatusCode(let code) {
        print("HTTP", code)
    } catch ImageLoadingError.decodingFailed(let underlying) {
        print(underlying)
    } catch {
        print(error.localizedDescription)
    }
}

// 12. Look up an image in the memory cache synchronously, before loading.
func guess12(_ loader: ImageLoader, _ request: ImageRequest) -> Bool {
    if let image = loader.cachedImage(for: request) {
        print(image.size)
        return true
    }
    return false
}

// 13. Ask whether a request is cached, in a given cache.
func guess13(_ loader: ImageLoader, _ request: ImageRequest) -> Bool {
    loader.cache.containsCachedImage(for: request, caches: [.disk])
}

// 14. Remove one image from both caches.
func guess14(_ loader: ImageLoader, _ request: ImageRequest) async {
    await loader.removeImage(for: request)
}

// 15. Make a loader whose memory cache has a byte and a count limit.
func guess15() -> ImageLoader {
    var configuration = ImageLoader.Configuration()
    configuration.memoryCache = MemoryCache(costLimit: 100 * 1024 * 1024, countLimit: 200)
    return ImageLoader(configuration: configuration)
}

// 16. Make a loader with a disk cache in a directory, with a size limit and expiration.
func guess16(_ directory: URL) throws -> ImageLoader {
    let diskCache = try DiskCache(directory: directory, sizeLimit: 500 * 1024 * 1024)
    diskCache.expiration = .days(7)
    return ImageLoader(memoryCache: MemoryCache(), diskCache: diskCache)
}

// 17. Show how much the disk cache uses ("Clear cache (120 MB)" in Settings).
func guess17(_ diskCache: DiskCache) async -> Int {
    await diskCache.totalSize
}

// 18. Send an authorization header with a request.
func guess18(_ loader: ImageLoader, _ url: URL, _ token: String) async throws {
    let request = ImageRequest(url: url, headers: ["Authorization": "Bearer \(token)"])
    _ = try await loader.image(for: request)
}

// 19. Make a request from a URLRequest, with its own timeout.
func guess19(_ url: URL) -> ImageRequest {
    var urlRequest = URLRequest(url: url)
    urlRequest.timeoutInterval = 10
    return ImageRequest(urlRequest: urlRequest)
}

// 20. Retry failed downloads a few times with a delay.
func guess20() -> ImageLoader {
    var configuration = ImageLoader.Configuration.default
    configuration.retryPolicy = RetryPolicy(maxAttempts: 3, delay: .exponential(base: .seconds(1)))
    return ImageLoader(configuration: configuration)
}

// 21. Write a custom processor.
struct Guess21Grayscale: ImageProcessor {
    var identifier: String { "com.example.grayscale" }
    func process(_ image: Image) throws -> Image {
        image
    }
}
func guess21(_ url: URL) -> ImageRequest {
    ImageRequest(url: url, processors: [Guess21Grayscale()])
}

// 22. Write a custom decoder and register it with the loader.
struct Guess22Decoder: ImageDecoder {
    func canDecode(_ data: Data) -> Bool { data.starts(with: [0x42, 0x4D]) }
    func decode(_ data: Data) throws -> Image { throw ImageError.unsupportedFormat }
}
func guess22() -> ImageLoader {
    var configuration = ImageLoader.Configuration()
    configuration.decoders.append(Guess22Decoder())
    return ImageLoader(configuration: configuration)
}

// 23. Tell a list which rows are visible and when it scrolls.
@MainActor
func guess23(_ loader: ImageLoader, _ urls: [URL]) {
    let model = ImageListModel(urls: urls, loader: loader)
    model.rowDidAppear(0)
    model.rowDidDisappear(7)
    model.isScrolling = true
    model.isScrolling = false
    _ = model.image(at: 0)
}

// 24. Drive a view from a LazyImage: start it, and show placeholder, image or failure.
@MainActor
func guess24(_ loader: ImageLoader, _ url: URL) {
    let lazyImage = LazyImage(url: url, loader: loader)
    lazyImage.load()
    switch lazyImage.state {
    case .idle, .loading: print("placeholder")
    case .success(let image): print(image.size)
    case .failure(let error): print(error)
    }
}

// 25. Point a LazyImage at another URL when a cell is reused, and reset it.
@MainActor
func guess25(_ image: LazyImage, _ next: URL) {
    image.cancel()
    image.url = next
    print(image.isLoading, image.image as Any, image.error as Any)
}

// 26. Prewarm a list of URLs with progress, then stop.
func guess26(_ loader: ImageLoader, _ urls: [URL]) async {
    let prewarmer = Prewarmer(loader: loader, destination: .diskCache, maxConcurrentRequests: 2)
    await prewarmer.prewarm(urls) { completed, total in
        print("\(completed)/\(total)")
    }
    prewarmer.stop()
}

// 27. Decode Data to an image as a small thumbnail, without the network.
func guess27(_ data: Data) throws -> Int {
    let image = try Image(data: data, thumbnailSize: CGSize(width: 64, height: 64))
    return image.width * image.height
}

// 28. Encode a loaded image to PNG and JPEG and write it to a file.
func guess28(_ loader: ImageLoader, _ url: URL, _ file: URL) async throws {
    let image = try await loader.image(for: url)
    try image.pngData().write(to: file)
    let jpeg = try image.jpegData(compressionQuality: 0.8)
    print(jpeg.count)
}

// 29. Load with the response's metadata: where it came from and its HTTP response.
func guess29(_ loader: ImageLoader, _ request: ImageRequest) async throws {
    let response = try await loader.response(for: request)
    print(response.image, response.cacheType == .memory, response.urlResponse?.mimeType ?? "-")
}

// 30. Log the loader's events through a delegate.
final class Guess30Logger: ImageLoaderDelegate {
    func imageLoader(_ loader: ImageLoader, didReceive event: ImageLoader.Event, for request: ImageRequest) {
        print(event, request.url as Any)
    }
}
func guess30(_ logger: Guess30Logger) -> ImageLoader {
    ImageLoader(configuration: .default, delegate: logger)
}
