import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

/// A write's effect on the cached files of its URLs (RFC 9111 section 4.4).
@Suite("Writes and caches", .bounded)
struct UploadInvalidationTests {
    private let folder: TemporaryFolder
    private let loader: ImageLoader
    private let transport: HeldTransport
    private let names = ["written", "location", "content", "other"]

    init() throws {
        folder = try TemporaryFolder()
        transport = HeldTransport { request in
            switch request.method {
            case .get: .fresh(SampleImages.png)
            case .put:
                HeldTransport.Answer(
                    [], status: 201, fields: ["Location": "location", "Content-Location": "/content"])
            case .post:
                HeldTransport.Answer(
                    [], status: 204, fields: ["Location": "http://other.localhost/location"])
            default: HeldTransport.Answer([], status: 412)
            }
        }
        loader = ImageLoader(
            disk: DiskCache(folder: folder.file("cache")), transport: transport, pressure: nil)
    }

    private func request(_ name: String, host: String = "localhost", fields: HeaderFields = .init())
        throws -> ImageRequest
    {
        ImageRequest("http://\(host)/\(name)", options: .init(fields: fields))
    }

    /// The names that a tier has.
    private func cached() throws -> [String] {
        try names.filter {
            let request = try request($0)
            let isInMemory = loader.cachedImage(for: request) != nil
            #expect((loader.disk?.contains(request.key) == true) == isInMemory)
            return isInMemory
        }
    }

    @Test("a successful write removes its URL, Location and Content-Location from both tiers")
    func succeeded() async throws {
        for name in names { _ = try await loader.image(for: try request(name)) }
        await loader.flush()
        #expect(try cached() == names)
        _ = try await Uploader(loader).upload(UploadRequest("http://LOCALHOST:80/written#x", .put))
        #expect(try cached() == ["other"])
    }

    @Test("files that were loaded with the same credentials are removed too")
    func credentials() async throws {
        let fields: HeaderFields = ["Authorization": "Bearer t"]
        let mine = try request("written", fields: fields)
        _ = try await loader.image(for: mine)
        await loader.flush()
        _ = try await Uploader(loader).upload(
            UploadRequest(url: mine.url, .put, fields: ["Authorization": "Bearer t", "If-Match": "*"]))
        #expect(loader.cachedImage(for: mine) == nil && loader.disk?.contains(mine.key) == false)
    }

    @Test("a failed write removes nothing, and a Location of another origin is not removed")
    func kept() async throws {
        let elsewhere = try request("location", host: "other.localhost")
        for name in names { _ = try await loader.image(for: try request(name)) }
        _ = try await loader.image(for: elsewhere)
        await loader.flush()
        _ = try await Uploader(loader).upload(UploadRequest("http://localhost/written", .delete))
        #expect(try cached() == names)
        _ = try await Uploader(loader).upload(UploadRequest("http://localhost/written", .post))
        #expect(loader.cachedImage(for: elsewhere) != nil)
        #expect(try cached() == ["location", "content", "other"])
    }

    @Test("a load that runs when the write ends reaches its callers and is not stored")
    func underWay() async throws {
        let held = HeldTransport { $0.method == .get ? nil : HeldTransport.Answer([], status: 204) }
        let files = FileLoader(disk: DiskCache(folder: folder.file("cache")), transport: held)
        let request = try request("written")
        async let file = files.file(for: request)
        let transfer = try await held.transfer(0)
        _ = try await Uploader(files).upload(UploadRequest(url: request.url, .put))
        transfer.answer(SampleImages.png, fields: ["Cache-Control": "max-age=60"])
        #expect(try await file.source == .network)
        await files.flush()
        #expect(files.cachedFile(for: request) == nil)
        #expect(files.disk?.contains(request.key) == false)
    }
}
