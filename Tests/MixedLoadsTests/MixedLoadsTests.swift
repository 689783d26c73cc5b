import FoundationEssentials
import ImageCodecs
import LazyImages
import SystemSupport
import TestSupport
import TestTraits
import Testing

/// Everything at once: 10,000 operations under the sanitizers, a twentieth of them in a plain run.
@Suite("Mixed loads", .bounded, .ownThread)
struct MixedLoadsTests {
    private static let operations = Rounds.count(500, many: 10_000)
    /// Operations continue up to this number until a quarter of `operations` are loads that have succeeded.
    private static let mostOperations = 10 * operations
    private static let operationsAtOnce = 48
    private static let operationsOfServer = 125

    @Test(
        "loads with processors, cancels, changed limits, pressure, damaged files and dead servers give right images or errors, and leave nothing"
    )
    func mixed() async throws {
        let folder = try TemporaryFolder()
        let gallery = try Gallery()
        let pressure = MemoryPressure()
        weak var released: ImageLoader?
        do {
            let loader = loader(folder, pressure)
            released = loader
            try await run(loader, gallery, pressure, cache: folder.file("cache"))
            pressure.report(.normal)
            // Everything loads again, and right.
            loader.disk?.limit = 1 << 30
            try gallery.restart(isFaulty: false)
            for number in 0..<Gallery.count {
                #expect(
                    try await loader.image(for: gallery.request(number)).bitmap == gallery.pictures[number])
            }
            try await eventually { loader.files.downloader.transferCount == 0 }
            await loader.flush()
            #expect(loader.files.downloader.activity.hosts.values.allSatisfy { $0.running == 0 })
            #expect(loader.memory.counters.bytes <= loader.memory.limit)
            #expect(gallery.loaded.count > Self.operations / 4, "many operations are loads that succeed")
            #expect(gallery.failed.count > 0)
        }
        try await eventually { released == nil }
        // What stayed on disk is right, and no file is unfinished.
        let temporary = folder.file("cache/tmp")
        // A read that its caller has left may still be removing a damaged file: it moves it there first.
        try await eventually { try FileManager.default.contentsOfDirectory(atPath: temporary) == [] }
        let later = loader(folder, nil)
        var stored = 0
        for number in 0..<Gallery.count {
            var request = gallery.request(number)
            request.cachePolicy = .cacheOnly
            // Ignored: what must not be stored, and what was damaged.
            guard let image = try? await later.image(for: request) else { continue }
            stored += 1
            #expect(image.bitmap == gallery.pictures[number])
        }
        #expect(stored > Gallery.count / 3)
    }

    private func loader(_ folder: TemporaryFolder, _ pressure: MemoryPressure?) -> ImageLoader {
        var configuration = ImageDownloader.Configuration()
        configuration.timeouts = .patient
        configuration.retry = RetryPolicy(
            attempts: 2, firstPause: .milliseconds(1), failuresOfHost: 1_000_000)
        return ImageLoader(
            memory: MemoryCache(limit: 1 << 20), disk: DiskCache(folder: folder.file("cache")),
            configuration: configuration, pressure: pressure)
    }

    private func run(
        _ loader: ImageLoader, _ gallery: Gallery, _ pressure: MemoryPressure, cache: String
    ) async throws {
        var numbers = SeededNumbers(seed: 35)
        try await withThrowingTaskGroup(of: Void.self) { group in
            var number = 0
            // How many loads the restarts end, and for how many operations memory stays short, depends on the machine.
            while number < Self.operations
                || number < Self.mostOperations && gallery.loaded.count <= Self.operations / 4
            {
                if number >= Self.operationsAtOnce { try await group.next() }
                number += 1
                if number % Self.operationsOfServer == 0 { try gallery.restart() }
                let operation = Operation(&numbers)
                group.addTask { try await operation.run(loader, gallery, pressure, cache: cache) }
            }
            try await group.waitForAll()
        }
    }
}

/// Pictures and what becomes of them, and a server that has them.
private final class Gallery: Sendable {
    static let count = 40
    /// The processors. None of them resizes, so their results are exact.
    static let pipelines: [[any ImageProcessing]] = [
        [], [.roundedCorners(radius: 6)], [.circle(), .border(.white, width: 2, cornerRadius: .infinity)],
        [.rotate(90), .flip(.vertical)], [.gaussianBlur(radius: 2)],
        [.crop(ImageRect(x: 4, y: 4, width: 30, height: 40)), .padding(ImageInsets(3), background: .black)],
    ]

    let files: [[UInt8]]
    let pictures: [Bitmap]
    /// The results of each picture by each of the pipelines.
    let results: [[Bitmap]]
    let (loaded, failed) = (Tally(), Tally())
    private let server: Lock<ScriptedOrigin>

    init() throws {
        let files = try (0..<Self.count).map { number in
            number.isMultiple(of: 4)
                ? Samples.png(60, 90, alpha: UInt8(200 + number)) : try Samples.jpeg(60, 90, shift: number)
        }
        self.files = files
        pictures = try files.map { try ImageDecoders.standard.decode($0) }
        results = try pictures.map { picture in
            try Self.pipelines.map { try picture.processed(by: $0) }
        }
        server = Lock(try Self.start(files))
    }

