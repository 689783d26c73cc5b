import TestSupport
import Testing

@testable import LazyImages

@Suite("NetworkActivity", .timeLimit(.minutes(30)))
struct NetworkActivityTests {
    @Test("the sign is on from the first start, stays on over a short pause, and goes off after a long one")
    func sign() async throws {
        let clock = HeldClock()
        let activity = NetworkActivity(clock: clock)
        var changes = activity.changes.makeAsyncIterator()
        #expect(await changes.next() == false)
        activity.begin(at: "a")
        #expect(await changes.next() == true)
        activity.begin(at: "b")
        activity.end(at: "a", didSucceed: true, nil)
        activity.end(at: "b", didSucceed: true, nil)
        try await clock.waits.reaches(1)
        #expect(activity.isActive)
        activity.begin(at: "a")
        activity.end(at: "a", didSucceed: false, nil)
        // The pause that ends now was interrupted: another follows.
        clock.pass()
        try await clock.waits.reaches(2)
        #expect(activity.isActive)
        clock.pass()
        #expect(await changes.next() == false)
        #expect(!activity.isActive)
    }

    @Test("each host has its counts")
    func counts() {
        let activity = NetworkActivity(clock: HeldClock())
        var metrics = TransferMetrics()
        metrics.bytes = 7
        metrics.isReused = true
        for place in ["a", "a", "b"] { activity.begin(at: place) }
        activity.end(at: "a", didSucceed: true, metrics)
        activity.end(at: "b", didSucceed: false, nil)
        var a = NetworkActivity.HostCounters()
        a.running = 1
        a.finished = 1
        a.bytes = 7
        a.reusedConnections = 1
        var b = NetworkActivity.HostCounters()
        b.failed = 1
        #expect(activity.hosts == ["a": a, "b": b])
    }

    @Test("traffic counts the bytes of transfers under way, and none that an earlier transfer brought")
    func traffic() {
        let activity = NetworkActivity(clock: HeldClock())
        func expect(_ received: Int, _ remaining: Int, _ underWay: Double) {
            let traffic = activity.traffic
            #expect(traffic.received == received && traffic.remaining == remaining)
            #expect(traffic.underWay == underWay)
        }
        let (one, other) = (ProgressRelay(), ProgressRelay())
        func begin(_ transfer: Int, _ relay: ProgressRelay) {
            relay.begin(after: .zero)
            activity.beginBody(of: transfer, at: relay)
        }
        begin(1, one)
        begin(2, other)
        // A resumed one begins with what was there.
        one.report(TransferProgress(received: 25, expected: 100))
        expect(0, 75, 0.25)
        one.report(TransferProgress(received: 50, expected: 100))
        other.report(TransferProgress(received: 0, expected: nil))
        other.report(TransferProgress(received: 7, expected: nil))
        expect(32, 50, 0.5)
        activity.endBody(of: 1)
        activity.endBody(of: 2)
        expect(32, 0, 0)
        // The same transfer once more, after a failure.
        begin(1, one)
        one.report(TransferProgress(received: 0, expected: 10))
        one.report(TransferProgress(received: 10, expected: 10))
        expect(42, 0, 1)
    }
}

/// A clock whose time passes only when it is told to.
private final class HeldClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    let waits = Tally()
    private let waiting = Shared<[CheckedContinuation<Void, Never>]>([])

    var now: Instant { Instant(offset: .zero) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        await withCheckedContinuation { continuation in
            waiting.change { $0.append(continuation) }
            waits.add()
        }
    }

    /// Ends every wait.
    func pass() {
        let all = waiting.value
        waiting.change { $0 = [] }
        for continuation in all { continuation.resume() }
    }
}
