import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Redirects", .bounded)
struct RedirectTests {
    private let transport = HeldTransport()

    @Test("ten redirects are followed, the eleventh is an error")
    func limit() async throws {
        for (count, isFollowed) in [(10, true), (11, false)] {
            let transport = HeldTransport { request in
                let number = Int(request.url.lastPathComponent) ?? 0
                return number == count
                    ? HeldTransport.Answer(SampleImages.png)
                    : HeldTransport.Answer([], status: 301, fields: ["Location": "\(number + 1)"])
            }
            let downloader = ImageDownloader(transport: transport)
            let outcome = await downloader.unjoinedCallers(of: ImageRequest("http://localhost/0"))
                .outcomes[0]
            #expect((outcome.error == nil) == isFollowed)
            #expect(isFollowed || outcome.error == .tooManyRedirects(url: "http://localhost/0", limit: 10))
            #expect(downloader.transferCount == 0)
        }
    }

    @Test("a loop of redirects is an error as soon as it closes", arguments: [1, 2, 5])
    func loop(length: Int) async throws {
        let transport = HeldTransport { request in
            let number = Int(request.url.lastPathComponent) ?? 0
            return HeldTransport.Answer(
                [], status: 302, fields: ["Location": "HTTP://LOCALHOST:80/\((number + 1) % length)#x"])
        }
        let downloader = ImageDownloader(transport: transport)
        let outcome = await downloader.unjoinedCallers(of: ImageRequest("http://localhost/0")).outcomes[0]
        #expect(outcome.error?.code == "redirect-loop")
        #expect(transport.started.count == length)
    }

    @Test(
        "the caller's fields are sent only to the origin of the request",
        arguments: [
            ("/b", true), ("http://localhost:80/b", true), ("http://localhost:81/b", false),
            ("http://other.localhost/b", false), ("https://localhost/b", false),
            ("https://localhost:80/b", false),
        ])
    func fields(location: String, areKept: Bool) async throws {
        let downloader = ImageDownloader(transport: transport)
        let request = ImageRequest(
            "http://me:secret@localhost/a",
            options: .init(fields: ["Cookie": "c", "Accept": "image/png", "X-A": "1", "X-a": "2"]))
        let caller = try await downloader.callers(1, of: request)
        try await transport.transfer(0).answer([], status: 302, fields: ["Location": location])
        let second = try await transport.transfer(1)
        #expect((second.request.fields["Authorization"] != nil) == areKept)
        #expect((second.request.fields["Cookie"] != nil) == areKept)
        #expect((second.request.fields.values(of: "Accept") == ["image/png"]) == areKept)
        #expect((second.request.fields.values(of: "x-a") == ["1", "2"]) == areKept)
        #expect(second.request.fields["Accept-Encoding"] == "identity")
        second.answer(SampleImages.png)
        #expect(await caller.outcomes[0].error == nil)
    }

    @Test(
        "the configuration's fields are sent only to their origin, and the request's own override them",
        arguments: [("/b", true), ("http://other.localhost/b", false)])
    func defaultFields(location: String, areKept: Bool) async throws {
        let downloader = ImageDownloader(
            transport: transport,
            configuration: .with {
                $0.fields = ["X-App": "films", "Accept": "image/webp", "Cookie": "default"]
            })
        let request = ImageRequest("http://localhost/a", options: .init(fields: ["Cookie": "own"]))
        let caller = try await downloader.callers(1, of: request)
        let first = try await transport.transfer(0)
        #expect(first.request.fields["X-App"] == "films" && first.request.fields["Accept"] == "image/webp")
        #expect(first.request.fields.values(of: "Cookie") == ["own"])
        #expect(first.request.fields["User-Agent"] == "Marquee")
        first.answer([], status: 302, fields: ["Location": location])
        let second = try await transport.transfer(1)
        #expect((second.request.fields["X-App"] == "films") == areKept)
        #expect((second.request.fields["Accept"] == "image/webp") == areKept)
        #expect((second.request.fields["Cookie"] == "own") == areKept)
        #expect(second.request.fields["User-Agent"] == "Marquee")
        second.answer(SampleImages.png)
        #expect(await caller.outcomes[0].error == nil)
    }

    @Test("the caller's fields are sent again when a redirect returns to the origin")
    func detour() async throws {
        let downloader = ImageDownloader(transport: transport)
        let caller = try await downloader.callers(
            1, of: ImageRequest("http://localhost/a", options: .init(fields: ["Cookie": "c"])))
        try await transport.transfer(0).answer([], status: 302, fields: ["Location": "http://b.localhost/"])
        try await transport.transfer(1).answer([], status: 302, fields: ["Location": "http://localhost/c"])
        try await transport.transfer(2).answer(SampleImages.png)
        #expect(await caller.outcomes[0].error == nil)
        #expect(transport.requests.map { $0.fields["Cookie"] } == ["c", nil, "c"])
    }

    @Test("a redirect to another host waits for a slot there and frees its own")
    func places() async throws {
        let downloader = ImageDownloader(
            transport: transport, configuration: .with { $0.transfersPerHost = 1 })
        let busy = try await downloader.callers(1, of: ImageRequest("http://b.localhost/busy"))
        _ = try await transport.transfer(0)
        let moved = try await downloader.callers(1, of: ImageRequest("http://a.localhost/moved"))
        try await transport.transfer(1).answer(
            [], status: 307, fields: ["Location": "http://b.localhost/new"])
        // The start shows that the first host's slot is free. The second host's slot is still taken.
        let next = try await downloader.callers(1, of: ImageRequest("http://a.localhost/next"))
        try await transport.transfer(2).answer(SampleImages.png)
        #expect(await next.outcomes[0].error == nil)
        #expect(transport.requests.map(\.url.path) == ["/busy", "/moved", "/next"])
        try await transport.transfer(0).answer(SampleImages.png)
        try await transport.transfer(3).answer(SampleImages.png)
        for caller in [busy, moved] { #expect(await caller.outcomes[0].error == nil) }
        #expect(transport.requests[3].url.absoluteString == "http://b.localhost/new")
    }

    @Test("a redirect without a Location is an error with its status")
    func noLocation() async throws {
        let downloader = ImageDownloader(transport: transport)
        let caller = try await downloader.callers(1, of: ImageRequest("http://localhost/a"))
        try await transport.transfer().answer([], status: 302)
        #expect(await caller.outcomes[0].error == .httpStatus(url: "http://localhost/a", status: 302))
    }

    @Test("the body of a redirect reports no progress")
    func progress() async throws {
        let loader = FileLoader.ephemeral(transport: transport)
        let log = ProgressLog()
        let request = ImageRequest("http://localhost/a")
        async let image = loader.file(for: request, progress: log.continuation)
        try await transport.transfer(0).answer([1, 2, 3], status: 302, fields: ["Location": "/b"])
        try await transport.transfer(1).answer(SampleImages.png)
        _ = try await image
        #expect(await log.untilFinished().map(\.received) == [0, SampleImages.png.count])
    }
}
