import SystemSupport
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Faults of a shared store", .bounded)
struct StoreFaultTests {
    @Test("an absent store gets three reads, then none during a pause, then one after each pause")
    func dead() async throws {
        let port = try ClosedPort()
        let now = Shared(Duration.zero)
        let tier = try SharedFixture.tier("http://127.0.0.1:\(port.port)/") {
            $0.timing = SharedFixture.timing(now)
        }
        var failures = 0
        func read(isAsked: Bool, _ comment: Comment) async throws {
            #expect(await tier.body(try SharedFixture.key()) == nil)
            if isAsked { failures += 1 }
            #expect(tier.traffic.failures == failures, comment)
        }
        for _ in 0..<3 { try await read(isAsked: true, "before the pause") }
        #expect(tier.traffic.isReadingPaused && !tier.traffic.isWritingPaused)
        try await read(isAsked: false, "pauses")
        #expect(tier.traffic.skips == 1)
        for pause in [5, 10, 20, 40, 60, 60] {
            now.change { $0 += .seconds(pause) - .milliseconds(1) }
            try await read(isAsked: false, "pauses for \(pause) s")
            now.change { $0 += .milliseconds(1) }
            try await read(isAsked: true, "reads after \(pause) s")
        }
    }

    @Test("a flush waits ten seconds at most, whatever the transport does")
    func hungTransport() async throws {
        let transport = HeldTransport()
        let sleeps = Shared<[Duration]>([])
        let tier = try SharedFixture.tier("http://store.example/", transport: transport) {
            $0.timing.sleep = { time in sleeps.change { $0.append(time) } }
        }
        for number in 0..<6 { tier.put(try SharedFixture.key(number)) }
        // The clock runs ahead of the transport, which holds four writes.
        await tier.flush()
        #expect(sleeps.value == [.seconds(5), .seconds(5)])
        #expect(tier.traffic.droppedWrites == 2)
        for transfer in try await transport.transfers(4) { transfer.answer([], status: 201) }
        // A second flush would not wait: its clock has run ahead.
        try await eventually { tier.traffic.writes == 4 }
    }

    @Test(
        "a silent store costs a read its time limit, and a request the same over all its reads"
    )
    func slow() async throws {
        let origin = try ScriptedOrigin([.readHead, .awaitClose])
        let tier = try SharedFixture.tier("http://127.0.0.1:\(origin.port)/") {
            $0.reading = SharedTier.Configuration().reading
            $0.reading.connect = .seconds(60)
        }
        let key = try SharedFixture.key()
        await SharedTier.$patience.withValue(tier.newPatience()) {
            for _ in 0..<4 { #expect(await tier.body(key) == nil) }
        }
        #expect(origin.requests.count == 1 && tier.traffic.failures == 1)
        #expect(tier.traffic.skips == 3 && !tier.traffic.isReadingPaused)
    }

    @Test("a full store is still read, and its writes are dropped")
    func full() async throws {
        let store = try StoreServer()
        let tier = try SharedFixture.tier(store.address)
        let key = try SharedFixture.key()
        tier.put(key)
        await tier.flush()
        store.refusals.change { $0["PUT"] = "507 Insufficient Storage" }
        for number in 1...5 {
            tier.put(try SharedFixture.key(number))
            await tier.flush()
        }
        let counters = tier.traffic
        #expect(counters.isWritingPaused && !counters.isReadingPaused)
        #expect(counters.failures == 3 && counters.droppedWrites == 2 && counters.writes == 1)
        #expect(await tier.body(key) == SharedFixture.body)
    }

    @Test("after a pause, a cancelled read lets the next one through")
    func cancelledProbe() async throws {
        let origin = try ScriptedOrigin { connection in
            switch connection {
            case 0..<3: [.readHead, .reset]
            case 3: [.readHead, .awaitClose]
            default: [.readHead, .send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")]
            }
        }
        let now = Shared(Duration.zero)
        let tier = try SharedFixture.tier("http://127.0.0.1:\(origin.port)/") {
            $0.timing = SharedFixture.timing(now)
        }
        let key = try SharedFixture.key()
        for _ in 0..<3 { #expect(await tier.body(key) == nil) }
        #expect(tier.traffic.isReadingPaused)
        now.change { $0 += .seconds(5) }
        let read = Task { await tier.body(key) }
        try await origin.requests.wait(for: 4)
        read.cancel()
        #expect(await read.value == nil)
        #expect(await tier.body(key) == nil)
        #expect(tier.traffic.misses == 1 && !tier.traffic.isReadingPaused)
    }

    @Test("403 to a read means an absent object, as in S3")
    func forbiddenRead() async throws {
        let store = try StoreServer()
        store.refusals.change { $0["GET"] = "403 Forbidden" }
        let tier = try SharedFixture.tier(store.address)
        #expect(await tier.body(try SharedFixture.key()) == nil)
        #expect(tier.traffic.misses == 1 && tier.traffic.failures == 0)
    }

    @Test("a removal that fails is sent again, and the key is not read meanwhile")
    func lateRemoval() async throws {
        let store = try StoreServer()
        let now = Shared(Duration.zero)
        let tier = try SharedFixture.tier(store.address) { $0.timing = SharedFixture.timing(now) }
        let key = try SharedFixture.key()
        tier.put(key)
        await tier.flush()
        store.refusals.change { $0["DELETE"] = "503 Service Unavailable" }
        tier.remove(key)
        await tier.flush()
        #expect(store.count("DELETE") == 3 && tier.traffic.queuedWrites == 1)
        #expect(await tier.body(key) == nil && store.count("GET") == 0)
        store.refusals.change { $0["DELETE"] = nil }
        now.change { $0 += .seconds(5) }
        // A read of another key sends it.
        #expect(await tier.body(try SharedFixture.key(1)) == nil)
        try await eventually { tier.traffic.removals == 1 }
        #expect(store.objects.value.isEmpty && tier.traffic.removals == 1)
    }

    @Test("a cancelled read does not count as a failure")
    func cancelled() async throws {
        let origin = try ScriptedOrigin([.readHead, .awaitClose])
        let tier = try SharedFixture.tier("http://127.0.0.1:\(origin.port)/")
        let key = try SharedFixture.key()
        let read = Task { await tier.body(key) }
        try await origin.requests.wait(for: 1)
        read.cancel()
        #expect(await read.value == nil)
        #expect(tier.traffic.failures == 0)
    }
}
