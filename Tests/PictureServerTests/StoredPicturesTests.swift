import FoundationEssentials
import HTTPSemantics
import ImageCodecs
import PictureService
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import LazyImages
@testable import PictureServer

/// What the tiers hold of sources and pictures.
@Suite("PictureServer: stored pictures", .bounded)
struct StoredPicturesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func disk() -> DiskCache { DiskCache(folder: folder.file("cache")) }

    private func client() throws -> PictureClient {
        try PictureClient(disk: disk(), answering: PictureClient.giving(try Samples.jpeg()))
    }

    @Test("an entry is a picture only with its format, its size, and bytes")
    func metadata() throws {
        func picture(_ metadata: String, _ bytes: [UInt8] = [1]) -> LoadedFile? {
            LoadedFile(
                pictureIn: DiskCache.Entry(
                    metadata: Array(metadata.utf8), body: ImageBytes(bytes), expiry: nil),
                of: ImageRequest("https://images.example/a").url)
        }
        for metadata in [
            "", "jpeg 50", "jpeg 50 x", "gif 50 75", "jpeg 50 75 9", "jpeg 50 75 damaged 1",
        ] {
            #expect(picture(metadata) == nil, "\(metadata)")
        }
        #expect(picture("jpeg 50 75", []) == nil)
        for text in ["jpeg 50 75", "png 50 75 damaged"] {
            let picture = try #require(picture(text))
            #expect(String(decoding: picture.pictureMetadata, as: UTF8.self) == text)
            #expect(picture.header?.size == ImageSize(width: 50, height: 75))
            #expect((picture.damage != nil) == text.hasSuffix("damaged"))
        }
    }

    @Test("damaged entries are misses, and are made anew")
    func damaged() async throws {
        let first = try client()
        let made = try await first.get("w92")
        try await first.settle()
        try damageFiles()
        let second = try client()
        #expect(try await second.get("w92")["etag"] == made["etag"])
        #expect(second.count(.fetched) == 1 && second.count(.made) == 1)
    }

    /// Changes a byte near the end of every entry of the cache.
    private func damageFiles() throws {
        let root = folder.file("cache")
        for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
            let path = root + "/" + name
            var isFolder = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder else {
                continue
            }
            var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
            guard bytes.count > 40 else { continue }
            bytes[bytes.count - 20] ^= 0xFF
            try Data(bytes).write(to: URL(filePath: path))
        }
    }

    @Test("a file that an earlier version stored with its body needs no transfer")
    func earlierVersion() async throws {
        let request = ImageRequest("https://\(PictureClient.host)/a")
        let first = try client()
        var earlier = ImageDownloader.Configuration()
        earlier.cacheKind = .shared
        let loader = FileLoader(
            disk: disk(), configuration: earlier, transport: first.transport, clock: first.clock.wall)
        _ = try await loader.file(for: request)
        await loader.flush()
        let pictures = try await [first.get("w92"), first.get("w154")]
        #expect(first.transport.started.count == 1)
        // They are the pictures of these bytes.
        let fetched = try PictureClient(answering: PictureClient.giving(try Samples.jpeg()))
        #expect(try await fetched.get("w92")["etag"] == pictures[0]["etag"])
        #expect(try await fetched.get("w154")["etag"] == pictures[1]["etag"])
        try await first.settle()
        // The purge removes the earlier version's file and its way to the pictures as well.
        let disk = disk()
        await disk.store([1], for: request.key.variant("record"))
        await disk.flush()
        #expect(await first.service.purge(try PictureSource("https://\(PictureClient.host)/a")))
        try await first.settle()
        #expect(await disk.entry(for: request.key) == nil)
        #expect(await disk.entry(for: request.key.variant("record")) == nil)
    }

    @Test("an earlier version counts the file as a miss, and stores its own")
    func forEarlierVersion() async throws {
        let request = ImageRequest("https://\(PictureClient.host)/a")
        let first = try client()
        let made = try await first.get("w92")
        try await first.settle()
        var earlier = ImageDownloader.Configuration()
        earlier.cacheKind = .shared
        let loader = FileLoader(
            disk: disk(), configuration: earlier, transport: first.transport, clock: first.clock.wall)
        #expect(try await loader.file(for: request).bytes.array == Samples.jpeg())
        #expect(first.transport.started.count == 2)
        await loader.flush()
        let second = try client()
        #expect(try await second.get("w92")["etag"] == made["etag"])
        #expect(second.transport.started.count == 0 && second.count(.diskHit) == 1)
    }

    @Test("two addresses with one content share its body and its pictures")
    func oneContent() async throws {
        let client = try client()
        _ = try await client.get("w92")
        let other = "https://\(PictureClient.host)/b"
        #expect(try await client.send(PictureClient.path("w92", other)).status == 200)
        #expect(client.count(.fetched) == 2 && client.count(.made) == 1)
        try await client.settle()
        // Two records, one body, one picture.
        #expect(disk().counters.entries == 4)
        // The other address still has its picture, and its body by another transfer.
        await client.service.purge(try PictureSource(other))
        #expect(try await client.get("w154").status == 200)
    }

    @Test("a lasting fault of a source answers for a minute, and other failures do not")
    func faults() async throws {
        let broken = try PictureClient(answering: PictureClient.giving(Array("no picture".utf8)))
        for recipe in ["w92", "w92", "w154"] { #expect(try await broken.get(recipe).status == 422) }
        #expect(broken.transport.started.count == 1)
        for status in [401, 403, 429, 500, 503] {
            let client = try PictureClient(answering: PictureClient.giving([], status: status))
            for _ in 0..<2 { #expect(try await client.get("w92").status == 502) }
            #expect(client.transport.started.count == 2, "\(status)")
        }
    }

    @Test("a record that is removed while it is read from the shared tier stays removed")
    func removedMeanwhile() async throws {
        let store = try StoreServer()
        let writer = try PictureClient(
            configure: { $0.shared = try? SharedTier.patient(store.address) },
            answering: PictureClient.giving(try Samples.jpeg()))
        let old = try await writer.get("w92")
        try await writer.settle()
        let gate = Gate()
        let objects = Shared(store.objects.value)
        let held = try ScriptedOrigin([
            .readHead,
            .replyToLast(
                .reply { head, _ in
                    if head.hasPrefix("GET") { gate.wait() }
                    let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
                    let object = objects.value[path] ?? []
                    return Array("HTTP/1.1 200 OK\r\nContent-Length: \(object.count)\r\n\r\n".utf8) + object
                }),
        ])
        let reader = try PictureClient(
            disk: disk(),
            configure: {
                $0.shared = try? SharedTier.patient("http://127.0.0.1:\(held.port)/posters")
            },
            answering: PictureClient.giving(try Samples.jpeg(shift: 5)))
        let found = try reader.start(PictureClient.path("w92"))
        try await held.requests.wait(for: 1)
        let purge = Task {
            await reader.service.purge(try PictureSource("https://\(PictureClient.host)/a"))
        }
        // The purge asks the store too, and removes what it has.
        try await held.requests.wait(for: 2)
        gate.open()
        _ = try await purge.value
        #expect(try await found.value().status == 200)
        try await reader.settle()
        objects.change { $0 = [:] }
        #expect(try await reader.get("w92")["etag"] != old["etag"])
        try await reader.settle()
    }
}
