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
        for host in ["a", "a", "b"] { activity.start(host: host) }
        activity.end(1, host: "a", didSucceed: true, metrics)
        activity.end(3, host: "b", didSucceed: false, nil)
        var a = NetworkActivity.HostCounters()
        a.running = 1
        a.finished = 1
        a.bytes = 7
        var b = NetworkActivity.HostCounters()
        b.failed = 1
        #expect(activity.hosts == ["a": a, "b": b])
    }

    @Test("a slow reader of the events gets the newest 10,000")
    func slowReader() async {
        let activity = NetworkActivity()
        var events = activity.events.makeAsyncIterator()
        for number in 1...10_005 {
            activity.record { TransferEvent(transfer: number, url: "", kind: .waiting) }
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
        activity.start(host: "busy")
        for number in 1...3_000 {
            activity.start(host: "host-\(number)")
            activity.end(number, host: "host-\(number)", didSucceed: true, nil)
        }
        let hosts = activity.hosts
        #expect(hosts.count == 1_000)
        #expect(hosts["busy"]?.running == 1)
        #expect(hosts["host-1"] == nil && hosts["host-3000"]?.finished == 1)
        #expect(hosts[""]?.finished == 2_002)
        #expect(hosts.values.reduce(0) { $0 + $1.finished } == 3_000)
    }

    @Test("traffic counts the bytes of running transfers and of earlier attempts, but not of a partial body")
    func traffic() async throws {
        let folder = try TemporaryFolder()
        let transport = HeldTransport()
        var configuration = ImageDownloader.Configuration()
        configuration.partialFolder = folder.file("partial")
        configuration.timing.random = { 0 }
        let downloader = ImageDownloader(configuration: configuration, transport: transport)
        func expect(_ received: Int, _ remaining: Int, _ underWay: Double) {
            let traffic = downloader.activity.traffic
            #expect(traffic.received == received && traffic.remaining == remaining)
            #expect(traffic.underWay == underWay)
        }
        let image = SampleImages.png(bytes: 10_000)
        async let first = downloader.download(ImageRequest("http://localhost/1"))
        let one = try await transport.transfer(0)
        async let second = downloader.download(ImageRequest("http://localhost/2"))
        let other = try await transport.transfer(1)
        one.respond(200, ["ETag": "\"1\"", "Content-Length": "\(image.count)"])
        one.send(Array(image[..<5_000]))
        other.respond()
        other.send(Array(image[..<7]))
        expect(5_007, image.count - 5_000, 5_000 / Double(image.count))
        one.fail(.connectionLost(url: "", received: 5_000, reason: ""))
        // The same transfer again, which begins with the bytes of its partial body.
        let again = try await transport.transfer(2)
        again.respond(
            206,
            [
                "ETag": "\"1\"", "Content-Length": "\(image.count - 5_000)",
                "Content-Range": "bytes 5000-\(image.count - 1)/\(image.count)",
            ])
        again.send(Array(image[5_000..<6_000]))
        expect(6_007, image.count - 6_000, 6_000 / Double(image.count))
        again.send(Array(image[6_000...]))
        again.finish()
        other.send(Array(image[7...]))
        other.finish()
        _ = try await (first, second)
        expect(image.count * 2, 0, 0)
    }
}
