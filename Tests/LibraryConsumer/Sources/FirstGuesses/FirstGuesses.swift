import Foundation
import LazyImages
import Observation

/// The first lines of a program by somebody who knows Nuke, Kingfisher or SDWebImage, guessed without a look at the
/// documentation. One guess a line, or a few that belong together.
enum FirstGuesses {
    static func load(_ url: URL, _ string: String) async throws {
        let loader = ImageLoader()
        _ = try await loader.image(for: url)
        _ = try await ImageLoader.shared.image(for: url)
        _ = try await loader.image(for: "https://example.org/1.jpg")
        _ = try await loader.image(for: ImageRequest(url))
        _ = try await loader.image(for: ImageRequest(url: url))
        _ = try await loader.image(for: ImageRequest(string))
        _ = ImageRequest(url: url, processors: [.resize(width: 320), .circle()])
        _ = ImageRequest(id: "asset") { try Data(contentsOf: url) }
        _ = loader.cachedImage(for: ImageRequest(url))
        await loader.removeAll()
        loader.memory.removeAll()
        await loader.disk?.removeAll()
        loader.enqueue(ImageRequest(url)) { result in _ = try? result.get() }
    }

    static func configure(_ url: URL) {
        var configuration = ImageLoader.Configuration()
        configuration.timeouts.total = .seconds(30)
        _ = ImageLoader(configuration: configuration)
        var request = ImageRequest(url)
        request.priority = .high
        request.cachePolicy = .reload
        request.targetSize = ImageSize(width: 200, height: 300)
    }

    static func follow(_ task: ImageTask) async {
        for await progress in task.progress { print(progress.fraction ?? 0) }
        for await preview in task.previews { _ = preview.bitmap }
        for await event in task.events {
            switch event {
            case .progress(let progress): print(progress.received)
            case .preview(let preview): _ = preview.bitmap
            case .finished(let result): _ = try? result.get()
            default: break
            }
        }
        _ = await task.result
        _ = task.metrics
        task.priority = .low
        task.cancel()
    }

    static func show(_ image: LoadedImage, _ error: ImageLoadingError) {
        print(image.size, image.bitmap.width, image.url, image.source)
        print(error.url ?? "", error.isCancelled, error.isRetryable, error.code, error)
    }

    static func view(_ url: URL) {
        let lazy = LazyImage(ImageLoader.shared)
        lazy.load(ImageRequest(url))
        _ = lazy.image
        _ = lazy.isLoading
        _ = lazy.error
        lazy.retry()
    }

    static func decode(_ data: Data) throws -> Bitmap { try ImageDecoders.standard.decode(data) }

    struct MyProcessor: ImageProcessing {
        let identifier = "mine"
        func process(_ image: Bitmap) throws -> Bitmap { image }
    }

    static func process(_ url: URL, _ badge: Bitmap, _ color: ImageColor) -> [ImageRequest] {
        [
            ImageRequest(url, processors: [MyProcessor()]),
            ImageRequest(url, processors: [.circle(), MyProcessor()]),
            ImageRequest(url, processors: [.padding(4), .rotate(90), .grayscale]),
            ImageRequest(url, processors: [.tint(color), .overlay(badge)]),
            ImageRequest(url, processors: [.gaussianBlur(radius: 8), .roundedCorners(radius: 16)]),
        ]
    }
}
