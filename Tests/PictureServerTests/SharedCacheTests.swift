import HTTPSemantics
import LazyImages
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import PictureServer

/// RFC 9111 as a shared cache: the requests to a scripted origin and the answers to clients. Beside it, a
/// private cache: the library's loader.
@Suite("RFC 9111: cases of a shared and a private cache", .bounded)
struct SharedCacheTests {
    @Test("the service", arguments: CacheCase.all)
    func shared(_ row: CacheCase) async throws {
        let origin = try CaseOrigin(row)
        let client = try PictureClient(
            configure: { $0.downloads.authenticator = CaseAuthenticator() },
            answering: { origin.answer($0) })
        let first = try await client.get("w92")
        #expect(isTold(first["cache-control"], row))
        try await eventually { client.service.gate.usage.sources == 0 }
        client.clock.advance(by: row.wait)
        let second = try await client.get("w92", row.client)
        try await eventually { client.service.gate.usage.sources == 0 }
        let isStale = second["cache-status"]?.hasPrefix("marquee; hit; ttl=-") == true
        // The answer does not wait for the request that it begins.
        if row.shared == .meanwhile { try await eventually { origin.use(isStale: isStale) == .meanwhile } }
        #expect(origin.use(isStale: isStale) == row.shared, "\(second["cache-status"] ?? "")")
        #expect(
            second.status == first.status && second["etag"] == first["etag"] && second["age"] == first["age"])
        guard first.status == 200 else { return }
        #expect(first["age"] == "0")
        let forward: String? =
            switch row.shared {
            case .hit, .meanwhile: nil
            case .validates: "fwd=stale; fwd-status=304"
            case .fetches: "fwd=uri-miss; fwd-status=200"
            }
        let status = try #require(second["cache-status"])
        #expect(forward.map { status.contains($0) } ?? status.hasPrefix("marquee; hit; ttl="), "\(status)")
        #expect(status.contains("stored") == (row.shared == .validates), "\(status)")
        // None of the origin's own fields reaches a client.
        for name in ["set-cookie", "vary", "expires", "pragma", "last-modified", "www-authenticate"] {
            #expect(first[name] == nil && second[name] == nil, "\(name)")
        }
    }

    @Test("a private loader", arguments: CacheCase.all)
    func own(_ row: CacheCase) async throws {
        let origin = try CaseOrigin(row)
        let clock = TestClock()
        var configuration = ImageDownloader.Configuration()
        configuration.retry = .never
        configuration.authenticator = CaseAuthenticator()
        let loader = FileLoader.ephemeral(
            configuration: configuration, transport: HeldTransport { origin.answer($0) }, clock: clock.wall)
        let url = try PictureSource("https://\(PictureClient.host)/a").url
        func load(_ fields: HeaderFields) async -> LoadedFile? {
            // An answer without a picture is an error here: only the requests count.
            try? await loader.file(
                for: ImageRequest(url, options: .init(fields: row.isAuthorised ? [:] : fields)))
        }
        _ = await load([:])
        clock.advance(by: row.wait)
        // Memory keeps requests with other fields apart. The disk has the same rules.
        if row.client.fields.isEmpty {
            let second = await load([:])
            await loader.flush()
            #expect(origin.use(isStale: second?.source == .stale) == row.private)
        } else {
            let folder = try TemporaryFolder()
            let origin = try CaseOrigin(row)
            let loader = FileLoader(
                memory: nil, disk: DiskCache(folder: folder.file("cache")), configuration: configuration,
                transport: HeldTransport { origin.answer($0) }, clock: clock.wall)
            _ = try await loader.file(for: ImageRequest(url))
            clock.advance(by: row.wait)
            let second = try await loader.file(
                for: ImageRequest(url, options: .init(fields: row.client)))
            await loader.flush()
            #expect(origin.use(isStale: second.source == .stale) == row.private)
        }
    }

    /// Whether the first answer has the row's Cache-Control.
    private func isTold(_ control: String?, _ row: CacheCase) -> Bool {
        guard let control else { return false }
        let words = control.split(separator: ", ")
        guard row.control.contains("N"), words.count > 1,
            let number = Int(words[1].dropFirst("max-age=".count))
        else { return control == row.control }
        return (max(0, row.seconds - 60)...row.seconds).contains(number)
            && control.replacing("\(number)", with: "N") == row.control
    }

    @Test(
        "a stale answer replaces the error of a failing origin, if the rules of that kind of cache allow it",
        arguments: [
            ("max-age=600", true, true), ("max-age=600, must-revalidate", false, false),
            ("max-age=600, proxy-revalidate", false, true), ("s-maxage=600, max-age=600", false, true),
            ("no-cache", false, false), ("max-age=600, stale-if-error=9999", true, true),
            ("max-age=600, stale-if-error=5", false, false), ("max-age=600, stale-if-error=0", false, false),
        ])
    func failingOrigin(control: String, shared: Bool, own: Bool) async throws {
        let isFailing = Lock(false)
        let body = try Samples.jpeg(40, 60)
        let answer: @Sendable (TransportRequest) -> HeldTransport.Answer? = { _ in
            isFailing.withLock { $0 }
                ? HeldTransport.Answer([], status: 503)
                : HeldTransport.Answer(body, fields: ["Cache-Control": control])
        }
        let client = try PictureClient(answering: answer)
        #expect(try await client.get("w92").status == 200)
        var configuration = ImageDownloader.Configuration()
        configuration.retry = .never
        let loader = FileLoader.ephemeral(
            configuration: configuration, transport: HeldTransport(answering: answer),
            clock: client.clock.wall)
        let request = ImageRequest(try PictureSource("https://\(PictureClient.host)/a").url)
        _ = try await loader.file(for: request)
        isFailing.withLock { $0 = true }
        client.clock.advance(by: 700)
        #expect(try await client.get("w92").status == (shared ? 200 : 502))
        #expect((try? await loader.file(for: request).source) == (own ? .stale : nil))
    }

    @Test(
        "the fields of a 304 replace the stored ones",
        arguments: [
            ("max-age=1200", "public, max-age=N", 1), ("no-store", "no-store", 2), ("private", "no-store", 2),
            ("no-cache", "public, max-age=N, must-revalidate", 2),
        ])
    func newFields(control: String, told: String, conditional: Int) async throws {
        let body = try Samples.jpeg(40, 60)
        let client = try PictureClient(answering: { request in
            request.fields["if-none-match"] == nil
                ? HeldTransport.Answer(body, fields: ["Cache-Control": "max-age=600", "ETag": "\"a\""])
                : HeldTransport.Answer([], status: 304, fields: ["Cache-Control": control, "ETag": "\"a\""])
        })
        _ = try await client.get("w92")
        client.clock.advance(by: 700)
        let second = try await client.get("w92")
        #expect(second.status == 200 && second["cache-control"]?.hasPrefix(told.prefix { $0 != "N" }) == true)
        client.clock.advance(by: 1000)
        #expect(try await client.get("w92").status == 200)
        #expect(client.transport.started.count == conditional + 1)
    }

    @Test(
        "a picture is fresh no longer than its redirects, and permanent redirects are not requested again",
        arguments: [
            // status, its Cache-Control, seconds, the requests after that
            (302, nil, 100, "/a /b"), (302, "max-age=600", 100, ""), (302, "max-age=50", 100, "/a /b"),
            (307, "max-age=600", 100, ""), (301, nil, 100, ""), (308, nil, 100, ""), (301, nil, 700, "/b"),
            (301, "max-age=50", 100, "/a /b"), (301, "no-store", 100, "/a /b"),
            (301, "private", 100, "/a /b"),
            (302, "s-maxage=600, max-age=5", 100, ""), (303, nil, 100, "/a /b"),
        ] as [(Int, String?, Int, String)])
    func redirects(status: Int, control: String?, wait: Int, asked: String) async throws {
        let body = try Samples.jpeg(40, 60)
        let client = try PictureClient(answering: { request in
            guard request.url.path == "/a" else {
                return HeldTransport.Answer(body, fields: ["Cache-Control": "max-age=600", "ETag": "\"a\""])
            }
            var fields: HeaderFields = ["Location": "/b"]
            if let control { fields["Cache-Control"] = control }
            return HeldTransport.Answer([], status: status, fields: fields)
        })
        #expect(try await client.get("w92").status == 200)
        #expect(client.transport.requests.map(\.url.path) == ["/a", "/b"])
        client.clock.advance(by: wait)
        #expect(try await client.get("w92").status == 200)
        #expect(client.transport.requests.dropFirst(2).map(\.url.path).joined(separator: " ") == asked)
    }

    @Test(
        "the client's fields do not reach the origin, and a credential reaches no client and no other host"
    )
    func fields() async throws {
        let row = CacheCase(
            name: "", fields: ["Cache-Control": "public, max-age=600"], isAuthorised: true, wait: 0,
            shared: .hit, private: .hit, control: "")
        let origin = try CaseOrigin(row)
        let client = try PictureClient(
            configure: { $0.downloads.authenticator = CaseAuthenticator() }, answering: { origin.answer($0) })
        let answer = try await client.get(
            "w92",
            [
                "Cookie": "a=b", "Authorization": "Bearer mine", "Accept": "image/webp",
                "X-Forwarded-For": "1.2.3.4",
                "Referer": "https://secret.example/", "If-None-Match": "\"x\"", "Cache-Control": "no-cache",
            ])
        #expect(answer.status == 200)
        for request in client.transport.requests {
            for name in ["cookie", "x-forwarded-for", "referer", "if-none-match", "cache-control"] {
                #expect(request.fields[name] == nil, "\(name)")
            }
            #expect(request.fields["authorization"].map { $0 == "Bearer secret" } ?? true)
            #expect(request.fields["accept"]?.hasPrefix("image/jpeg, image/png, ") == true)
        }
        for field in answer.response.fields.fields { #expect(!field.value.contains("secret")) }
    }
}
