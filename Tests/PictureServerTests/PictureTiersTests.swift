import FoundationEssentials
import ImageCodecs
import LazyImages
import TestSupport
import TestTraits
import Testing

@testable import PictureServer
import PictureService

enum TierSamples {
    static let recipe = "w50"

    static func record(_ shift: Int = 0) throws -> SourceRecord {
        let source = ImageBytes(try Samples.jpeg(shift: shift))
        return SourceRecord(
            content: source.checksum, byteCount: source.count, format: .jpeg,
            size: ImageSize(width: 100, height: 150), control: ["max-age=60"], received: TestClock.start,
            initialAge: 0, lifetime: 60)
    }

    static func picture(_ recipe: String = recipe) throws -> (KeptPicture, SourceRecord) {
        let (recipe, record) = (try PictureRecipe(recipe), try record())
        let picture = try Picture.picture(of: ImageBytes(try Samples.jpeg()), recipe)
        return (KeptPicture(picture, key: record.key(recipe)), record)
    }
}

@Suite("The tiers of pictures", .bounded)
struct PictureTiersTests {
    private let folder: TemporaryFolder
    private let key = CacheKey(id: "a", variant: "record")

    init() throws { folder = try TemporaryFolder() }

    private func tiers() -> PictureTiers {
        PictureTiers(memory: 1 << 20, disk: DiskCache(folder: folder.file("cache")))
    }

    @Test("a corrupt or foreign entry is a miss")
    func damaged() async throws {
        let (picture, record) = try TierSamples.picture()
        let digest = record.key(try PictureRecipe(TierSamples.recipe))
        let tiers = tiers()
        let disk = try #require(tiers.disk)
        for metadata in ["", "jpeg 50", "jpeg 50 x", "gif 50 75", "jpeg 50 75 9"] {
            await disk.store(picture.bytes, metadata: Array(metadata.utf8), for: PictureTiers.key(digest))
            #expect(await tiers.picture(digest) == nil, "\(metadata)")
        }
        await disk.store([], metadata: Array("jpeg 50 75".utf8), for: PictureTiers.key(digest))
        #expect(await tiers.picture(digest) == nil)
        await disk.store(Array(record.text.dropLast(3).utf8), for: key)
        #expect(await tiers.record(key) == nil)

        await tiers.keep(record, for: key)
        await tiers.keepOnDisk(picture, as: digest)
        await disk.flush()
        try damageFiles()
        let second = self.tiers()
        #expect(await second.record(key) == nil)
        #expect(await second.picture(digest) == nil)
    }

    /// Changes a byte near the end of every file of the cache.
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

    @Test("a record is stored in no tier once its source was purged")
    func unwanted() async throws {
        let tiers = tiers()
        await tiers.keep(try TierSamples.record(), for: key) { true }
        #expect(await tiers.record(key) == nil)
        // The purge comes just after the record was stored in memory.
        var looks = 0
        await tiers.keep(try TierSamples.record(), for: key) {
            looks += 1
            return looks > 1
        }
        #expect(tiers.recordInMemory(key) == nil)
        #expect(await tiers.record(key) == nil)
    }

    @Test("a record that is removed while it is read from the shared tier stays removed")
    func removedMeanwhile() async throws {
        let key = CacheKey(url: try PictureSource("https://images.example/a").url, variant: "record")
        let store = try StoreServer()
        let writer = PictureTiers(memory: 1 << 20, disk: nil, shared: try SharedTier.patient(store.address))
        await writer.keep(try TierSamples.record(), for: key)
        await writer.shared?.flush()
        let gate = Gate()
        let objects = store.objects.value
        let held = try ScriptedOrigin([
            .readHead,
            .replyToLast(
                .reply { head, _ in
                    if head.hasPrefix("GET") { gate.wait() }
                    let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
                    let object = objects[path] ?? []
                    return Array("HTTP/1.1 200 OK\r\nContent-Length: \(object.count)\r\n\r\n".utf8) + object
                }),
        ])
        let disk = DiskCache(folder: folder.file("cache"))
        let reader = PictureTiers(
            memory: 1 << 20, disk: disk,
            shared: try SharedTier.patient("http://127.0.0.1:\(held.port)/posters"))
        let found = Task { await reader.record(key) }
        try await held.requests.wait(for: 1)
        await reader.removeRecord(key)
        // Until the store has removed a key, no read of it gives anything.
        try await eventually { reader.shared?.traffic.removals == 1 }
        gate.open()
        #expect(await found.value != nil)
        #expect(reader.recordInMemory(key) == nil)
        await disk.flush()
        #expect(await tiers().record(key) == nil)
    }
}
