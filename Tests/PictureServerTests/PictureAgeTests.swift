import HTTPSemantics
import LazyImages
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import PictureServer

/// Pictures whose sources become stale, change, fail or are purged.
@Suite("PictureServer: stale pictures", .bounded)
struct PictureAgeTests {
    /// An origin with a picture that the test changes. It answers conditional requests.
    private final class Origin: Sendable {
        private let state: Lock<(shift: Int, status: Int, fields: HeaderFields)>

        init(_ fields: HeaderFields) { state = Lock((0, 200, fields)) }

        func change(shift: Int? = nil, status: Int? = nil, fields: HeaderFields? = nil) {
            state.withLock { state in
                state = (shift ?? state.shift, status ?? state.status, fields ?? state.fields)
            }
        }

        func answer(_ request: TransportRequest) -> HeldTransport.Answer? {
            var (shift, status, fields) = state.withLock { $0 }
            guard status == 200 else { return HeldTransport.Answer([], status: status, fields: fields) }
            let tag = "\"\(shift)\""
            fields["ETag"] = tag
            if request.fields["if-none-match"] == tag {
                return HeldTransport.Answer([], status: 304, fields: fields)
            }
            guard let body = try? Samples.jpeg(shift: shift) else { return nil }
            return HeldTransport.Answer(body, fields: fields)
        }
    }

    private func client(_ origin: Origin, queue: Int = 9) throws -> PictureClient {
        try PictureClient(configure: { $0.queue = queue }, answering: { origin.answer($0) })
    }

    @Test("a stale picture is confirmed by a 304, and is not decoded again")
    func confirmed() async throws {
        let origin = Origin(["Cache-Control": "max-age=60"])
        let client = try client(origin)
        let first = try await client.get("w92")
        #expect(first["cache-status"] == "marquee; fwd=uri-miss; fwd-status=200; stored")
        client.clock.advance(by: 59)
        #expect(try await client.get("w92")["cache-control"] == "public, max-age=1")
        client.clock.advance(by: 1)
        let second = try await client.get("w92")
        #expect(second["cache-status"] == "marquee; fwd=stale; fwd-status=304; stored")
        #expect(second["etag"] == first["etag"] && second.bytes == first.bytes)
        #expect(second["cache-control"] == "public, max-age=60")
        #expect(client.count(.confirmed) == 1 && client.count(.fetched) == 1)
        #expect(client.count(.decoded) == 1 && client.count(.made) == 1)
    }

    @Test("a changed source gives new pictures with new tags, and no old size is sent again")
    func changed() async throws {
        let origin = Origin(["Cache-Control": "max-age=60"])
        let client = try client(origin)
        let sizes = ["w92", "w154", "original"]
        var old: [PictureClient.Answer] = []
        for size in sizes { old.append(try await client.get(size)) }
        client.clock.advance(by: 60)
        origin.change(shift: 9)
        // One size notices the change, and all sizes change.
        let new = try await client.get("w92")
        #expect(new["etag"] != old[0]["etag"] && new.bytes != old[0].bytes)
        #expect(new["cache-status"] == "marquee; fwd=stale; fwd-status=200; stored")
        for (index, size) in sizes.enumerated() {
            let answer = try await client.get(size, ["If-None-Match": old[index]["etag"] ?? ""])
            #expect(answer.status == 200 && answer.bytes != old[index].bytes, "\(size)")
        }
        #expect(client.transport.started.count == 2)
        // The source changes back: the former pictures are still in the cache.
        let made = client.count(.made)
        client.clock.advance(by: 60)
        origin.change(shift: 0)
        for (index, size) in sizes.enumerated() {
            #expect(try await client.get(size)["etag"] == old[index]["etag"])
        }
        #expect(client.count(.made) == made)
    }

    @Test(
        "when the origin fails a stale picture is sent, unless the origin forbids it",
        arguments: [
            ("max-age=60", 200), ("max-age=60, stale-if-error=1000", 200),
            ("max-age=60, stale-if-error=100", 502), ("max-age=60, must-revalidate", 502),
            ("max-age=60, proxy-revalidate", 502), ("s-maxage=60", 502), ("no-cache", 502),
        ])
    func staleIfError(control: String, status: Int) async throws {
        let origin = Origin(["Cache-Control": control])
        let client = try client(origin)
        let first = try await client.get("w92")
        #expect(first.status == 200)
        client.clock.advance(by: 200)
        origin.change(status: 503, fields: [:])
        let answer = try await client.get("w92")
        #expect(answer.status == status)
        if status == 200 {
            #expect(answer["etag"] == first["etag"] && answer["cache-control"] == "public, max-age=0")
            #expect(answer["cache-status"] == "marquee; hit; ttl=-140")
        }
        #expect(client.count(.stale) == (status == 200 ? 1 : 0))
        // Only existing sizes are sent stale: no other size is made of a stale source.
        #expect(try await client.get("w154").status == status)
        #expect(client.transport.started.count == 3)
    }

