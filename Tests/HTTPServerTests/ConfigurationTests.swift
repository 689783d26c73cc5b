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
