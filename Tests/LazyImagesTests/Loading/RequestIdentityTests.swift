import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Requests with an id", .bounded)
struct RequestIdentityTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func loader(_ transport: HeldTransport) -> FileLoader {
        FileLoader(disk: DiskCache(folder: folder.file("cache")), transport: transport)
    }

    /// The same image at an address with another signature.
    private func poster(signature: Int) throws -> ImageRequest {
        try ImageRequest(url: URL(typed: "https://cdn.example/7.png?signature=\(signature)"), id: "poster-7")
    }

    @Test("all tiers find the image by its id, whatever its present address")
    func tiers() async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let first = loader(transport)
        #expect(try await first.file(for: poster(signature: 1)).source == .network)
        #expect(try await first.file(for: poster(signature: 2)).source == .memory)
        await first.flush()
        #expect(try await loader(transport).file(for: poster(signature: 3)).source == .disk)
        let other = try ImageRequest(url: URL(typed: "https://cdn.example/7.png?signature=1"), id: "poster-8")
        #expect(try await first.file(for: other).source == .network)
        #expect(
            transport.requests.map { $0.url.absoluteString } == [
                "https://cdn.example/7.png?signature=1", "https://cdn.example/7.png?signature=1",
            ])
    }

    @Test("callers of one id share a transfer")
    func sharing() async throws {
        let held = HeldTransport()
        let loader = loader(held)
        let first = try await loader.callers(1, of: try poster(signature: 1))
        let second = try await loader.callers(1, of: try poster(signature: 2))
        try await held.transfer().answer(SampleImages.png)
        for callers in [first, second] {
            #expect(try await callers.outcomes[0].get().bytes.array == SampleImages.png)
        }
        #expect(held.started.count == 1)
    }

    @Test("a stale image is revalidated at its present address, not where its old address redirected to")
    func revalidated() async throws {
        let transport = HeldTransport { request in
            switch (request.url.query(), request.fields["if-none-match"]) {
            case ("signature=1", _):
                HeldTransport.Answer(
                    [], status: 301, fields: ["Location": "/old.png", "Cache-Control": "max-age=3600"])
            case (nil, nil):
                HeldTransport.Answer(
                    SampleImages.png, fields: ["ETag": "\"a\"", "Cache-Control": "max-age=0"])
            case ("signature=2", "\"a\""): HeldTransport.Answer([], status: 304, fields: ["ETag": "\"a\""])
            default: HeldTransport.Answer([], status: 403)
            }
        }
        let loader = loader(transport)
        #expect(try await loader.file(for: poster(signature: 1)).source == .network)
        #expect(try await loader.file(for: poster(signature: 2)).source == .revalidated)
    }

    @Test("an id, its variant and its fields make one key, and a URL is not an id")
    func keys() throws {
        let plain = try poster(signature: 1)
        #expect(plain.key.text == "id poster-7" && plain.id == "poster-7")
        #expect(plain.key == plain.key && plain.transferKey == plain.key)
        #expect(plain.key == CacheKey(id: "poster-7") && plain.key.host.isEmpty)
        let url = plain.url
        let keyed = ImageRequest(url: url, id: "poster-7", options: .init(fields: ["Authorization": "x"]))
        #expect(keyed.key.text.hasPrefix("id poster-7\nheader authorization sha256:"))
        let variant = ImageRequest(url: url, id: "poster-7", options: .init(variant: "w342"))
        #expect(variant.key.text == "id poster-7\nvariant w342" && variant.transferKey == plain.key)
        #expect(ImageRequest(id: "poster-7") { [UInt8]() }.key == plain.key)
        #expect(CacheKey(id: "a\nvariant b").text == "id a%0avariant%20b")
        #expect(try plain != poster(signature: 2), "their URLs differ")
        #expect(ImageRequest("https://cdn.example/7.png").id == nil)
    }

    @Test("no id traps")
    func hostileIDs() {
        for id in ["//[", "\u{0}", "#?", "[::1", "//a:b", "%", "é\n", "//"] {
            let request = ImageRequest(id: id) { [UInt8]() }
            #expect(!request.url.absoluteString.isEmpty && request.id == id)
            #expect(request.key.text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f })
        }
    }
}
