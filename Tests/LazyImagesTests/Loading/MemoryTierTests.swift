import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Memory's hits, misses and sources", .bounded)
struct MemoryTierTests {
    private let answering = HeldTransport { request in
        request.url.path.hasPrefix("/moved")
            ? HeldTransport.Answer([], status: 302, fields: ["Location": "/final.jpg"])
            : .fresh(SampleImages.jpeg)
    }

    @Test("a cold load is one miss, and a load from memory one hit, in both loaders")
    func counters() async throws {
        let loader = ImageLoader(disk: nil, transport: answering, pressure: nil)
        let requests = (0..<20).map { ImageRequest("http://localhost/\($0).jpg") }
        for request in requests {
            // Looks in memory first, as a list does.
            #expect(loader.cachedImage(for: request) == nil)
            _ = try await loader.image(for: request)
        }
        let files = try #require(loader.files.memory)
        #expect(loader.memory.counters.misses == 20 && loader.memory.counters.hits == 0)
        #expect(files.counters.misses == 20 && files.counters.hits == 0)
        for request in requests { _ = try await loader.image(for: request) }
        #expect(loader.memory.counters.misses == 20 && loader.memory.counters.hits == 20)
        #expect(files.counters.misses == 20 && files.counters.hits == 0)
    }

    @Test("a FileLoader counts one miss for each cold load, local files included")
    func fileCounters() async throws {
        let loader = FileLoader(disk: nil, transport: answering)
        for address in [
            "http://localhost/a.jpg", "data:image/png;base64," + Data(SampleImages.png).base64EncodedString(),
        ] {
            let request = try ImageRequest(URL(typed: address))
            for _ in 0..<2 { _ = try await loader.file(for: request) }
        }
        let counters = try #require(loader.memory?.counters)
        #expect(counters.misses == 2 && counters.hits == 2)
    }

    @Test(
        "an image decoded again from a file in memory has that source: for another size, and for a checksum")
    func decodedAnew() async throws {
        let loader = ImageLoader(disk: nil, transport: answering, pressure: nil)
        var request = ImageRequest("http://localhost/a.jpg")
        #expect(try await loader.image(for: request).source == .network)
        request.targetSize = ImageSize(width: 2, height: 3)
        #expect(try await loader.image(for: request).source == .decoded)
        #expect(try await loader.image(for: request).source == .memory)
        let checked = ImageRequest(
            "http://localhost/a.jpg", options: .init(checksum: ImageBytes(SampleImages.jpeg).checksum))
        #expect(try await loader.image(for: checked).source == .decoded)
        #expect(answering.started.count == 1)
    }

    @Test(
        "an image is removed by its requested URL and by the URL after redirects",
        arguments: ["moved", "final"])
    func removal(name: String) async throws {
        let loader = ImageLoader(disk: nil, transport: answering, pressure: nil)
        let other = ImageRequest("http://localhost/other.jpg")
        let moved = ImageRequest("http://localhost/moved.jpg")
        for request in [other, moved] { _ = try await loader.image(for: request) }
        let image = try #require(loader.cachedImage(for: moved))
        #expect(image.url.path == "/final.jpg" && image.requestedURL == moved.url)
        let url = try #require(URL(string: "http://LOCALHOST/\(name).jpg"))
        loader.memory.removeAll(from: url)
        loader.files.memory?.removeAll(from: url)
        #expect(loader.cachedImage(for: moved) == nil && loader.files.cachedFile(for: moved) == nil)
        #expect(loader.cachedImage(for: other) != nil && loader.files.cachedFile(for: other) != nil)
    }
}
