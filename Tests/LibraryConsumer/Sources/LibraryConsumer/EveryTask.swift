import LazyImages

/// Performs every task that the library offers, and prints one line with the result of each.
struct EveryTask {
    /// Servers with `metropolis.jpg` and the progressive `nosferatu.jpg`.
    let server: String
    let slow: String
    /// An empty folder for disk tiers.
    let folder: String

    private var small: ImageSize { ImageSize(width: 100, height: 100) }

    private func request(_ name: String = "metropolis.jpg") throws -> ImageRequest {
        ImageRequest(server + name)
    }

    private func loader(_ name: String, _ configuration: ImageDownloader.Configuration = .init())
        -> ImageLoader
    {
        ImageLoader(disk: DiskCache(folder: "\(folder)/\(name)"), configuration: configuration)
    }

    func run() async throws {
        try await load()
        try await watch()
        try await cancel()
        try await resize()
        try await sendFields()
        try await giveBytes()
        try await identify()
        try await removeAndStore()
        try await resume()
        try await prewarm()
        try await control()
        try await privately()
        try await bring()
        try await upload()
    }

    private func load() async throws {
        let image = try await loader("load").image(for: try request())
        print("load: \(image.source) \(image.size)")
        let file = try await FileLoader(disk: nil).file(for: try request())
        print("file: \(file.source) \(file.bytes.count) bytes")
    }

    private func watch() async throws {
        let task = loader("watch").imageTask(with: ImageRequest(slow + "nosferatu.jpg"))
        task.priority = .high
        async let received = task.progress.reduce(0) { max($0, $1.received) }
        async let previews = task.previews.reduce(0) { count, _ in count + 1 }
        let image = try await task.value
        print("task: \(image.size) at priority \(task.priority)")
        print("progress: \(await received > 0)")
        print("previews: \(await previews > 0)")
    }

    private func cancel() async throws {
        let task = loader("cancel").imageTask(with: ImageRequest(slow + "metropolis.jpg"))
        task.cancel()
        print("cancel: \(await code { _ = try await task.value })")
    }

    private func resize() async throws {
        let loader = loader("resize")
        let fitted = ImageRequest(server + "metropolis.jpg", targetSize: small)
        let filled = ImageRequest(
            server + "metropolis.jpg", targetSize: small, contentMode: .fill(.top))
        print("fit: \(try await loader.image(for: fitted).size)")
        print("fill: \(try await loader.image(for: filled).size)")
    }

    private func sendFields() async throws {
        var configuration = ImageDownloader.Configuration()
        configuration.fields = ["X-App": "films", "X-Page": "none"]
        let transport = RecordingTransport(recording: ["X-App", "X-Page"])
        let loader = ImageLoader(disk: nil, configuration: configuration, transport: transport)
        _ = try await loader.image(
            for: ImageRequest(server + "metropolis.jpg", options: .init(fields: ["X-Page": "7"])))
        print("fields: \(transport.recorded)")
    }

    private func giveBytes() async throws {
        let bytes = try await FileLoader(disk: nil).file(for: try request()).bytes.array
        let image = try await loader("closure").image(for: ImageRequest(id: "asset-7") { bytes })
        print("closure: \(image.source) \(image.size)")
    }

    private func identify() async throws {
        let loader = loader("id")
        _ = try await loader.image(
            for: ImageRequest(server + "metropolis.jpg?signature=1", id: "poster-7"))
        let again = ImageRequest(server + "metropolis.jpg?signature=2", id: "poster-7")
        print("id: \(try await loader.image(for: again).source)")
    }

    private func removeAndStore() async throws {
        let loader = loader("remove")
        let cached = ImageRequest(
            server + "metropolis.jpg", cachePolicy: .cacheOnly)
        _ = try await loader.image(for: try request())
        print("cache only: \(try await loader.image(for: cached).source)")
        await loader.remove(cached)
        print("removed: \(await code { _ = try await loader.image(for: cached) })")
        let other = try await FileLoader(disk: nil).file(for: try request("nosferatu.jpg"))
        try await loader.store(other.bytes.array, for: cached)
        print("stored: \(try await loader.files.file(for: cached).bytes.checksum == other.bytes.checksum)")
        print("no image: \(await code { try await loader.store(Array("text".utf8), for: cached) })")
    }

