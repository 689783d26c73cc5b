import TestTraits
import Testing

@testable import HTTPServer

@Suite("HTTPServer.Configuration", .bounded)
struct ConfigurationTests {
    @Test("values out of range are clamped, so that no sum of times overflows")
    func bounded() {
        var configuration = HTTPServer.Configuration()
        configuration.maximumConnections = -1
        configuration.headerLimit = .max
        configuration.headerTimeout = .seconds(Int64.max)
        configuration.latency = .seconds(-1)
        configuration.bandwidth = 0
        let bounded = configuration.bounded
        #expect(bounded.maximumConnections == 1)
        #expect(bounded.headerLimit == 1 << 20)
        #expect(bounded.headerTimeout == .seconds(86_400))
        #expect(bounded.latency == .zero)
        #expect(bounded.bandwidth == 1)
    }

    @Test("connections and files leave descriptors to the library and to transfers, whatever the limit")
    func places() {
        #expect(DescriptorPlaces(limit: 65_536).served == 65_536 - 512)
        #expect(DescriptorPlaces(limit: 65_536).files == 65_536 - 256)
        #expect(DescriptorPlaces(limit: 1024).served == 1024 - 128)
        #expect(DescriptorPlaces(limit: .max).served > 1 << 60)
        for limit in 8..<2000 {
            let places = DescriptorPlaces(limit: limit)
            #expect(
                0 < places.served && places.served <= places.turnedAway && places.turnedAway <= places.files)
            #expect(
                limit - places.served >= min(128, limit / 2) && limit - places.files >= min(64, limit / 4))
        }
    }

    @Test(
        "a connection is served, turned away or dropped by its descriptor's number, as by the number of connections"
    )
    func admission() {
        let counters = ServerCounters(places: DescriptorPlaces(limit: 1024))
        func admits(_ socket: Int32, atMost maximum: Int = 10) -> ServerCounters.Admission {
            counters.admit(socket, atMost: maximum)
        }
        #expect(admits(895) == .serve)
        #expect(admits(896) == .turnAway)
        #expect(admits(928) == .drop)
        #expect(admits(10, atMost: 1) == .turnAway)
        #expect(counters.statistics.connectionsNow == 3 && counters.statistics.connectionsInAll == 4)
    }

    @Test("a limited bandwidth sends twenty pieces a second, each when those before it have had their time")
    func pace() {
        let pace = SendingPace(bandwidth: 200_000)
        #expect(pace.pieceBytes == 10_000)
        #expect(pace.time(ofBytes: 0) == .zero)
        #expect(pace.time(ofBytes: 10_000) == .milliseconds(50))
        #expect(pace.time(ofBytes: 300_000) == .milliseconds(1500))
        let slowest = SendingPace(bandwidth: 1)
        #expect(slowest.pieceBytes == 1 && slowest.time(ofBytes: 7) == .seconds(7))
    }
}
