import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Damaged files", .bounded)
struct DamagedFileTests {
    private let folder: TemporaryFolder
    private let request = ImageRequest("http://localhost/a")
    private let time = Shared(1_767_225_600)

    /// Without its end; and with damage that only decoding finds.
    private static let cut = Array(SampleImages.jpeg.dropLast(2))
    private static let spoilt = {
        var png = SampleImages.png
        png[45] ^= 0xFF
        return png
    }()

    init() throws { folder = try TemporaryFolder() }

    private func loader(_ transport: HeldTransport) -> ImageLoader {
        ImageLoader(
            disk: DiskCache(folder: folder.file("cache")), configuration: .with { $0.retry = .never },
            transport: transport, pressure: nil, clock: WallClock { [time] in time.value })
    }

    /// A server whose answers are fresh for an hour, and have a length and a tag.
    private func server(_ body: Shared<[UInt8]>) -> HeldTransport {
        HeldTransport { request in
            var fields: HeaderFields = ["Cache-Control": "max-age=3600", "ETag": "\"1\""]
            if request.fields["if-none-match"] != nil {
                return HeldTransport.Answer([], status: 304, fields: fields)
            }
            fields["Content-Length"] = "\(body.value.count)"
            return HeldTransport.Answer(body.value, fields: fields)
        }
    }

    @Test(
        "a damaged file is shown, asked for again after a minute without conditions, and then stands",
        arguments: [cut, spoilt])
    func stands(bytes: [UInt8]) async throws {
        let server = server(Shared(bytes))
        func load(at seconds: Int) async throws -> LoadedFile.Source {
            time.change { $0 = 1_767_225_600 + seconds }
            let loader = loader(server)
            let image = try await loader.image(for: request)
            #expect(image.damage != nil && image.bitmap.damage == image.damage)
            #expect(try await loader.image(for: request).damage == image.damage)
            await loader.flush()
            return image.source
        }
        #expect(try await load(at: 0) == .network)
        #expect(try await load(at: 59) == .disk)
        #expect(try await load(at: 61) == .network)
        #expect(try await load(at: 3600) == .disk)
        #expect(try await load(at: 3700) == .revalidated)
        #expect(try await load(at: 7000) == .disk)
        let tags = server.requests.map { $0.fields["if-none-match"] }
        #expect(tags == [nil, nil, "\"1\""])
    }

    @Test("a damaged file heals in memory too", arguments: [cut, spoilt])
    func heals(bytes: [UInt8]) async throws {
        let body = Shared(bytes)
        let loader = loader(server(body))
        #expect(try await loader.image(for: request).damage != nil)
        body.change { $0 = SampleImages.jpeg }
        time.change { $0 += 59 }
        #expect(try await loader.image(for: request).damage != nil)
        time.change { $0 += 2 }
        #expect(try await loader.image(for: request).damage == nil)
        time.change { $0 += 3000 }
        #expect(try await loader.image(for: request).source == .memory)
    }

    @Test("without a length, only a file with its end is known to be all there is")
    func unframed() async throws {
        for fields in [HeaderFields(), ["Transfer-Encoding": "chunked"]] {
            let loader = loader(HeldTransport { _ in HeldTransport.Answer(Self.cut, fields: fields) })
            if fields.isEmpty {
                #expect(await loader.files.error(for: request)?.code == "truncated")
                await loader.flush()
                #expect(await loader.disk?.verify().entries == 0)
            } else {
                #expect(try await loader.image(for: request).damage != nil)
            }
        }
    }

    @Test("a request for whole images alone gets an error, from every tier", arguments: [cut, spoilt])
    func wholeOnly(bytes: [UInt8]) async throws {
        let server = server(Shared(bytes))
        let whole = ImageRequest(request.url, options: .init(acceptsDamage: false))
        for reads in [false, true, true] {
            let loader = loader(server)
            if reads { _ = try await loader.image(for: request) }
            await #expect(throws: ImageLoadingError.self) { try await loader.image(for: whole) }
            await loader.flush()
        }
    }

    @Test("a local file is shown with its damage")
    func local() async throws {
        try folder.write(Self.cut, to: "a.jpg")
        let loader = loader(HeldTransport())
        let image = try await loader.image(for: ImageRequest(URL(filePath: folder.file("a.jpg"))))
        #expect(image.damage == .truncated(offset: Self.cut.count))
    }

    @Test("a body of parts that proves damaged is fetched whole once")
    func resumed() async throws {
        // Damaged only where the parts meet: the rest of an older file follows.
        let comment: [UInt8] = [0xFF, 0xFE, 0xEA, 0x60] + [UInt8](repeating: 0x20, count: 59_998)
        let file = Array(SampleImages.jpeg.prefix(2)) + comment + SampleImages.jpeg.dropFirst(2)
        let transport = HeldTransport()
        let loader = loader(transport)
        let first = loader.imageTask(with: request)
        let begun = try await transport.transfer()
        begun.respond(200, ["ETag": "\"1\"", "Content-Length": "\(file.count)"])
        begun.send(Array(file.prefix(50_000)))
        begun.fail(.connectionLost(url: "", received: 50_000, reason: "lost"))
        await #expect(throws: ImageLoadingError.self) { try await first.value }
        let second = loader.imageTask(with: request)
        let rest = try await transport.transfer(1)
        #expect(rest.request.fields["range"] == "bytes=50000-")
        rest.answer(
            Array(file[50_000...].dropLast(2)) + [0, 0], status: 206,
            fields: ["Content-Range": "bytes 50000-\(file.count - 1)/\(file.count)", "ETag": "\"1\""])
        let whole = try await transport.transfer(2)
        #expect(whole.request.fields["range"] == nil)
        whole.answer(file, fields: ["Content-Length": "\(file.count)"])
        let image = try await second.value
        #expect(image.damage == nil && image.source == .network)
    }
}
