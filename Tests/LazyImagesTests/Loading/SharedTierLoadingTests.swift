import FoundationEssentials
import SystemSupport
import TestSupport
import TestTraits
import Testing

import LazyImages

/// Machines with a disk each, and one store and one origin for all.
private final class Machines: Sendable {
    let folder: TemporaryFolder
    let store: StoreServer
    let origin: HeldTransport
    private let time = Shared(1_767_225_600)
    /// The fields of the origin's answers.
    let fields: Shared<HeaderFields>

    init(_ fields: HeaderFields = ["Cache-Control": "max-age=600", "ETag": "\"1\""]) throws {
        folder = try TemporaryFolder()
        store = try StoreServer()
        let fields = Shared(fields)
        self.fields = fields
        origin = HeldTransport { request in
            let isKnown = request.fields["if-none-match"].map { $0 == fields.value["etag"] } ?? false
            return HeldTransport.Answer(
                isKnown ? [] : SampleImages.png, status: isKnown ? 304 : 200, fields: fields.value)
        }
    }

    func pass(_ seconds: Int) { time.change { $0 += seconds } }

    /// The loader of a machine that has nothing.
    /// - Parameters:
    ///   - keepsNothing: whether it has neither memory nor disk.
    ///   - sharing: whether it uses the store.
    func loader(
        _ name: String, kind: CacheKind = .private, keepsNothing: Bool = false, sharing: Bool = true,
        transport: (any Transport)? = nil
    ) throws -> FileLoader {
        var configuration = ImageDownloader.Configuration.once
        configuration.cacheKind = kind
        return FileLoader(
            memory: keepsNothing ? nil : MemoryCache(limit: 1 << 20),
            disk: keepsNothing ? nil : DiskCache(folder: folder.file(name)),
            shared: sharing ? try SharedFixture.tier(store.address) : nil, configuration: configuration,
            transport: transport ?? origin, clock: WallClock { [time] in time.value })
    }

    /// The loader of the first machine, which has loaded a request and written it to the store.
    @discardableResult
    func first(with request: ImageRequest) async throws -> FileLoader {
        let first = try loader("first")
        _ = try await first.file(for: request)
        await first.flush()
        return first
    }

    var asked: Int { origin.started.count }
}

@Suite("Loading with a tier that machines share", .bounded)
struct SharedTierLoadingTests {
    private let request: ImageRequest

    init() throws { request = ImageRequest("https://origin.example/a.png") }

    @Test("memory, disk, the store, the origin: in this order, and nothing is put back")
    func order() async throws {
        let machines = try Machines()
        let first = try machines.loader("first")
        #expect(try await first.file(for: request).source == .network)
        await first.flush()
        let second = try machines.loader("second")
        let file = try await second.file(for: request)
        #expect(file.source == .shared && file.bytes.array == SampleImages.png && file.header?.format == .png)
        #expect(try await second.file(for: request).source == .memory)
        second.memory?.removeAll()
        #expect(try await second.file(for: request).source == .disk)
        await second.flush()
        #expect(machines.asked == 1)
        #expect(machines.store.count("PUT") == 1)
        // Each has asked once.
        #expect(machines.store.count("GET") == 2)
    }

