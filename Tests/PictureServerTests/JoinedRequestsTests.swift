import HTTPSemantics
import LazyImages
import TestSupport
import TestTraits
import Testing

@testable import PictureServer

/// Requests for a source that is in progress: which of them join, and what they get.
@Suite("PictureServer: joined requests", .bounded)
struct JoinedRequestsTests {
    private static let fields: HeaderFields = ["Cache-Control": "max-age=60"]

    /// A service whose workers are busy, so that a fetched source waits to be decoded.
    private struct Busy {
        let client: PictureClient
        let tickets: [WorkGate.Ticket]

        init() async throws {
            client = try PictureClient()
            let gate = client.service.gate
            tickets = [try await gate.enter(nil), try await gate.enter(nil)]
            for ticket in tickets { try await gate.acquire(1, for: ticket) }
        }

        /// Begins a request, and answers its transfer.
        func start(_ transfer: Int, _ fields: HeaderFields) async throws -> PictureClient.Pending {
            let waiting = client.service.gate.usage.waiting
            let request = try client.start(PictureClient.path("w92"))
            try await client.transport.transfer(transfer).answer(
                try Samples.jpeg(shift: transfer), fields: fields)
            try await eventually { client.service.gate.usage.waiting == waiting + 1 }
            return request
        }

        func free() { for ticket in tickets { client.service.gate.leave(ticket) } }
    }

    @Test("requests that joined another's are marked as collapsed, the first one is not")
    func collapsed() async throws {
        let client = try PictureClient()
        let requests = try (0..<3).map { _ in try client.start(PictureClient.path("w92")) }
        try await client.transport.transfer().answer(try Samples.jpeg(), fields: Self.fields)
        let first = "marquee; fwd=uri-miss; fwd-status=200; stored"
        #expect(try await requests[0].value()["cache-status"] == first)
        for request in requests[1...] {
            #expect(try await request.value()["cache-status"] == first + "; collapsed")
        }
    }

    @Test("recipes that give the same bytes are made once")
    func sameDerivation() async throws {
        let client = try PictureClient()
        let recipes = ["w92", "w92.q80", "w92.v7"]
        let requests = try recipes.map { try client.start(PictureClient.path($0)) }
        try await client.transport.transfer().answer(try Samples.jpeg(), fields: Self.fields)
        var tags: Set<String?> = []
        for request in requests { tags.insert(try await request.value()["etag"]) }
        #expect(tags.count == 1 && client.count(.made) == 1)
    }

    @Test(
        "a request that comes after an answer that must not be reused asks the origin again",
        arguments: ["no-store, max-age=60", "max-age=0"])
    func unusable(control: String) async throws {
        let busy = try await Busy()
        let early = try await busy.start(0, ["Cache-Control": control])
        let late = try await busy.start(1, ["Cache-Control": control])
        #expect(!early.isAnswered)
        busy.free()
        #expect(try await early.value().status == 200)
        #expect(try await late.value()["etag"] != early.value()["etag"])
        try await eventually { busy.client.service.gate.usage.sources == 0 }
    }

    @Test("a request joins while the answer is fresh, and asks the origin again once it is stale")
    func stale() async throws {
        let busy = try await Busy()
        let early = try await busy.start(0, Self.fields)
        busy.client.clock.advance(by: 58)
        let joined = try busy.client.start(PictureClient.path("w92"))
        busy.client.clock.advance(by: 2)
        let late = try await busy.start(1, Self.fields)
        #expect(busy.client.transport.started.count == 2)
        busy.free()
        #expect(try await joined.value()["etag"] == early.value()["etag"])
        #expect(try await late.value()["etag"] != early.value()["etag"])
    }

    @Test("a request for another size joins a source that waits to be decoded")
    func otherSize() async throws {
        let busy = try await Busy()
        let early = try await busy.start(0, Self.fields)
        let other = try busy.client.start(PictureClient.path("w154"))
        busy.free()
        for request in [early, other] { #expect(try await request.value().status == 200) }
        #expect(busy.client.transport.started.count == 1 && busy.client.count(.decoded) == 1)
    }

    @Test("when the last client leaves, a fetched source gives its place back; the next client begins anew")
    func leftWhileWaiting() async throws {
        let busy = try await Busy()
        let sources = busy.client.service.gate.usage.sources
        let request = try await busy.start(0, ["Cache-Control": "no-store"])
        request.leave()
        try await eventually { busy.client.service.gate.usage.sources == sources }
        #expect(busy.client.service.gate.usage.waiting == 0)
        let next = try await busy.start(1, Self.fields)
        busy.free()
        #expect(try await next.value().status == 200 && !request.isAnswered)
    }

    @Test("the failure of a source that was purged meanwhile is not remembered")
    func purgedFailure() async throws {
        let client = try PictureClient()
        let request = try client.start(PictureClient.path("w92"))
        let transfer = try await client.transport.transfer()
        await client.service.purge(try PictureSource("https://\(PictureClient.host)/a"))
        transfer.answer(Array("no picture".utf8), fields: Self.fields)
        #expect(try await request.value().status == 422)
        #expect(try await client.get(answering: 1, Self.fields).status == 200)
    }

    @Test("a host sees its limit once, whether a client's list or a signature allows the address")
    func sharedSlots() async throws {
        let isFree = Shared(false)
        let early = Shared(false)
        let host = PictureClient.host
        let client = try PictureClient(
            sources: [], isSigning: true,
            configure: { configuration in
                configuration.downloads.transfersPerHost = 1
                if let source = FetchSource("http://\(host)") { configuration.rules.allow([source]) }
            },
            answering: { request in
                switch request.url.path() {
                case "/moved":
                    return HeldTransport.Answer([], status: 302, fields: ["Location": "https://\(host)/b"])
                case "/b":
                    early.change { $0 = !isFree.value }
                    return nil
                default: return nil
                }
            })
        let listed = try client.start(try PictureClient.signedPath("w92", "https://\(host)/a"))
        let first = try await client.transport.transfer()
        let signed = try client.start(try PictureClient.signedPath("w92", "https://other.example/moved"))
        _ = try await client.transport.transfer(1)
        // Lets the second transfer go on to the host of the first one, if it may.
        for _ in 0..<1000 { await Task.yield() }
        isFree.change { $0 = true }
        first.answer(try Samples.jpeg(), fields: Self.fields)
        try await client.transport.transfer(2).answer(try Samples.jpeg(shift: 1), fields: Self.fields)
        for request in [listed, signed] { #expect(try await request.value().status == 200) }
        #expect(!early.value)
    }
}
