import Testing

@testable import HTTPServer

@Suite("HTTPServer.Configuration", .timeLimit(.minutes(30)))
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
}
