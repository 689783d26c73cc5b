import Foundation
import LazyImages

// Load an image.
func guess01(_ loader: ImageLoader, _ url: URL) async throws {
    _ = try await loader.image(for: url)
}

// Make a request, without a label.
func guess02(_ url: URL) {
    _ = ImageRequest(url)
}

// Make a request, with a label.
func guess03(_ url: URL) {
    _ = ImageRequest(url: url)
}

// Make a request from a string.
func guess04(_ string: String) {
    _ = ImageRequest(string)
}

// Empty the caches.
func guess05(_ loader: ImageLoader) async {
    await loader.removeAll()
}

// Load with a completion handler.
func guess06(_ loader: ImageLoader, _ request: ImageRequest) {
    loader.enqueue(request) { result in print(result) }
}

// Configure a loader.
func guess07() {
    let configuration = ImageLoader.Configuration()
    _ = ImageLoader(configuration: configuration)
}

// Ask an error for its URL.
func guess08(_ error: ImageLoadingError) {
    print(error.url as Any)
}

// Ask an error whether the load was cancelled.
func guess09(_ error: ImageLoadingError) {
    if error.isCancelled { return }
}

// Show the progress of a load.
func guess10(_ task: ImageTask) async {
    for await progress in task.progress { print(progress.fraction as Any) }
}

// Ask an image for its size.
func guess11(_ image: LoadedImage) {
    print(image.size.width, image.size.height)
}

// Show the image of a view.
func guess12(_ lazy: LazyImage) {
    if let image = lazy.image { print(image) }
}

// Show an activity indicator.
func guess13(_ lazy: LazyImage) {
    if lazy.isLoading { print("loading") }
}

// Show the error of a view.
func guess14(_ lazy: LazyImage) {
    if let error = lazy.error { print(error) }
}

// Decode data.
func guess15(_ data: Data) throws {
    _ = try ImageDecoders.standard.decode(data)
}

// Add a margin.
func guess16(_ url: URL) {
    _ = ImageRequest(url, processors: [.padding(4)])
}

// Rotate.
func guess17(_ url: URL) {
    _ = ImageRequest(url, processors: [.rotate(90)])
}

// Remove the color.
func guess18(_ url: URL) {
    _ = ImageRequest(url, processors: [.grayscale])
}

// Tint.
func guess19(_ url: URL, _ color: ImageColor) {
    _ = ImageRequest(url, processors: [.tint(color)])
}

// Draw a badge over the image.
func guess20(_ url: URL, _ badge: Bitmap) {
    _ = ImageRequest(url, processors: [.overlay(badge)])
}

// Write a processor.
struct MyProcessor: ImageProcessing {
    let identifier = "mine"
    func process(_ image: Bitmap) throws -> Bitmap { image }
}
func guess21(_ url: URL) {
    _ = ImageRequest(url, processors: [MyProcessor()])
}

// Wait for a task's result.
func guess22(_ task: ImageTask) async {
    _ = await task.result
}

// Measure a load.
func guess23(_ task: ImageTask) {
    print(task.metrics as Any)
}

// Follow a task's events.
func guess24(_ task: ImageTask) async {
    for await event in task.events {
        switch event {
        case .finished(let result): print(result)
        default: break
        }
    }
}

// Nuke: load an image with the shared loader.
func guess25(_ url: URL) async throws {
    let image = try await ImageLoader.shared.image(for: url)
    print(image)
}

// Nuke: start a task.
func guess26(_ url: URL) {
    let imageTask = ImageLoader.shared.imageTask(with: url)
    print(imageTask)
}

// Nuke: wait for a task's image.
func guess27(_ imageTask: ImageTask) async throws {
    print(try await imageTask.image)
}

// Nuke: wait for a task's response.
func guess28(_ imageTask: ImageTask) async throws {
    print(try await imageTask.response)
}

// Nuke: show an image in a view.
func guess29() {
    _ = LazyImage(url: URL(string: "https://example.com/image.jpeg"))
}

// Nuke: make a request with processors, priority and options.
func guess30() {
    _ = ImageRequest(
        url: URL(string: "http://example.com/image.jpeg"),
        processors: [.resize(width: 320)],
        priority: .high,
        options: [.reloadIgnoringCachedData]
    )
}

// Nuke: replace the shared loader.
func guess31() {
    ImageLoader.shared = ImageLoader(configuration: .withDataCache)
}