    /// Cancels a transfer in the middle and resumes it.
    private func resume() async throws {
        var configuration = ImageDownloader.Configuration()
        configuration.partialMinimum = 4096
        let loader = loader("resume", configuration)
        let events = loader.files.downloader.activity.events
        let task = loader.imageTask(with: ImageRequest(slow + "metropolis.jpg"))
        for await progress in task.progress where progress.received > 20_000 { task.cancel() }
        // The transfer keeps its partial body before its slot is free.
        for await event in events { if case .failed = event.kind { break } }
        print("resumed: \(try await loader.image(for: ImageRequest(slow + "metropolis.jpg")).source)")
    }

    private func prewarm() async throws {
        let loader = loader("prewarm")
        let requests = [try request(), try request("nosferatu.jpg")]
        let toDisk = await Prewarmer(loader, destination: .disk).run(requests)
        print("prewarmed to disk: \(toDisk.fetched), \(loader.memory.counters.entries) decoded")
        let toMemory = await Prewarmer(loader).run(requests)
        print("prewarmed to memory: \(toMemory.alreadyCached), \(loader.memory.counters.entries) decoded")
    }

    private func control() async throws {
        let prewarmer = Prewarmer(loader("control"), concurrency: 1)
        let requests = [try request(), try request("nosferatu.jpg")]
        prewarmer.isPaused = true
        async let run = prewarmer.run(requests) { result in
            if result.index == 0 { prewarmer.cancel([requests[1]]) }
        }
        prewarmer.isPaused = false
        let summary = await run
        print("prewarmed: \(summary.fetched), stopped: \(summary.cancelled)")
        prewarmer.finish()
        print("stopped for good: \(await prewarmer.run(requests).cancelled)")
    }

    private func privately() async throws {
        let pressure = MemoryPressure()
        let loader = ImageLoader.ephemeral(
            configuration: .init(decoders: ImageDecoders([JPEGDecoder()])),
            decodingLimits: DecodingLimits(pixels: 1_000_000),
            pressure: pressure, clock: WallClock { 1_763_714_400 })
        print("ephemeral: \(try await loader.image(for: try request()).source), disk: \(loader.disk == nil)")
        pressure.report(.critical)
        print("pressure: \(await code { _ = try await loader.image(for: try request("nosferatu.jpg")) })")
    }

    /// A list over a custom loader.
    private func bring() async throws {
        let model = ImageListModel(loader: DotLoader(), rows: [try request()])
        model.setVisible(0..<1)
        for await update in model.updates {
            guard case .loaded(let image) = update.state else { continue }
            print("own loader: \(image.size) \(image.header.format)")
            break
        }
    }

    /// Sends a body that the server does not accept.
    private func upload() async throws {
        let body = UploadBody.form([.field("title", "Nosferatu")])
        let task = Uploader(loader("upload")).task(
            for: try UploadRequest(server + "metropolis.jpg", .post, body))
        for await progress in task.progress where progress.sent > progress.total { print("too much") }
        print("upload: \(try await task.value.status)")
    }

    /// The code of the error that `body` throws.
    private func code(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "no error"
        } catch let error as ImageLoadingError {
            return error.code
        } catch {
            return "\(error)"
        }
    }
}

/// Draws every image itself: one black dot.
private struct DotLoader: ImageLoading {
    func cachedImage(for request: ImageRequest) -> LoadedImage? { nil }

    func imageTask(with request: ImageRequest) -> ImageTask {
        ImageTask(request) { request in
            LoadedImage(
                bitmap: Bitmap(width: 1, height: 1, pixels: [0, 0, 0, 255]),
                header: ImageHeader(format: .png, size: ImageSize(width: 1, height: 1)), url: request.url)
        }
    }
}

extension LoadedImage {
    /// Width and height, as text.
    fileprivate var size: String { "\(bitmap.width) x \(bitmap.height)" }
}
