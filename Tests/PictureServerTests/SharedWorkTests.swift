import ImageCodecs
import LazyImages
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer
@testable import PictureServer
import PictureService

/// Single flight: requests for the same picture share its work.
@Suite("PictureServer: shared work", .bounded)
struct SharedWorkTests {
    @Test("an offered size is made, never larger than the source, with its type and a tag")
    func sizes() async throws {
        let client = try PictureClient(answering: PictureClient.giving(try Samples.jpeg(100, 150)))
        for (recipe, width, height) in [("w92", 92, 138), ("w342", 100, 150)] {
            let answer = try await client.get(recipe)
            #expect(answer.status == 200 && answer["content-type"] == "image/jpeg")
            #expect(
                try ImageDecoders.standard.decode(answer.bytes).size
                    == ImageSize(width: width, height: height))
            #expect(answer["content-security-policy"] == "default-src 'none'; sandbox")
            #expect(answer["cache-control"] == "public, max-age=60" && answer["age"] == "0")
        }
        let original = try await client.get("original")
        #expect(try original.bytes == Samples.jpeg(100, 150))
    }

    @Test("a transparent picture is sent as a PNG")
    func transparent() async throws {
        let client = try PictureClient(answering: PictureClient.giving(Samples.png(200, 200, alpha: 90)))
        let answer = try await client.get("w92")
        #expect(answer["content-type"] == "image/png")
        let bytes = answer.bytes.span
        #expect(ImageFormat(detecting: bytes) == .png)
    }

    @Test("the last client's departure cancels the transfer, an earlier one's does not")
    func cancelled() async throws {
        let client = try PictureClient()
        let requests = try ["w92", "w92", "w342"].map { try client.start(PictureClient.path($0)) }
        let transfer = try await client.transport.transfer()
        requests[0].leave()
        requests[2].leave()
        #expect(transfer.cancellation.count == 0)
        requests[1].leave()
        try await transfer.cancellation.wait(for: 1)
        try await eventually { client.service.gate.usage.sources == 0 }
        #expect(client.count(.abandoned) == 3 && !requests.contains(where: \.isAnswered))

        // The next request starts a new transfer.
        #expect(try await client.get(answering: 1).status == 200)
    }

    @Test("a client that leaves after its answer does not count as a departure")
    func leftAfterwards() async throws {
        let client = try PictureClient(answering: PictureClient.giving(try Samples.jpeg()))
        let request = try client.start(PictureClient.path("w92"))
        _ = try await request.value()
        request.leave()
        #expect(client.count(.abandoned) == 0)
    }

    @Test("with a full queue a new source is 503 with Retry-After, and a request that joins is not")
    func busy() async throws {
        let client = try PictureClient(configure: { configuration in
            configuration.workers = 1
            configuration.queue = 1
        })
        let sources = (0..<3).map { "https://\(PictureClient.host)/\($0)" }
        let waiting = try sources.prefix(2).map { try client.start(PictureClient.path("w92", $0)) }
        _ = try await client.transport.transfers(2)
        let joined = try client.start(PictureClient.path("w342", sources[0]))
        let refused = try await client.send(PictureClient.path("w92", sources[2]))
        #expect(refused.status == 503 && refused["retry-after"] == "1")
        #expect(refused["cache-control"] == "no-store" && client.service.counters.refusals == ["queue": 1])
        for transfer in try await client.transport.transfers(2) { transfer.answer(try Samples.jpeg()) }
        for request in waiting + [joined] { #expect(try await request.value().status == 200) }
        try await eventually { client.service.gate.usage.sources == 0 }
        let later = try await client.get(answering: 2, of: PictureClient.path("w92", sources[2]))
        #expect(later.status == 200)
    }

    @Test("sources of one client wait for their turn, and those of another come between them")
    func fair() async throws {
        let client = try PictureClient(
            sizes: ["w92"], configure: { $0.workers = 1 }, answering: PictureClient.giving(try Samples.jpeg())
        )
        let gate = client.service.gate
        let other = try await gate.enter(nil)
        try await gate.acquire(1, for: other)
        let (anna, ben) = (
            Peer(address: "192.0.2.1", isLocal: false), Peer(address: "192.0.2.2", isLocal: false)
        )
        let done = Shared<[String]>([])
        func start(_ name: String, _ peer: Peer) async throws {
            let waiting = gate.usage.waiting
            let pending = try client.start(
                PictureClient.path("w92", "https://\(PictureClient.host)/\(name)"), from: peer
            ) { done.change { $0.append(name) } }
            _ = pending
            try await eventually { gate.usage.waiting == waiting + 1 }
        }
        for number in 1...4 { try await start("a\(number)", anna) }
        try await start("b1", ben)
        // Ben also asks for a source that waits in Anna's line.
        let also = try client.start(
            PictureClient.path("w92", "https://\(PictureClient.host)/a4"), from: ben)
        try await start("b2", ben)
        gate.leave(other)
        try await eventually { done.value.count == 6 }
        #expect(done.value == ["a1", "b1", "a2", "a4", "a3", "b2"])
        #expect(try await also.value().status == 200)
    }

    @Test("with a full queue pictures on disk are still sent, also after a restart")
    func busyWithDisk() async throws {
        let folder = try TemporaryFolder()
        func client() throws -> PictureClient {
            try PictureClient(
                disk: DiskCache(folder: folder.file("cache")), configure: { $0.queue = 9 },
                answering: PictureClient.giving(try Samples.jpeg()))
        }
        let first = try client()
        let made = try await first.get("w92")
        #expect(made.status == 200)
        try await first.settle()

        let second = try client()
        let other = "https://\(PictureClient.host)/other"
        while second.service.gate.enterAtOnce() != nil {}
        let stored = try await second.get("w92")
        #expect(stored.status == 200 && stored["etag"] == made["etag"])
        #expect(try await second.send(PictureClient.path("w92", other)).status == 503)
        #expect(second.transport.started.count == 0 && second.service.counters.refusals == ["queue": 1])
    }

    @Test("a size on disk does not wait for another size of the same source")
    func storedBesideWork() async throws {
        let folder = try TemporaryFolder()
        // Memory has no room for a picture.
        let client = try PictureClient(
            disk: DiskCache(folder: folder.file("cache")), configure: { $0.pictureMemory = 0 },
            answering: PictureClient.giving(try Samples.jpeg()))
        let made = try await client.get("w92")
        try await eventually { client.service.gate.usage.sources == 0 }
        let gate = client.service.gate
        let others = [try await gate.enter(nil), try await gate.enter(nil)]
        for ticket in others { try await gate.acquire(1, for: ticket) }
        let waiting = try client.start(PictureClient.path("w342"))
        try await eventually { client.service.gate.usage.waiting == 1 }
        let stored = try await client.get("w92")
        #expect(stored.status == 200 && stored["etag"] == made["etag"] && !waiting.isAnswered)
        for ticket in others { gate.leave(ticket) }
        #expect(try await waiting.value().status == 200)
        try await eventually { client.service.gate.usage.sources == 0 }
    }

    @Test("the origin's failure reaches all waiting requests of any size, after one request")
    func failureIsShared() async throws {
        let client = try PictureClient()
        let requests = try ["w92", "w154", "w342", "w500"].map { try client.start(PictureClient.path($0)) }
        try await client.transport.transfer().answer([], status: 500)
        for request in requests { #expect(try await request.value().status == 502) }
        #expect(client.transport.started.count == 1)
        // The failure is not stored: a later request asks the origin again.
        #expect(try await client.get(answering: 1).status == 200)
    }

    @Test("a no-store answer reaches the requests that waited for it, and no later one")
    func notKept() async throws {
        let client = try PictureClient()
        for round in 0..<3 {
            let requests = try ["w92", "w154"].map { try client.start(PictureClient.path($0)) }
            try await client.transport.transfer(round).answer(
                try Samples.jpeg(shift: round), fields: ["Cache-Control": "no-store, max-age=60"])
            for request in requests {
                let answer = try await request.value()
                #expect(answer.status == 200 && answer["cache-control"] == "no-store")
            }
        }
        #expect(client.transport.started.count == 3 && client.count(.made) == 6)
    }

    @Test("the decoded picture is kept when a later size needs more memory")
    func growing() async throws {
        let client = try PictureClient(sizes: ["w10", "w200"])
        let requests = try ["w10", "w200"].map { try client.start(PictureClient.path($0)) }
        try await client.transport.transfer().answer(
            try Samples.jpeg(200, 200), fields: ["Cache-Control": "max-age=60"])
        for request in requests { #expect(try await request.value().status == 200) }
        #expect(client.count(.decoded) == 1 && client.count(.made) == 2)
    }

    @Test(
        "a source that needs too much memory is 422, and its smaller pictures are still made"
    )
    func tooMuchMemory() async throws {
        // Enough for the reduced scale, not for the full one.
        let source = try Samples.greyJPEG(1368, 1368)
        let maker = try PictureMaker(source)
        let small = try maker.memory(for: PictureRecipe("w92"))
        #expect(try maker.memory(for: PictureRecipe("w800")) > small)
        let client = try PictureClient(
            sizes: ["w92", "w800"], configure: { $0.decodeMemory = small },
            answering: PictureClient.giving(source.array))
        #expect(try await client.get("w800").status == 422)
        #expect(try await client.get("w92").status == 200)
    }

    @Test("a damaged source gives pictures for a minute, its original encoded anew, and one line of log")
    func rubbish() async throws {
        let source = try Samples.rubbish()
        let reported = Tally()
        let client = try PictureClient(
            configure: { $0.reportFailure = { _ in reported.add() } },
            answering: PictureClient.giving(source))
        for recipe in ["original", "w92"] {
            let answer = try await client.get(recipe)
            #expect(answer.status == 200 && answer["cache-control"] == "public, max-age=60")
            #expect(try ImageDecoders.standard.decode(answer.bytes).damage == nil)
        }
        #expect(client.transport.started.count == 1)
        #expect(reported.count == 1)
    }

    @Test("answers are the same with and without a disk, and those on disk survive a restart")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let source = try Samples.jpeg()
        let first = try PictureClient(
            disk: DiskCache(folder: folder.file("cache")), answering: PictureClient.giving(source))
        let answer = try await first.get("w92")
        try await first.settle()

        let second = try PictureClient(disk: DiskCache(folder: folder.file("cache")))
        let again = try await second.get("w92")
        #expect(again.bytes == answer.bytes && again["etag"] == answer["etag"])
        #expect(again["cache-status"] == "marquee; hit; ttl=60" && second.transport.started.count == 0)
        #expect(second.count(.diskHit) == 1 && second.count(.decoded) == 0)
        // Another size needs no transfer either: the source is on disk.
        #expect(try await second.get("w154").status == 200)
        #expect(second.transport.started.count == 0 && second.count(.decoded) == 1)
        let memoryOnly = try PictureClient(answering: PictureClient.giving(source))
        #expect(try await memoryOnly.get("w92").bytes == answer.bytes)
    }
}
