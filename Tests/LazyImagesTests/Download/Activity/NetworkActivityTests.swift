import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("NetworkActivity", .bounded)
struct NetworkActivityTests {
    @Test("each host has its counts")
    func counts() {
        let activity = NetworkActivity()
        var metrics = TransferMetrics()
        metrics.bytes = 7
        metrics.isReused = true
        let transfers = (1...3).map(transfer)
        for (transfer, host) in zip(transfers, ["a", "a", "b"]) { activity.begin(transfer, host: host) }
        activity.end(transfers[0], host: "a", didSucceed: true, metrics)
        activity.end(transfers[2], host: "b", didSucceed: false, nil)
        var a = NetworkActivity.HostCounters()
        a.running = 1
        a.finished = 1
        a.bytes = 7
        a.reusedConnections = 1
        var b = NetworkActivity.HostCounters()
        b.failed = 1
        #expect(activity.hosts == ["a": a, "b": b])
    }

    @Test("a slow reader of the events gets the newest 10,000")
    func slowReader() async {
        let activity = NetworkActivity()
        var events = activity.events.makeAsyncIterator()
        for number in 1...10_005 {
            activity.note { TransferEvent(transfer: number, url: "", kind: .waiting) }
        }
        for number in 6...10_005 {
            guard let event = await events.next(), event.transfer == number else {
                Issue.record("not the event \(number)")
                return
            }
        }
    }

    @Test("of many hosts the last ones and the busy ones keep their counts, and the others are summed")
    func manyHosts() {
        let activity = NetworkActivity()
        activity.begin(transfer(0), host: "busy")
        for number in 1...3_000 {
            let transfer = transfer(number)
            activity.begin(transfer, host: "host-\(number)")
            activity.end(transfer, host: "host-\(number)", didSucceed: true, nil)
        }
        let hosts = activity.hosts
        #expect(hosts.count == 1_000)
        #expect(hosts["busy"]?.running == 1)
        #expect(hosts["host-1"] == nil && hosts["host-3000"]?.finished == 1)
        #expect(hosts[""]?.finished == 2_002)
        #expect(hosts.values.reduce(0) { $0 + $1.finished } == 3_000)
    }

    @Test("traffic counts the bytes of running transfers, without those of earlier attempts")
    func traffic() {
        let activity = NetworkActivity()
        func expect(_ received: Int, _ remaining: Int, _ underWay: Double) {
            let traffic = activity.traffic
            #expect(traffic.received == received && traffic.remaining == remaining)
            #expect(traffic.underWay == underWay)
        }
        let (one, other) = (transfer(1), transfer(2))
        func begin(_ transfer: ImageDownloader.Transfer) {
            transfer.tell(.started(queued: .zero))
            activity.begin(transfer, host: "a")
        }
        func report(_ transfer: ImageDownloader.Transfer, _ received: Int, of expected: Int?) {
            transfer.tell(.progress(TransferProgress(received: received, expected: expected), nil))
        }
        begin(one)
        begin(other)
        // A resumed transfer starts with the bytes of its partial body.
        report(one, 25, of: 100)
        expect(0, 75, 0.25)
        report(one, 50, of: 100)
        report(other, 0, of: nil)
        report(other, 7, of: nil)
        expect(32, 50, 0.5)
        activity.end(one, host: "a", didSucceed: false, nil)
        activity.end(other, host: "a", didSucceed: true, nil)
        expect(32, 0, 0)
        // The same transfer again, after a failure.
        begin(one)
        report(one, 0, of: 10)
        report(one, 10, of: 10)
        expect(42, 0, 1)
    }

    private func transfer(_ number: Int) -> ImageDownloader.Transfer {
        ImageDownloader.Transfer(number: number, url: URL(filePath: "/"))
    }
}
