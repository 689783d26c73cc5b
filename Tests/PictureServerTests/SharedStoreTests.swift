import LazyImages
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer
@testable import PictureServer
import PictureService

extension SharedTier {
    /// A tier over a store. No read ends before the test does, unless the test limits it.
    static func patient(_ address: String, limit: Duration = .seconds(600)) throws -> SharedTier {
        var configuration = SharedTier.Configuration()
        configuration.reading = Timeouts(connect: limit, firstByte: limit, stall: limit, total: limit)
        configuration.writing = configuration.reading
        configuration.timing = .patient
        return try SharedTier(
            SharedTier.Address(address, environment: [:]),
            keys: [[UInt8](repeating: 7, count: 32)], configuration: configuration)
    }
}

/// Instances with a disk each, one store and one origin, and a clock for all.
private struct Fleet {
    let folder: TemporaryFolder
    let store: StoreServer
    let asked = Tally()

    init() throws {
        folder = try TemporaryFolder()
        store = try StoreServer()
    }

    func instance(
        _ name: String, _ control: String = "max-age=600", at address: String? = nil,
        limit: Duration = .seconds(600),
        answering: (@Sendable (TransportRequest) -> HeldTransport.Answer?)? = nil
    ) throws -> PictureClient {
        let body = try Samples.jpeg()
        let shared = try SharedTier.patient(address ?? store.address, limit: limit)
        return try PictureClient(
            disk: DiskCache(folder: folder.file(name)), configure: { $0.shared = shared },
            answering: answering ?? { [asked] _ in
                asked.add()
                return HeldTransport.Answer(body, fields: ["Cache-Control": control, "ETag": "\"a\""])
            })
    }
}

@Suite("A picture service with a store that instances share", .bounded)
struct SharedStoreTests {
    @Test("an instance that never saw a source sends its pictures without asking the origin")
    func otherInstance() async throws {
        let fleet = try Fleet()
        let first = try fleet.instance("first")
        let sent = try await first.get("w92")
        #expect(sent.status == 200)
        try await first.settle()
        // The source, its record and a picture.
        #expect(fleet.store.objects.value.count == 3)
        let second = try fleet.instance("second")
        let found = try await second.get("w92")
        #expect(found.status == 200 && found["etag"] == sent["etag"] && found.bytes == sent.bytes)
        #expect(found["cache-status"]?.hasPrefix("marquee; hit; ttl=") == true)
        #expect(second.count(.made) == 0 && second.count(.decoded) == 0)
        // Another size is made of the source in the store.
        #expect(try await second.get("w154").status == 200)
        #expect(second.count(.made) == 1 && second.count(.shared) == 1)
        #expect(fleet.asked.count == 1)
        let puts = fleet.store.count("PUT")
        try await second.settle()
        // What came from the store is not put back: there is one new picture.
        #expect(fleet.store.objects.value.count == 4)
        #expect(fleet.store.count("PUT") <= puts + 1 && fleet.store.count("PUT") == 4)
    }

    @Test("a purge removes the source and its record from the store")
    func purge() async throws {
        let fleet = try Fleet()
        let first = try fleet.instance("first")
        _ = try await first.get("w92")
        try await first.settle()
        #expect(await first.service.purge(try PictureSource("https://\(PictureClient.host)/a")))
        try await first.settle()
        // The picture stays, and nobody finds it without a record.
        #expect(fleet.store.objects.value.count == 1)
        #expect(try await fleet.instance("second").get("w92").status == 200)
        #expect(fleet.asked.count == 2)
    }

    @Test("a stale source of the store is confirmed by the origin once")
    func stale() async throws {
        let fleet = try Fleet()
        let first = try fleet.instance("first")
        _ = try await first.get("w92")
        try await first.settle()
        let second = try fleet.instance("second") { [asked = fleet.asked] request in
            asked.add()
            return HeldTransport.Answer(
                [], status: request.fields["if-none-match"] == "\"a\"" ? 304 : 500,
                fields: ["Cache-Control": "max-age=600", "ETag": "\"a\""])
        }
        second.clock.advance(by: 700)
        let answer = try await second.get("w92")
        #expect(answer.status == 200)
        #expect(answer["cache-status"]?.contains("fwd=stale; fwd-status=304") == true)
        try await second.settle()
        let third = try fleet.instance("third")
        third.clock.advance(by: 700)
        #expect(try await third.get("w92")["cache-status"]?.hasPrefix("marquee; hit; ttl=") == true)
        #expect(fleet.asked.count == 2)
    }

    @Test("private pictures and this machine's own are not in the store")
    func unshared() async throws {
        let fleet = try Fleet()
        let first = try fleet.instance("first", "private")
        #expect(try await first.get("w92").status == 200)
        try await first.settle()
        #expect(fleet.store.count("PUT") == 0)
        let body = try Samples.jpeg()
        let poster = PictureOriginal(name: "film", tag: "1", cacheControl: "no-cache") { body }
        let pending = PictureClient.Pending {}
        guard
            case .later(let answer) = first.service.admit(
                try RequestHead(
                    parsing: Array("GET /films/a/poster/w92 HTTP/1.1\r\nHost: localhost\r\n".utf8)[...]),
                "w92", of: poster, from: Peer(address: "127.0.0.1", isLocal: true))
        else {
            Issue.record("it is not in memory")
            return
        }
        answer(pending.answer)
        #expect(try await pending.value().status == 200)
        try await first.settle()
        #expect(fleet.store.count("PUT") == 0)
    }

    @Test("a silent store costs a request the time of one read, over record, picture and source")
    func silent() async throws {
        let silent = try ScriptedOrigin([.readHead, .awaitClose])
        let fleet = try Fleet()
        let client = try fleet.instance(
            "first", at: "http://127.0.0.1:\(silent.port)/", limit: .milliseconds(50))
        #expect(try await client.get("w92").status == 200)
        let traffic = client.service.shared?.traffic
        // Of three reads one fails, and two are skipped. The writes fail too.
        #expect(traffic?.skips == 2 && traffic?.hits == 0, "\(String(describing: traffic))")
    }
}