    @Test("a full service sends the stale picture; a picture that was never made is 503")
    func staleWhenBusy() async throws {
        let origin = Origin(["Cache-Control": "max-age=60"])
        let client = try client(origin)
        let first = try await client.get("w92")
        try await eventually { client.service.gate.usage.sources == 0 }
        client.clock.advance(by: 100)
        while client.service.gate.enterAtOnce() != nil {}
        let stale = try await client.get("w92")
        #expect(stale.status == 200 && stale["etag"] == first["etag"])
        #expect(stale["cache-status"] == "marquee; hit; ttl=-40" && client.count(.stale) == 1)
        #expect(try await client.get("w154").status == 503)
        #expect(client.transport.started.count == 1)

        let strict = try PictureClient(
            configure: { $0.queue = 9 },
            answering: PictureClient.giving(
                try Samples.jpeg(), ["Cache-Control": "max-age=60, must-revalidate"]))
        _ = try await strict.get("w92")
        try await eventually { strict.service.gate.usage.sources == 0 }
        strict.clock.advance(by: 100)
        while strict.service.gate.enterAtOnce() != nil {}
        #expect(try await strict.get("w92").status == 503)
    }

    @Test("hits in memory use no worker")
    func hitsPass() async throws {
        let client = try client(Origin(["Cache-Control": "max-age=60"]))
        _ = try await client.get("w92")
        while client.service.gate.enterAtOnce() != nil {}
        #expect(try await client.get("w92").status == 200)
    }

    @Test("during a revalidation the stale picture is sent, with one request and one worker")
    func staleWhileRevalidate() async throws {
        let client = try PictureClient()
        let fields: HeaderFields = [
            "Cache-Control": "max-age=600, stale-while-revalidate=600", "ETag": "\"a\"",
        ]
        let first = try await client.get(answering: 0, fields)
        try await eventually { client.service.gate.usage.sources == 0 }
        client.clock.advance(by: 700)
        for _ in 0..<20 {
            let stale = try await client.get("w92")
            // The duration of the transfer is part of the age.
            #expect(stale["etag"] == first["etag"] && stale["cache-status"]?.contains("; ttl=-1") == true)
        }
        let revalidation = try await client.transport.transfer(1)
        #expect(revalidation.request.fields["if-none-match"] == "\"a\"")
        #expect(client.transport.started.count == 2)
        try await eventually { client.service.gate.usage.sources <= 1 }
        revalidation.answer(try Samples.jpeg(shift: 5), fields: fields)
        try await eventually { client.service.gate.usage.sources == 0 }
        let fresh = try await client.get("w92")
        #expect(fresh["etag"] != first["etag"] && fresh["cache-control"] != "public, max-age=0")
        #expect(client.transport.started.count == 2 && client.count(.fetched) == 2)
        // After the window, a request waits for the revalidation.
        client.clock.advance(by: 1300)
        let late = try client.start(PictureClient.path("w92"))
        try await client.transport.transfer(2).answer([], status: 304, fields: fields)
        #expect(try await late.value()["cache-status"] == "marquee; fwd=stale; fwd-status=304; stored")
    }

    @Test(
        "a revalidation with a 404 ends the stale picture; a failed one does not")
    func revalidatedAway() async throws {
        for (status, expected) in [(404, 404), (503, 200)] {
            let origin = Origin(["Cache-Control": "max-age=60, stale-while-revalidate=60"])
            let client = try client(origin)
            _ = try await client.get("w92")
            client.clock.advance(by: 70)
            origin.change(status: status, fields: [:])
            #expect(try await client.get("w92").status == 200)
            try await client.transport.started.wait(for: 2)
            try await eventually { client.service.gate.usage.sources == 0 }
            #expect(try await client.get("w92").status == expected)
        }
    }

    @Test("a source that is gone is not sent when the origin fails later")
    func goneIsGone() async throws {
        let origin = Origin(["Cache-Control": "max-age=60"])
        let client = try client(origin)
        _ = try await client.get("w92")
        client.clock.advance(by: 60)
        origin.change(status: 410, fields: [:])
        #expect(try await client.get("w92").status == 410)
        client.clock.advance(by: 400)
        origin.change(status: 500)
        #expect(try await client.get("w92").status == 502)
    }