    /// Stops the server in the midst of its answers, and starts another at another port.
    func restart(isFaulty: Bool = true) throws {
        let next = try Self.start(files, isFaulty: isFaulty)
        server.withLock { $0 = next }
    }

    private static func start(_ files: [[UInt8]], isFaulty: Bool = true) throws -> ScriptedOrigin {
        try ScriptedOrigin { connection in
            // Some connections are reset, and some end in the middle of an answer.
            if isFaulty, connection % 13 == 12 { return [.readHead, .reset] }
            let isCut = isFaulty && connection % 7 == 6
            let reply = ScriptedOrigin.Step.reply { head, _ in
                let words = head.split { !$0.isNumber }
                let number = words.first.flatMap { Int($0) } ?? 0
                guard number < files.count else {
                    return Array("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".utf8)
                }
                let file = files[number]
                let age = ["max-age=60", "max-age=0", "no-store"][number % 3]
                let answer =
                    "HTTP/1.1 200 OK\r\nContent-Length: \(file.count)\r\nETag: \"\(number)\"\r\n"
                    + "Cache-Control: \(age)\r\n\r\n"
                return Array(answer.utf8) + (isCut ? file.prefix(file.count / 2) : file[...])
            }
            return isCut ? [reply] : [.forever([reply])]
        }
    }

    /// The request of a picture, whatever the server's port; of a number past the last, one that no server has.
    func request(_ number: Int, pipeline: Int = 0) -> ImageRequest {
        let port = server.withLock { $0.port }
        let address = "http://127.0.0.1:\(port)/\(number).jpg"
        guard let url = URL(string: address) else { preconditionFailure("no URL: \(address)") }
        return ImageRequest(url: url, id: "picture \(number)", processors: Self.pipelines[pipeline])
    }
}

/// A random operation.
private struct Operation: Sendable {
    private let kind: Int
    private let number: Int
    private let pipeline: Int
    private let choice: Int

    init(_ numbers: inout SeededNumbers) {
        kind = Int.random(in: 0..<100, using: &numbers)
        number = Int.random(in: 0..<Gallery.count + 2, using: &numbers)
        pipeline = Int.random(in: 0..<Gallery.pipelines.count, using: &numbers)
        choice = Int.random(in: 0..<1_000, using: &numbers)
    }

    func run(
        _ loader: ImageLoader, _ gallery: Gallery, _ pressure: MemoryPressure, cache: String
    ) async throws {
        switch kind {
        case 0..<60: await load(loader, gallery)
        case 60..<80: await leave(loader, gallery)
        case 80..<84: await loader.remove(gallery.request(number))
        case 84..<87 where number < Gallery.count:
            try await loader.store(gallery.files[number], for: gallery.request(number))
        case 87..<90: loader.memory.limit = 50_000 + choice * 1_000
        case 90..<92: loader.disk?.limit = 20_000 + choice * 500
        case 92..<94: pressure.report([.normal, .warning, .critical][choice % 3])
        case 94..<98: damage(cache)
        default: withExtendedLifetime(loader.pin(gallery.request(number, pipeline: pipeline))) {}
        }
    }

    private func request(_ gallery: Gallery) -> ImageRequest {
        var request = gallery.request(number, pipeline: pipeline)
        let policies: [ImageRequest.CachePolicy] = [
            .useProtocol, .returnCacheElseLoad, .cacheOnly, .reload, .useProtocol, .useProtocol,
        ]
        request.cachePolicy = policies[choice % policies.count]
        request.options.usesMemory = !choice.isMultiple(of: 11)
        request.options.usesDisk = !choice.isMultiple(of: 17)
        request.priority = choice.isMultiple(of: 3) ? .normal : .low
        if choice.isMultiple(of: 5) {
            request.storesResult = choice.isMultiple(of: 2) ? .png : .only(.png)
        }
        return request
    }

    private func load(_ loader: ImageLoader, _ gallery: Gallery) async {
        do {
            let image = try await loader.image(for: request(gallery))
            gallery.loaded.add()
            #expect(number < Gallery.count && image.bitmap == gallery.results[number][pipeline])
        } catch {
            gallery.failed.add()
        }
    }

    /// Begins a load and leaves it, at once or after some of its events.
    private func leave(_ loader: ImageLoader, _ gallery: Gallery) async {
        let task = loader.imageTask(with: request(gallery))
        var events = choice % 4
        if events > 0 {
            for await _ in task.events {
                events -= 1
                if events == 0 { break }
            }
        }
        task.priority = .veryHigh
        task.cancel()
        if let image = try? await task.value {
            #expect(number < Gallery.count && image.bitmap == gallery.results[number][pipeline])
        }
    }

    /// Overwrites the middle of a stored file, or cuts it.
    private func damage(_ cache: String) {
        // Ignored: the loader may remove the file or its folder meanwhile.
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: cache))?.sorted() ?? []
        guard !folders.isEmpty else { return }
        let folder = cache + "/" + folders[choice % folders.count]
        guard let name = (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted().first,
            var bytes = try? Data(contentsOf: URL(filePath: folder + "/" + name)), !bytes.isEmpty
        else { return }
        if choice.isMultiple(of: 2) { bytes.removeLast(bytes.count / 2) } else { bytes[bytes.count / 2] ^= 1 }
        try? bytes.write(to: URL(filePath: folder + "/" + name))
    }
}