    @Test("a loader without tiers of its own asks the store each time, and never the origin")
    func nothingKept() async throws {
        let machines = try Machines()
        try await machines.first(with: request)
        let second = try machines.loader("", keepsNothing: true)
        for _ in 0..<2 { #expect(try await second.file(for: request).source == .shared) }
        #expect(machines.asked == 1)
    }

    @Test("many callers for one URL ask the store once")
    func singleFlight() async throws {
        let machines = try Machines()
        try await machines.first(with: request)
        let before = machines.store.count("GET")
        let second = try machines.loader("second")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { [request] in
                    let file = try await second.file(for: request)
                    #expect(file.bytes.array == SampleImages.png)
                }
            }
            try await group.waitForAll()
        }
        #expect(machines.store.count("GET") == before + 1 && machines.asked == 1)
    }

    @Test("a stale entry of the store is revalidated at the origin, and then fresh for all")
    func revalidation() async throws {
        let machines = try Machines()
        let first = try await machines.first(with: request)
        machines.pass(700)
        let second = try machines.loader("second")
        #expect(try await second.file(for: request).source == .revalidated)
        await second.flush()
        #expect(machines.origin.requests.last?.fields["if-none-match"] == "\"1\"")
        // The first one's own is stale, but the store has a newer one.
        let file = try await first.file(for: request)
        #expect(file.source == .shared)
        #expect(machines.asked == 2)
        machines.pass(100)
        #expect(try await first.file(for: request).source == .memory)
    }

    @Test("an entry of the store that is older than the file on disk is not used")
    func olderEntry() async throws {
        let machines = try Machines()
        try await machines.first(with: request)
        machines.pass(700)
        machines.fields.change { $0["ETag"] = "\"2\"" }
        let alone = try machines.loader("second", sharing: false)
        _ = try await alone.file(for: request)
        await alone.flush()
        machines.pass(700)
        let second = try machines.loader("second")
        #expect(try await second.file(for: request).source == .revalidated)
        #expect(machines.origin.requests.last?.fields["if-none-match"] == "\"2\"")
    }

    @Test(
        "private answers are not in the store",
        arguments: [
            ("private, max-age=600", [:]), ("no-store", [:]),
            ("max-age=600", ["Authorization": "Basic YTpi"]),
            ("public, max-age=600", ["Authorization": "Basic YTpi"]), ("max-age=600", ["Cookie": "a=b"]),
        ] as [(String, HeaderFields)])
    func unshared(control: String, fields: HeaderFields) async throws {
        let machines = try Machines(["Cache-Control": control])
        let loader = try machines.loader("first")
        _ = try await loader.file(for: ImageRequest(request.url, options: .init(fields: fields)))
        await loader.flush()
        #expect(machines.store.objects.value.isEmpty)
        #expect(machines.store.count("PUT") == 0)
    }

    @Test("an answer after a challenge is not in the store")
    func authorised() async throws {
        struct KnownPassword: HTTPAuthenticator {
            func credential(for challenge: AuthenticationChallenge) async -> Credential? {
                challenge.isRepeated ? nil : .password(user: "u", password: "p")
            }
        }
        let store = try StoreServer()
        let loader = FileLoader(
            memory: nil, disk: nil, shared: try SharedFixture.tier(store.address),
            configuration: .with { $0.authenticator = KnownPassword() },
            transport: HeldTransport { request in
                request.fields["authorization"] == nil
                    ? HeldTransport.Answer(
                        [], status: 401, fields: ["WWW-Authenticate": "Basic realm=\"films\""])
                    : .fresh(SampleImages.png)
            })
        #expect(try await loader.file(for: request).source == .network)
        await loader.flush()
        #expect(store.count("PUT") == 0)
    }

    @Test("a private cache uses max-age and a shared one s-maxage, whichever stored the entry")
    func kinds() async throws {
        let machines = try Machines(["Cache-Control": "s-maxage=600, max-age=5", "ETag": "\"1\""])
        try await machines.first(with: request)
        machines.pass(100)
        #expect(try await machines.loader("shared", kind: .shared).file(for: request).source == .shared)
        #expect(machines.asked == 1)
        #expect(try await machines.loader("private").file(for: request).source == .revalidated)
        #expect(machines.asked == 2)
    }

    @Test("reload asks the origin and renews the store; cacheOnly asks neither")
    func policies() async throws {
        let machines = try Machines()
        try await machines.first(with: request)
        let gets = machines.store.count("GET")
        let second = try machines.loader("second")
        var own = request
        own.cachePolicy = .cacheOnly
        await #expect(throws: ImageLoadingError.self) { _ = try await second.file(for: own) }
        own.cachePolicy = .reload
        #expect(try await second.file(for: own).source == .network)
        await second.flush()
        #expect(machines.store.count("GET") == gets && machines.store.count("PUT") == 2)
    }

    @Test("a removed file is removed from the store, and another machine asks the origin")
    func removal() async throws {
        let machines = try Machines()
        let first = try await machines.first(with: request)
        await first.remove(request)
        #expect(try await first.file(for: request).source == .network)
        await first.remove(request)
        await first.flush()
        #expect(machines.store.objects.value.isEmpty)
        #expect(try await machines.loader("second").file(for: request).source == .network)
        #expect(machines.asked == 3)
    }

    @Test("bytes with another checksum are a miss")
    func checksum() async throws {
        let machines = try Machines()
        try await machines.first(with: request)
        let jpeg = ImageBytes(SampleImages.jpeg).checksum
        let answering = HeldTransport { _ in .fresh(SampleImages.jpeg) }
        let second = try machines.loader("second", transport: answering)
        let file = try await second.file(for: ImageRequest(request.url, options: .init(checksum: jpeg)))
        #expect(file.source == .network && file.bytes.array == SampleImages.jpeg)
    }

    @Test("a 404 is shared")
    func absent() async throws {
        let machines = try Machines()
        let missing = HeldTransport { _ in HeldTransport.Answer([], status: 404) }
        let first = try machines.loader("first", transport: missing)
        await #expect(throws: ImageLoadingError.self) { _ = try await first.file(for: request) }
        await first.flush()
        let second = try machines.loader("second", transport: missing)
        await #expect(throws: ImageLoadingError.self) { _ = try await second.file(for: request) }
        #expect(missing.started.count == 1)
    }

    @Test("a caller that leaves during the read ends the transfer")
    func cancelled() async throws {
        let silent = try ScriptedOrigin([.readHead, .awaitClose])
        let origin = HeldTransport()
        let loader = FileLoader(
            memory: nil, disk: nil, shared: try SharedFixture.tier("http://127.0.0.1:\(silent.port)/"),
            transport: origin)
        let task = Task { [request] in try await loader.file(for: request) }
        try await silent.requests.wait(for: 1)
        task.cancel()
        await #expect(throws: ImageLoadingError.self) { _ = try await task.value }
        try await silent.closed.wait(for: 1)
        try await eventually { loader.downloader.transferCount == 0 }
        #expect(origin.started.count == 0)
    }

    @Test(
        "no fault of a store makes a load fail or shows a wrong picture",
        arguments: StoreFault.allCases)
    func faults(fault: StoreFault) async throws {
        let origin = HeldTransport { _ in .fresh(SampleImages.png) }
        let store = try fault.store()
        let loader = FileLoader(
            memory: nil, disk: nil,
            shared: try SharedFixture.tier(store.address) {
                $0.reading = SharedTier.Configuration().reading
                $0.writing = $0.reading
            }, transport: origin)
        for number in 0..<8 {
            let request = ImageRequest("https://origin.example/\(number).png")
            let file = try await loader.file(for: request)
            #expect(file.bytes.array == SampleImages.png && file.source == .network)
        }
        await loader.flush()
        #expect(loader.shared?.traffic.hits == 0)
        #expect(origin.started.count == 8)
        #expect(loader.shared?.traffic.isReadingPaused == fault.isSeenByReads)
        #expect(loader.shared?.traffic.isWritingPaused == fault.isSeenByWrites)
        withExtendedLifetime(store) {}
    }
}

/// What may be wrong with a store.
enum StoreFault: CaseIterable {
    case refused, silent, full, lying, resetting

    /// Whether the breaker opens for reads.
    var isSeenByReads: Bool { self != .lying }
    var isSeenByWrites: Bool { self != .lying }

    func store() throws -> (address: String, keepsAlive: any Sendable) {
        func scripted(_ steps: [ScriptedOrigin.Step]) throws -> (String, any Sendable) {
            let origin = try ScriptedOrigin(steps)
            return ("http://127.0.0.1:\(origin.port)/", origin)
        }
        switch self {
        case .refused:
            let port = try ClosedPort()
            return ("http://127.0.0.1:\(port.port)/", port)
        case .silent: return try scripted([.readHead, .awaitClose])
        case .resetting: return try scripted([.readHead, .reset])
        case .full: return try scripted(.acceptingBodies(status: "507 Insufficient Storage"))
        case .lying: return try scripted(.acceptingBodies(answer: String(repeating: "lie", count: 99)))
        }
    }
}
