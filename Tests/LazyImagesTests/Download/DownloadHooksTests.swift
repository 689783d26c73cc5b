import FoundationEssentials
import LazyImages
import TestSupport
import TestTraits
import Testing

@Suite("What a program decides about downloads", .bounded)
struct DownloadHooksTests {
    private struct NoKey: Error, CustomStringConvertible {
        let description = "no key"
    }

    private func loader(
        _ transport: HeldTransport, _ configure: (inout ImageDownloader.Configuration) -> Void
    ) -> FileLoader {
        .ephemeral(configuration: .with(configure), transport: transport)
    }

    private let request = ImageRequest("https://example.org/a.png")

    @Test("a program's own strategy decides about retries, and learns of each failure")
    func strategy() async throws {
        struct OnlyMissing: RetryStrategy {
            let asked: Shared<[String]>
            func pause(after attempt: FailedAttempt) async -> Duration? {
                await Task.yield()
                asked.change { $0.append("\(attempt.attempts) \(attempt.reason) \(attempt.retryAfter ?? 0)") }
                if case .status(404) = attempt.reason, attempt.attempts < 3 { return .zero }
                return nil
            }
        }
        let asked = Shared<[String]>([])
        let transport = HeldTransport { _ in
            HeldTransport.Answer([], status: 404, fields: ["Retry-After": "7"])
        }
        let missing = loader(transport) { $0.retryStrategy = OnlyMissing(asked: asked) }
        await #expect(throws: ImageLoadingError.self) { try await missing.file(for: request) }
        #expect(asked.value == ["1 status(404) 7", "2 status(404) 7", "3 status(404) 7"])
        let busy = HeldTransport { _ in HeldTransport.Answer([], status: 503) }
        let once = loader(busy) { $0.retryStrategy = OnlyMissing(asked: asked) }
        await #expect(throws: ImageLoadingError.self) { try await once.file(for: request) }
        #expect(busy.requests.count == 1)
    }

    @Test("each request can be changed before it is sent; the file keeps its own address")
    func signed() async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let loader = loader(transport) { configuration in
            configuration.beforeSending = { request in
                await Task.yield()
                request.url.append(queryItems: [URLQueryItem(name: "signature", value: "7")])
                request.fields["X-Date"] = "today"
            }
        }
        let file = try await loader.file(for: request)
        #expect(file.url == request.url)
        #expect(transport.requests.map(\.url.absoluteString) == ["https://example.org/a.png?signature=7"])
        #expect(transport.requests[0].fields["x-date"] == "today")
        #expect(try await loader.file(for: request).source == .memory)
    }

    @Test("a failed change, or one of the origin, ends the load and sends nothing")
    func unsigned() async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let failing = loader(transport) { $0.beforeSending = { _ in throw NoKey() } }
        let failure = await #expect(throws: ImageLoadingError.self) { try await failing.file(for: request) }
        #expect(
            failure == .dataFailed(url: "https://example.org/a.png", reason: "beforeSending failed: no key"))
        let own = ImageLoadingError.notCached(url: "x")
        let typed = loader(transport) { $0.beforeSending = { _ in throw own } }
        #expect(await #expect(throws: ImageLoadingError.self) { try await typed.file(for: request) } == own)
        let elsewhere = loader(transport) { configuration in
            configuration.beforeSending = { request in
                request.url = try #require(URL(string: "https://other.example/a.png"))
            }
        }
        let refusal = await #expect(throws: ImageLoadingError.self) { try await elsewhere.file(for: request) }
        #expect(refusal?.code == "redirect-refused")
        #expect(transport.requests.isEmpty)
    }

    @Test(
        "a secret that is added to the query is not sent elsewhere by a redirect that repeats it, and is in no message",
        arguments: [
            "https://other.example/b.png?size=1&key=s3cr3t", "/login?to=%2Fa.png%3Fkey%3Ds3cr3t",
            "http://x/?key=s3cr3t",
        ])
    func repeatedSecret(location: String) async throws {
        let transport = HeldTransport { request in
            request.url.path() == "/a.png"
                ? HeldTransport.Answer([], status: 302, fields: ["Location": location])
                : .fresh(SampleImages.png)
        }
        let events = Shared<[String]>([])
        let loader = loader(transport) { configuration in
            configuration.onTransferEvent = { event in events.change { $0.append("\(event)") } }
            configuration.beforeSending = { request in
                guard request.url.path() == "/a.png" else { return }
                request.url.append(queryItems: [URLQueryItem(name: "key", value: "s3cr3t")])
            }
        }
        let sized = ImageRequest("https://example.org/a.png?size=1")
        let file: Result<LoadedFile, any Error>
        do { file = .success(try await loader.file(for: sized)) } catch { file = .failure(error) }
        #expect(transport.requests[0].url.query() == "size=1&key=s3cr3t")
        #expect(!transport.requests.dropFirst().contains { "\($0.url)".contains("s3cr3t") })
        #expect(!"\(file) \(events.value)".contains("s3cr3t"))
        if location.contains("other") { #expect(try file.get().url.query()?.hasPrefix("size=1") == true) }
    }

    @Test("credentials that are added last keep the answer as private as the request's own")
    func addedCredentials() async throws {
        let transport = HeldTransport { _ in
            HeldTransport.Answer(SampleImages.png, fields: ["Cache-Control": "max-age=60"])
        }
        let loader = loader(transport) { configuration in
            configuration.cacheKind = .shared
            configuration.beforeSending = { $0.fields["Authorization"] = "Bearer 7" }
        }
        for _ in 0..<2 { #expect(try await loader.file(for: request).source == .network) }
    }

    @Test("every event of a transfer reaches the program's closure, though nobody reads the activity")
    func events() async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let kinds = Shared<[String]>([])
        let loader = loader(transport) { configuration in
            configuration.onTransferEvent = { event in
                kinds.change { kinds in
                    switch event.kind {
                    case .waiting: kinds.append("waiting")
                    case .started: kinds.append("started")
                    case .finished(let status, _): kinds.append("finished \(status)")
                    default: kinds.append("\(event.kind)")
                    }
                }
            }
        }
        _ = try await loader.file(for: request)
        #expect(kinds.value == ["waiting", "started", "finished 200"])
    }

    @Test("a file on disk older than the limit of age is fetched again, whatever HTTP and the policy allow")
    func age() async throws {
        let folder = try TemporaryFolder()
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let now = Shared(1_000_000)
        func source(_ age: Duration?, _ policy: ImageRequest.CachePolicy) async throws -> LoadedFile.Source {
            let loader = FileLoader(
                memory: nil, disk: DiskCache(folder: folder.path),
                configuration: .with { $0.maximumAge = age },
                transport: transport, clock: WallClock { now.value })
            let request = ImageRequest("https://example.org/a.png", cachePolicy: policy)
            defer { withExtendedLifetime(loader) {} }
            let source = try await loader.file(for: request).source
            await loader.flush()
            return source
        }
        #expect(try await source(.seconds(60), .useProtocol) == .network)
        now.change { $0 += 60 }
        #expect(try await source(.seconds(60), .useProtocol) == .disk)
        now.change { $0 += 1 }
        await #expect(throws: ImageLoadingError.self) { try await source(.seconds(60), .cacheOnly) }
        #expect(try await source(nil, .cacheOnly) == .disk)
        #expect(try await source(.seconds(60), .returnCacheElseLoad) == .network)
        #expect(try await source(.seconds(60), .useProtocol) == .disk)
    }
}
