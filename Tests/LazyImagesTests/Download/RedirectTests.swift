import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Redirects", .bounded)
struct RedirectTests {
    private let transport = HeldTransport()

    @Test("a redirect is followed over real connections, and the image has the final URL")
    func followed() async throws {
        // By the path: libcurl may open a second connection.
        let moved = "HTTP/1.1 302 Found\r\nLocation: moved/b.png\r\nContent-Length: 5\r\n\r\nmoved"
        let found = "HTTP/1.1 200 OK\r\nContent-Length: \(SampleImages.png.count)\r\n\r\n"
        let origin = try ScriptedOrigin([
            .forever([
                .reply { head, _ in
                    head.hasPrefix("GET /p/moved/b.png ")
                        ? Array(found.utf8) + SampleImages.png : Array(moved.utf8)
                }
            ])
        ])
        let image = try await ImageDownloader().download(ImageRequest(.url(origin.url("/p/a.png"))))
        #expect(image.url == origin.url("/p/moved/b.png"))
        #expect(image.bytes.array == SampleImages.png)
        #expect(
            origin.heads.map { $0.prefix { $0 != "\r\n" } } == [
                "GET /p/a.png HTTP/1.1", "GET /p/moved/b.png HTTP/1.1",
            ])
    }

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
        ])
    func fields(location: String, areKept: Bool) async throws {
        let downloader = ImageDownloader(transport: transport)
        let request = ImageRequest(
            "http://me:secret@localhost/a", options: .init(fields: ["Cookie": "c", "Accept": "image/png"]))
        let caller = try await downloader.callers(1, of: request)
        try await transport.transfer(0).answer([], status: 302, fields: ["Location": location])
        let second = try await transport.transfer(1)
        #expect((second.request.fields["Authorization"] != nil) == areKept)
        #expect((second.request.fields["Cookie"] != nil) == areKept)
        #expect((second.request.fields["Accept"] == "image/png") == areKept)
        #expect(second.request.fields["Accept-Encoding"] == "identity")
        second.answer(SampleImages.png)
        #expect(await caller.outcomes[0].error == nil)
    }

    @Test(
        "the configuration's fields are sent only to their origin, and the request's own override them",
        arguments: [("/b", true), ("http://other.localhost/b", false)])
    func defaultFields(location: String, areKept: Bool) async throws {
        var configuration = ImageDownloader.Configuration()
        configuration.fields = ["X-App": "films", "Accept": "image/webp", "Cookie": "default"]
        let downloader = ImageDownloader(transport: transport, configuration: configuration)
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
        let (downloader, busy, moved) = try await betweenAttempts()
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

    @Test("cancelling the caller between two attempts ends the transfer")
    func leaving() async throws {
        let (downloader, busy, moved) = try await betweenAttempts()
        let next = try await downloader.callers(1, of: ImageRequest("http://a.localhost/next"))
        _ = try await transport.transfer(2)
        moved.tasks[0].cancel()
        #expect(await moved.outcomes[0].error?.code == "cancelled")
        try await transport.transfer(0).answer(SampleImages.png)
        try await transport.transfer(2).answer(SampleImages.png)
        for caller in [busy, next] { #expect(await caller.outcomes[0].error == nil) }
        #expect(transport.started.count == 3)
    }

    @Test("a redirect that the policy refuses is an error, and no request is sent to its target")
    func refused() async throws {
        let downloader = ImageDownloader(transport: transport)
        let caller = try await downloader.callers(1, of: ImageRequest("https://example.org/a"))
        try await transport.transfer().answer([], status: 301, fields: ["Location": "http://example.org/a"])
        let error = ImageLoadingError.redirectRefused(
            url: "https://example.org/a", location: "http://example.org/a",
            reason: "it leads from https to http"
        )
        #expect(await caller.outcomes[0].error == error)
        #expect(transport.started.count == 1)
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
        let downloader = ImageDownloader(transport: transport)
        let log = ProgressLog()
        let request = ImageRequest("http://localhost/a")
        async let image = downloader.download(request, progress: log.continuation)
        try await transport.transfer(0).answer([1, 2, 3], status: 302, fields: ["Location": "/b"])
        try await transport.transfer(1).answer(SampleImages.png)
        _ = try await image
        #expect(await log.untilFinished().map(\.received) == [0, SampleImages.png.count])
    }

    /// A transfer that waits, after a redirect, for the only slot of the other host: the downloader, that
    /// slot's caller and its own.
    private func betweenAttempts() async throws -> (
        downloader: ImageDownloader, busy: Callers<LoadedFile>, moved: Callers<LoadedFile>
    ) {
        var configuration = ImageDownloader.Configuration()
        configuration.transfersPerHost = 1
        let downloader = ImageDownloader(transport: transport, configuration: configuration)
        let busy = try await downloader.callers(1, of: ImageRequest("http://b.localhost/busy"))
        _ = try await transport.transfer(0)
        let moved = try await downloader.callers(1, of: ImageRequest("http://a.localhost/moved"))
        try await transport.transfer(1).answer(
            [], status: 307, fields: ["Location": "http://b.localhost/new"])
        return (downloader, busy, moved)
    }
}
