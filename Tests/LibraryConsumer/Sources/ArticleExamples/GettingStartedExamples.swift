import BackgroundTransfers
import LazyImages

/// The Swift of the article Getting started, word for word except for the indentation.
enum GettingStartedExamples {
    static func process(_ loader: ImageLoader) async throws {
        var avatar = ImageRequest("https://example.org/posters/1.jpg")
        avatar.processors = [
            .resize(to: ImageSize(width: 96, height: 96), mode: .fill(.top)), .circle,
            .border(.white, width: 3, cornerRadius: .infinity),
            ImageProcessor("half 1") { image in image.resized(to: ImageSize(width: 48, height: 48)) },
        ]
        avatar.storesResult = .png  // or .jpeg(quality: 80)
        print(try await loader.image(for: avatar).bitmap.size)
    }

    static func follow(_ loader: ImageLoader) async throws {
        let size = ImageSize(width: 200, height: 300)
        let poster = ImageRequest(
            "https://example.org/posters/2.jpg", targetSize: size, contentMode: .fill(.top))
        let task = loader.task(for: poster)  // task.priority, task.previews, task.cancel()
        for await progress in task.progress { print(progress.received) }
        print(try await task.value.bitmap.size)
    }

    static func keep(_ loader: ImageLoader, _ poster: ImageRequest) async throws {
        let asset = ImageRequest(id: "asset-7") { [UInt8]() }  // its bytes come from a closure
        try await loader.store(try await FileLoader().file(for: poster).bytes.array, for: asset)
        await loader.remove(asset)  // from memory and disk, at every size
    }

    static func loadAhead(_ loader: ImageLoader, _ poster: ImageRequest) async {
        let prewarmer = Prewarmer(loader, destination: .memory)  // pause(), resume(), cancel([poster])
        await prewarmer.run([poster])
    }

    static func callBack(_ loader: ImageLoader, _ requests: [ImageRequest]) {
        let group = LoadGroup(concurrency: 8)  // calls back on the main queue
        for request in requests {
            loader.enqueue(request, group: group) { result in
                if case .success(let image) = result { print(image.bitmap.size) }
            }
        }
        group.whenDone { print("all have ended") }
    }

    static func send(_ loader: ImageLoader) async throws {
        let film = UploadBody.form([.field("title", "Nosferatu"), .file("poster", path: "nosferatu.jpg")])
        let upload = Uploader(loader).task(for: try UploadRequest("http://localhost:8080/films", .post, film))
        for await progress in upload.progress { print(progress.sent, progress.total) }
        print(try await upload.value.status)  // what the loader has cached of the address is gone
    }

    static func watchNetwork() async {
        for await path in PathMonitor() {
            print(path)  // internet over wifi (wlan0)
        }
    }

    static func fetchForStrangers() -> ImageLoader {
        var configuration = ImageDownloader.Configuration()
        let sources = ["images.example.org", "http://nas.example.org:8080"].compactMap { FetchSource($0) }
        configuration.security.fetchGuard = FetchGuard(sources: sources)
        let guarded = ImageLoader(configuration: configuration)
        return guarded
    }
}