// Nuke: resize to the view's size.
func guess32(_ url: URL, _ bounds: CGRect) {
    _ = ImageRequest(url: url, processors: [.resize(size: bounds.size)])
}

// Nuke: prefetch.
func guess33(_ urls: [URL]) {
    let prewarmer = Prewarmer()
    prewarmer.startPrefetching(with: urls)
}

// Nuke: cancel prefetching.
func guess34(_ prewarmer: Prewarmer, _ urls: [URL]) {
    prewarmer.stopPrefetching(with: urls)
}

// Nuke: pause prefetching.
func guess35(_ prewarmer: Prewarmer) {
    prewarmer.isPaused = true
}

// Nuke: read and clear a cached image by subscript.
func guess36(_ loader: ImageLoader, _ url: URL) {
    let image = loader.cache[url]
    loader.cache[ImageRequest(url: url)] = nil
    print(image as Any)
}

// Nuke: read a cached image.
func guess37(_ loader: ImageLoader, _ request: ImageRequest) {
    print(loader.cache.cachedImage(for: request) as Any)
}

// Nuke: remove a cached image.
func guess38(_ loader: ImageLoader, _ request: ImageRequest) {
    loader.cache.removeCachedImage(for: request)
}

// Nuke: empty the caches.
func guess39(_ loader: ImageLoader) {
    loader.cache.removeAll()
}

// Nuke: do not use the network.
func guess40(_ loader: ImageLoader, _ url: URL) async throws {
    let request = ImageRequest(url: url, options: [.returnCacheDataDontLoad])
    _ = try await loader.image(for: request)
}

// Nuke: the other processors of its list.
func guess41(_ url: URL) {
    _ = ImageRequest(
        url: url, processors: [.circle(), .roundedCorners(radius: 16), .gaussianBlur(radius: 8)])
}

// Nuke: write a processor.
struct NukeProcessor: ImageProcessing {
    var identifier: String { "com.example.mine" }
    func process(_ image: Bitmap) -> Bitmap? { image }
}
func guess42(_ url: URL) {
    _ = ImageRequest(url: url, processors: [NukeProcessor()])
}

// Nuke: load with a completion handler.
func guess43(_ url: URL) {
    ImageLoader.shared.loadImage(with: url) { result in print(result) }
}

// Kingfisher: load with a completion handler.
func guess44(_ url: URL) {
    ImageLoader.shared.retrieveImage(with: url) { result in
        switch result {
        case .success(let value): print(value.image)
        case .failure(let error): print(error)
        }
    }
}

// Kingfisher: ask where an image is from.
func guess45(_ value: LoadedImage) {
    print(value.cacheType)
}

// Kingfisher: ask an image for its URL.
func guess46(_ value: LoadedImage) {
    print("Task done for: \(value.source.url?.absoluteString ?? "")")
}

// Kingfisher: print an error.
func guess47(_ error: ImageLoadingError) {
    print("Job failed: \(error.localizedDescription)")
}

// Kingfisher: downsample and round the corners.
func guess48(_ url: URL, _ size: CGSize) {
    let processor =
        DownsamplingImageProcessor(size: size)
        |> RoundCornerImageProcessor(cornerRadius: 20)
    _ = ImageRequest(url, processors: [processor])
}

// Kingfisher: limit the memory cache.
func guess49() {
    ImageLoader.shared.cache.memoryStorage.config.totalCostLimit = 300 * 1024 * 1024
}

// Kingfisher: show an image in a view.
func guess50(_ url: URL) {
    _ = LazyImage(url)
}

// Kingfisher: ask whether an image is cached.
func guess51(_ url: URL) {
    print(ImageLoader.shared.cache.isCached(forKey: url.absoluteString))
}

// Kingfisher: prefetch.
func guess52(_ urls: [URL]) {
    let prewarmer = Prewarmer(urls: urls) { skipped, failed, completed in
        print("These resources are prefetched: \(completed)")
    }
    prewarmer.start()
}

// SDWebImage: load with progress and a completion handler.
func guess53(_ url: URL) {
    ImageLoader.shared.loadImage(
        with: url,
        progress: { receivedSize, expectedSize, _ in
            print(receivedSize, expectedSize)
        },
        completed: { image, data, error, cacheType, finished, imageURL in
            print(image as Any)
        })
}

// SDWebImage: download an image, without the caches.
func guess54(_ url: URL) {
    ImageDownloader.shared.downloadImage(with: url) { image, data, error, finished in
        print(image as Any)
    }
}
