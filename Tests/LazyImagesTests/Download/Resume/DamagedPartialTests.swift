import FoundationEssentials
import ImageCodecs
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

/// Partial bodies on disk that changed between two processes. The result is always the origin's file.
@Suite("Damaged partial bodies", .bounded)
struct DamagedPartialTests {
    /// How many bytes of the body the first, broken transfer gets: four blocks of 65,536 and one of 37,856.
    private static let received = 300_000

    private let folder: TemporaryFolder
    private static let sample = SampleImages.png(bytes: 400_000)
    private var body: [UInt8] { Self.sample }

    init() throws { folder = try TemporaryFolder() }

    /// The two files of a partial body.
    struct Files: Sendable {
        /// A header, and the body's first 300,000 bytes.
        var partial: [UInt8]
        /// 8 bytes, then 16 for the header and 16 for each block of the body. Nil for no file.
        var checksums: [UInt8]?

        /// The length of the header, which is the third word of its first line.
        private var headerLength: Int {
            Int(String(decoding: partial.prefix(40), as: UTF8.self).split(separator: " ")[2]) ?? 0
        }

        /// Flips all bits of a byte of the body.
        mutating func damage(body offset: Int) { partial[headerLength + offset] ^= 0xff }
        mutating func damage(checksums offset: Int) { checksums?[offset] ^= 0xff }
        mutating func cut(body count: Int) { partial = Array(partial.prefix(headerLength + count)) }
        mutating func cut(checksums count: Int) { checksums = checksums.map { Array($0.prefix(count)) } }
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Where the next transfer goes on; 0 for a transfer of the whole body.
        let offset: Int
        let apply: @Sendable (inout Files) -> Void

        init(_ description: String, _ offset: Int, _ apply: @escaping @Sendable (inout Files) -> Void) {
            (testDescription, self.offset, self.apply) = (description, offset, apply)
        }
    }

    @Test(
        "only the beginning whose blocks match is resumed; without one the whole body is fetched, and that is counted",
        arguments: [
            Damage("untouched", 300_000) { _ in },
            Damage("the body's first byte", 0) { $0.damage(body: 0) },
            Damage("the last byte of the first block", 0) { $0.damage(body: 65_535) },
            Damage("the first byte of the second block", 65_536) { $0.damage(body: 65_536) },
            Damage("the middle", 131_072) { $0.damage(body: 150_000) },
            Damage("the last byte", 262_144) { $0.damage(body: 299_999) },
            Damage("zeros from the middle on", 131_072) { $0.partial.zero(from: $0.partial.count - 150_000) },
            Damage("cut in a block", 196_608) { $0.cut(body: 200_000) },
            Damage("cut after a block", 196_608) { $0.cut(body: 196_608) },
            Damage("cut in the first block", 0) { $0.cut(body: 65_535) },
            Damage("cut after the header", 0) { $0.cut(body: 0) },
            Damage("cut in the header", 0) { $0.cut(body: -5) },
            Damage("empty", 0) { $0.partial = [] },
            Damage("longer than its checksums", 300_000) {
                $0.partial += [UInt8](repeating: 7, count: 90_000)
            },
            Damage("a byte of the stored head", 0) { $0.damage(body: -5) },
            Damage("the magic", 0) { $0.partial[1] ^= 1 },
            Damage("no checksums, as from an older version", 0) { $0.checksums = nil },
            Damage("empty checksums", 0) { $0.cut(checksums: 0) },
            Damage("checksums cut in their magic", 0) { $0.cut(checksums: 7) },
            Damage("only the magic", 0) { $0.cut(checksums: 8) },
            Damage("only the header's checksum", 0) { $0.cut(checksums: 24) },
            Damage("a cut checksum of the first block", 0) { $0.cut(checksums: 39) },
            Damage("a cut checksum of the third block", 131_072) { $0.cut(checksums: 71) },
            Damage("another magic", 0) { $0.damage(checksums: 0) },
            Damage("an unknown version", 0) { $0.checksums?[4] = 2 },
            Damage("the header's checksum", 0) { $0.damage(checksums: 16) },
            Damage("the third block's checksum", 131_072) { $0.damage(checksums: 64) },
            Damage("the third block's length", 131_072) { $0.damage(checksums: 56) },
            Damage("a negative length", 131_072) { $0.damage(checksums: 63) },
            Damage("a block without bytes", 131_072) { $0.checksums?.zero(from: 56) },
            Damage("more checksums than blocks", 300_000) {
                $0.checksums? += [UInt8](repeating: 1, count: 40)
            },
        ])
    func damaged(by damage: Damage) async throws {
        let origin = try origin(body)
        let request = ImageRequest(origin.url())
        let broken = await loader().error(for: request)
        #expect(broken?.code == "truncated" || broken?.code == "connection-lost")
        try change(damage.apply)

        let loader = loader()
        let file = try await loader.file(for: request)
        #expect(isBody(file.bytes))
        #expect(file.source == (damage.offset > 0 ? .resumed : .network))
        #expect(origin.heads.count == 2)
        #expect(origin.heads.last.flatMap(Self.rangeStart) == (damage.offset > 0 ? damage.offset : nil))
        await loader.flush()
        let disk = try #require(loader.disk)
        #expect(disk.counters.corrupt == (damage.offset > 0 ? 0 : 1))
        #expect(await disk.totals().corrupt == disk.counters.corrupt)
        #expect(disk.counters.faults == 0 && loader.downloader.partialCounters.faults == 0)
        #expect(try names("cache").isEmpty)
        let stored = DiskCache(folder: folder.file("cache"))
        #expect(isBody(await stored.entry(for: request.key)?.body))
    }

