import BackgroundTransfers
import Dispatch
import FoundationEssentials
import Glibc
import LazyImages

/// The Swift of the article Getting started, word for word except for the indentation.
enum GettingStartedExamples {
    static func load() async throws {
        let loader = ImageLoader()  // after import LazyImages
        let image = try await loader.image(for: "https://example.org/posters/1.jpg")
        print(image.bitmap.size, image.source)
    }

    static func save(_ image: LoadedImage) throws {
        let png = PNGEncoder().encode(image.bitmap)
        let jpeg = try JPEGEncoder(quality: 85).encode(image.bitmap)
        try Data(jpeg).write(to: URL(filePath: "small.jpg"))
        print(png.count, jpeg.count)
    }

    static func process(_ loader: ImageLoader) async throws {
        var avatar = ImageRequest("https://example.org/posters/1.jpg")
        avatar.processors = [
            .resize(size: ImageSize(width: 96, height: 96), contentMode: .fill(.top)), .circle(),
            .border(.white, width: 3, cornerRadius: .infinity),
            ImageProcessor("half 1") { image in image.resized(to: ImageSize(width: 48, height: 48)) },
        ]
        avatar.storesResult = .png  // or .jpeg(quality: 80); .only(.png) keeps no original
        print(try await loader.image(for: avatar).bitmap.size)
    }

    static func tryMirrors(_ loader: ImageLoader) async throws {
        let mirrored = ImageRequest(
            "https://images.example.org/1.jpg",
            options: .init(
                timeLimit: .seconds(2),
                alternatives: ["https://mirror.example.org/1.jpg", "file:///srv/posters/none.png"]))
        print(try await loader.image(for: mirrored).url)
    }

    static func follow(_ loader: ImageLoader) async throws {
        let size = ImageSize(width: 200, height: 300)
        let poster = ImageRequest(
            "https://example.org/posters/2.jpg", targetSize: size, contentMode: .fill(.top))
        let task = loader.imageTask(with: poster)  // task.priority, task.previews, task.cancel()
        for await progress in task.progress { print(progress.received) }
        print(try await task.value.bitmap.size)
    }

    static func keep(_ loader: ImageLoader, _ poster: ImageRequest) async throws {
        let asset = ImageRequest(id: "asset-7") { [UInt8]() }  // its bytes come from a closure
        try await loader.store(try await FileLoader().file(for: poster).bytes.array, for: asset)
        await loader.remove(asset)  // from memory and disk, at every size
    }

    static func loadFile(_ poster: ImageRequest) async throws {
        let (progress, continuation) = AsyncStream.makeStream(of: TransferProgress.self)
        async let file = FileLoader().file(for: poster, progress: continuation)
        for await step in progress { print(step.received, step.expected ?? 0) }
        print(try await file.bytes.count, try await file.bytes.checksum)
    }

    static func loadAhead(_ loader: ImageLoader, _ poster: ImageRequest) async {
        let prewarmer = Prewarmer(loader, destination: .memory)
        let summary = await prewarmer.run([poster]) { result in
            switch result.outcome {
            case .fetched(let file), .alreadyCached(let file): print(result.index, file.bytes.count)
            case .alreadyDecoded(let image): print(result.index, image)
            case .failed(let error): print(result.index, error)
            }
        }
        print(summary.fetched, summary.alreadyCached, summary.failed, summary.cancelled, summary.bytesFetched)
    }

    static func callBack(_ loader: ImageLoader, _ requests: [ImageRequest]) {
        let group = LoadGroup(on: .main, concurrency: 8)  // or another DispatchQueue
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
        print(try await upload.value.status)  // an Int; what the loader has cached of the address is gone
    }

    static func workInBackground() async throws {
        if CommandLine.arguments.dropFirst().first == "job" {
            let process = try JobProcess()
            let requests = process.plan.items.map { ImageRequest($0.url) }
            exit(await process.run(requests, with: FileLoader()))
        }
        let posters = (1...200).map { JobPlan.Item(url: "https://example.org/posters/\($0).jpg") }
        let jobs = BackgroundJobs()
        let job = try jobs.start(
            JobPlan(posters), named: "night",
            by: JobCommand("/proc/self/exe", [CommandLine.arguments[0], "job"]))
        for await event in job.events {
            if case .result(let result) = event {
                print(result.url, result.outcome, result.error?.message ?? "")
            }
        }
        print(await job.completion() ?? -1)  // 0: all done; 1: some failed; 2: all failed; 130: cancelled
        for status in try jobs.list() {
            print(status.name, status.state, status.finished, status.failed, status.total)
        }
        try jobs.job("night").cancel()
    }

    static func watchNetwork() async {
        for await path in PathMonitor() {
            print(path)  // internet over wifi (wlan0)
            if path.reach == .internet, path.link != .cellular { print("load ahead") }
        }
    }

    static func fetchForStrangers() -> ImageLoader {
        var configuration = ImageDownloader.Configuration()
        let sources = ["images.example.org", "http://nas.example.org:8080"].compactMap { FetchSource($0) }
        let house = AddressRange("192.168.7.0/24")  // not public, and allowed all the same
        configuration.security.fetchGuard = FetchGuard(
            sources: sources, allowedNetworks: [house].compactMap(\.self))
        let guarded = ImageLoader(configuration: configuration)
        return guarded
    }
}