    @Test("after a purge every size asks the origin again, and stored failures are gone")
    func purge() async throws {
        let folder = try TemporaryFolder()
        let origin = Origin(["Cache-Control": "max-age=60"])
        let client = try PictureClient(
            disk: DiskCache(folder: folder.file("cache")), answering: { origin.answer($0) })
        let source = try PictureSource("https://\(PictureClient.host)/a")
        let old = try await client.get("w92")
        origin.change(shift: 3)
        #expect(try await client.get("w92")["etag"] == old["etag"])
        await client.service.purge(source)
        #expect(try await client.get("w92")["etag"] != old["etag"] && client.transport.started.count == 2)

        let broken = try PictureClient(answering: PictureClient.giving(Array("no picture".utf8)))
        #expect(try await broken.get("w92").status == 422)
        await broken.service.purge(source)
        #expect(try await broken.get("w92").status == 422 && broken.transport.started.count == 2)
    }

    @Test("a request that reads the old file during a purge does not store its record again")
    func requestDuringPurge() async throws {
        let folder = try TemporaryFolder()
        let origin = Origin(["Cache-Control": "max-age=60"])
        let first = try PictureClient(
            disk: DiskCache(folder: folder.file("cache")), answering: { origin.answer($0) })
        let old = try await first.get("w92")
        try await first.settle()

        // 1. The purge is about to remove the source's file.
        // 2. A request for another size opens the file.
        // 3. The purge ends.
        // 4. The request has read the file, and makes the source's record.
        let isHeld = Shared(false)
        let (removing, reading) = (Tally(), Tally())
        let (removal, read) = (Gate(), Gate())
        let calls = FileCalls(inject: { kind in
            guard isHeld.value else { return nil }
            if kind == .remove {
                removing.add()
                removal.wait()
            } else if kind == .read, removing.count > 0 {
                reading.add()
                read.wait()
            }
            return nil
        })
        let client = try PictureClient(
            disk: DiskCache(folder: folder.file("cache"), limit: 1 << 30, calls: calls),
            answering: { origin.answer($0) })
        #expect(try await client.get("w92")["etag"] == old["etag"])
        origin.change(shift: 3)
        isHeld.change { $0 = true }
        let source = try PictureSource("https://\(PictureClient.host)/a")
        let purge = Task { await client.service.purge(source) }
        try await removing.wait(for: 1)
        let meanwhile = try client.start(PictureClient.path("w154"))
        try await reading.wait(for: 1)
        isHeld.change { $0 = false }
        removal.open()
        #expect(await purge.value)
        read.open()
        #expect(try await meanwhile.value().status == 200)
        try await client.settle()
        #expect(try await client.get("w92")["etag"] != old["etag"])
    }

    @Test("a picture that was being made when its source was purged reaches its clients, and is not kept")
    func purgeMeanwhile() async throws {
        let client = try PictureClient()
        let fields: HeaderFields = ["Cache-Control": "max-age=6000"]
        let waiting = try client.start(PictureClient.path("w92"))
        let transfer = try await client.transport.transfer()
        await client.service.purge(try PictureSource("https://\(PictureClient.host)/a"))
        // A request after the purge starts a new transfer.
        let after = try client.start(PictureClient.path("w92"))
        let second = try await client.transport.transfer(1)
        transfer.answer(try Samples.jpeg(), fields: fields)
        let old = try await waiting.value()
        second.answer(try Samples.jpeg(shift: 4), fields: fields)
        let new = try await after.value()
        #expect(old.status == 200 && new.status == 200 && old["etag"] != new["etag"])
        try await eventually { client.service.gate.usage.sources == 0 }
        #expect(try await client.get("w92")["etag"] == new["etag"])
        #expect(client.transport.started.count == 2)
    }

    @Test("an answer that comes after a purge does not remove the record of a later request")
    func lateAnswerAfterPurge() async throws {
        let client = try PictureClient()
        let fields: HeaderFields = ["Cache-Control": "max-age=60"]
        _ = try await client.get(answering: 0, fields)
        client.clock.advance(by: 60)
        let outdated = try client.start(PictureClient.path("w92"))
        let gone = try await client.transport.transfer(1)
        await client.service.purge(try PictureSource("https://\(PictureClient.host)/a"))
        #expect(try await client.get(answering: 2, shift: 1, fields).status == 200)
        gone.answer([], status: 404)
        #expect(try await outdated.value().status == 404)
        #expect(try await client.get("w92").status == 200 && client.count(.memoryHit) == 1)
    }

    @Test("a purge during a revalidation keeps no part of it")
    func purgeDuringRevalidation() async throws {
        let client = try PictureClient()
        let fields: HeaderFields = ["Cache-Control": "max-age=600, stale-while-revalidate=600"]
        _ = try await client.get(answering: 0, fields)
        client.clock.advance(by: 700)
        _ = try await client.get("w92")
        let revalidation = try await client.transport.transfer(1)
        await client.service.purge(try PictureSource("https://\(PictureClient.host)/a"))
        revalidation.answer(try Samples.jpeg(), fields: fields)
        try await eventually { client.service.gate.usage.sources == 0 }
        #expect(try await client.get(answering: 2, shift: 2, fields).status == 200)
    }
}