    @Test("a picture whose partial body was damaged looks like the origin's")
    func picture() async throws {
        var random = SeededNumbers(seed: 30)
        let (width, height) = (320, 320)
        let pixels = (0..<width * height * 4).map { index in
            index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: random.next())
        }
        let jpeg = try JPEGEncoder(quality: 100).encode(Bitmap(width: width, height: height, pixels: pixels))
        let origin = try origin(jpeg, type: "image/jpeg", sent: 100_000)
        let request = ImageRequest(origin.url("/a.jpg"))
        #expect(await loader().error(for: request) != nil)
        try change { $0.damage(body: 80_000) }
        let loader = ImageLoader(disk: DiskCache(folder: folder.file("cache")), pressure: nil)
        let image = try await loader.image(for: request)
        #expect(origin.heads.last.flatMap(Self.rangeStart) == 65_536)
        let isRight = image.bitmap.pixels == (try ImageDecoders.standard.decode(jpeg).pixels)
        #expect(isRight)
    }

    @Test(
        "a process that is killed before any write leaves a valid beginning; damage after it is not resumed")
    func killed() async throws {
        let left = Shared<[Files]>([])
        let cache = folder.file("cache")
        let calls = FileCalls { kind in
            // What a process leaves that is killed now.
            if kind == .write, let files = try? Files(in: cache + "/partial") {
                left.change { $0.append(files) }
            }
            return nil
        }
        let origin = try origin(body)
        let request = ImageRequest(origin.url())
        #expect(await loader(calls: calls, partialMinimum: 4096).error(for: request) != nil)
        #expect(left.value.count > 10)
        for (number, var files) in left.value.enumerated() {
            let folderName = "killed-\(number)"
            let written = files.partial.count
            if !files.partial.isEmpty { files.partial[written - 1] ^= 0xff }
            try files.write(in: folder.file(folderName + "/partial"), name: request.transferKey)
            let loader = loader(folderName)
            #expect(isBody(try await loader.file(for: request).bytes))
            let offset = origin.heads.last.flatMap(Self.rangeStart) ?? 0
            #expect(offset % BlockChecksums.blockSize == 0)
            // The header, the block that is not complete, and the damaged one.
            #expect(written - offset < 2 * BlockChecksums.blockSize + 1000)
            #expect(loader.disk?.counters.corrupt == (offset > 0 ? 0 : 1))
            #expect(try names(folderName).isEmpty)
        }
    }

    @Test("a beginning that was cut off and resumed is resumed again, with the bytes of both transfers")
    func twice() async throws {
        let origin = try origin(body, breaks: 2)
        let request = ImageRequest(origin.url())
        #expect(await loader().error(for: request) != nil)
        try change { $0.damage(body: 150_000) }
        #expect(await loader().error(for: request) != nil)
        #expect(origin.heads.last.flatMap(Self.rangeStart) == 131_072)
        try change { $0.damage(body: 299_999) }
        #expect(isBody(try await loader().file(for: request).bytes))
        #expect(origin.heads.last.flatMap(Self.rangeStart) == 262_144)
        #expect(origin.heads.count == 3)
    }

    @Test("checksums that cannot be written fail no transfer, but its partial body is not resumed")
    func failingChecksums() async throws {
        let writes = Shared(0)
        // Writes the magic, the header, its checksum and the first bytes; then fails to write their checksums.
        let calls = FileCalls { kind in
            guard kind == .write else { return nil }
            return writes.change { count in
                count += 1
                return count == 5 ? .failure(28) : nil
            }
        }
        let transport = HeldTransport()
        let request = ImageRequest("http://localhost/a.png")
        func start(_ number: Int, calls: FileCalls = FileCalls()) async throws -> (
            Callers<LoadedFile>, HeldTransfer, FileLoader
        ) {
            let loader = self.loader(calls: calls, transport: transport)
            let caller = try await loader.callers(1, of: request)
            return (caller, try await transport.transfer(number), loader)
        }
        let (caller, first, failing) = try await start(0, calls: calls)
        first.respond(200, ["ETag": "\"1\"", "Content-Length": "400000"])
        first.send(Array(body.prefix(Self.received)))
        first.fail(.connectionLost(url: "", received: Self.received, reason: ""))
        #expect(await caller.outcomes[0].error?.code == "connection-lost")
        #expect(failing.downloader.partialCounters.faults == 1)
        #expect(failing.downloader.partialCounters.lastFault?.contains("No space left") == true)

        let (next, second, loader) = try await start(1)
        #expect(second.request.fields["range"] == nil)
        second.answer(body, fields: ["ETag": "\"1\"", "Content-Length": "400000"])
        #expect(isBody(try await next.outcomes[0].get().bytes))
        #expect(loader.disk?.counters.corrupt == 1)
    }

    /// Whether the bytes are the whole body. A failed expectation of the two arrays would take minutes to compare them.
    private func isBody(_ bytes: ImageBytes?) -> Bool { bytes?.array == body }

    /// Breaks off after the first `sent` bytes in the first `breaks` answers. Others have the rest or the whole body.
    private func origin(
        _ body: [UInt8], type: String = "image/png", sent: Int = Self.received, breaks: Int = 1
    ) throws -> ScriptedOrigin {
        let requests = Shared(0)
        return try ScriptedOrigin([
            .reply { head, _ in
                let isBroken = requests.change { count in
                    count += 1
                    return count <= breaks
                }
                let start = Self.rangeStart(head)
                var fields = "Content-Type: \(type)\r\nETag: \"1\"\r\nConnection: close\r\n"
                fields += "Content-Length: \(body.count - (start ?? 0))\r\n"
                if let start { fields += "Content-Range: bytes \(start)-\(body.count - 1)/\(body.count)\r\n" }
                let status = start == nil ? "200 OK" : "206 Partial Content"
                return Array("HTTP/1.1 \(status)\r\n\(fields)\r\n".utf8)
                    + body[(start ?? 0)..<(isBroken ? sent : body.count)]
            }
        ])
    }

    private static func rangeStart(_ head: String) -> Int? {
        head.firstRange(of: "Range: bytes=").flatMap { Int(head[$0.upperBound...].prefix { $0.isNumber }) }
    }

    /// A new loader, as another process has.
    private func loader(
        _ name: String = "cache", calls: FileCalls = FileCalls(), partialMinimum: Int? = nil,
        transport: any Transport = CurlTransport()
    ) -> FileLoader {
        var configuration = ImageDownloader.Configuration.once
        if let partialMinimum { configuration.partialMinimum = partialMinimum }
        configuration.fileCalls = calls
        return FileLoader(
            memory: nil, disk: DiskCache(folder: folder.file(name)), configuration: configuration,
            transport: transport)
    }

    /// Changes the files of the only partial body.
    private func change(_ body: (inout Files) -> Void) throws {
        let path = folder.file("cache/partial")
        var files = try Files(in: path)
        body(&files)
        let name = try #require(try names("cache").first { !$0.hasSuffix(".sums") })
        try files.write(in: path, name: name)
    }

    private func names(_ cache: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file(cache + "/partial"))
    }
}

extension DamagedPartialTests.Files {
    fileprivate init(in path: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        func bytes(_ isWanted: (String) -> Bool) throws -> [UInt8]? {
            try names.first(where: isWanted).map {
                [UInt8](try Data(contentsOf: URL(filePath: path + "/" + $0)))
            }
        }
        partial = try bytes { !$0.hasSuffix(".sums") } ?? []
        checksums = try bytes { $0.hasSuffix(".sums") }
    }

    fileprivate func write(in path: String, name: CacheKey) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try write(in: path, name: name.digest.hexadecimal)
    }

    fileprivate func write(in path: String, name: String) throws {
        try Data(partial).write(to: URL(filePath: path + "/" + name))
        let second = path + "/" + name + ".sums"
        if let checksums {
            try Data(checksums).write(to: URL(filePath: second))
        } else if FileManager.default.fileExists(atPath: second) {
            try FileManager.default.removeItem(atPath: second)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func zero(from start: Int) {
        for index in start..<count { self[index] = 0 }
    }
}
