import FoundationEssentials
import TestNames
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

/// A guard's effect on real connections. The origin listens on every address of this machine and counts
/// connections.
@Suite("FetchGuard: connections", .bounded)
struct GuardedConnectionTests {
    /// Spellings of addresses of this machine, and of other addresses that are not public.
    private static let spellings = [
        "127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "0x7f.1", "0x7f000001", "0X7F.0.0.1", "2130706433",
        "017700000001", "0177.0.0.1", "127.0.0.1.", "0", "0.0.0.0", "localhost", "LOCALHOST", "localhost.",
        "[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::]",
        "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:7F00:0001]", "[0:0:0:0:0:ffff:127.0.0.1]",
        "[::ffff:0.0.0.0]", "[::ffff:0:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
        "[64:ff9b:1::127.0.0.1]",
        "[2002:7f00:1::]", "[2001:0:c000:201::80ff:fffe]", "[2600::5efe:127.0.0.1]", "[fe80::1]",
        "10.0.0.1", "192.168.0.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1",
        "255.255.255.255", "[fd00::1]", "[ff02::1]", "[fec0::1]", "[2001:db8::1]",
    ]
    /// The spellings that reach this machine, so that the origin would count a connection.
    private static let reachable = [
        "127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "0x7f.1", "0x7f000001", "0X7F.0.0.1", "2130706433",
        "017700000001", "0177.0.0.1", "localhost", "LOCALHOST", "[::1]", "[0:0:0:0:0:0:0:1]",
    ]

    private let origin: ScriptedOrigin
    private let transport = CurlTransport()

    init() throws {
        origin = try ScriptedOrigin(onAllAddresses: true) { _ in .answering(SampleImages.png) }
    }

    @Test("no spelling of a non-public address opens a connection, nor do zones and misleading names in URLs")
    func transportAlone() async throws {
        let urls =
            Self.spellings.map { "http://\($0):\(origin.port)/a.png" } + [
                "http://[::1%25lo]:\(origin.port)/", "http://[fe80::1%25eth0]:\(origin.port)/",
                "http://example.com@127.0.0.1:\(origin.port)/",
                "http://example.com:80@127.0.0.1:\(origin.port)/",
                "http://127.0.0.1:\(origin.port)/#@example.com", "http://%31%32%37.0.0.1:\(origin.port)/",
            ]
        for text in urls {
            guard let url = URL(string: text) else { continue }
            var request = TransportRequest(url: url, timeouts: .patient)
            request.addresses = AddressRules()
            let error = await transport.error(for: request)
            #expect(isRefused(error, url.host()), "\(text): \(String(describing: error))")
        }
        try await expectConnections(0)
    }

    @Test("without a guard the same spellings open connections")
    func withoutGuard() async throws {
        for host in Self.reachable {
            guard let url = URL(string: "http://\(host):\(origin.port)/a.png") else {
                Issue.record("\(host) is not a host")
                continue
            }
            let transport = CurlTransport()
            #expect(
                await transport.error(for: TransportRequest(url: url, timeouts: .patient)) == nil,
                "\(host)")
        }
        #expect(origin.connections.count == Self.reachable.count)
    }

    @Test("a redirect to any spelling of this machine opens no connection")
    func redirects() async throws {
        for host in Self.reachable {
            let target = "http://\(host):\(origin.port)/b.png"
            let first = try ScriptedOrigin(onAllAddresses: true) { _ in
                [.readHead, .send("HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n")]
            }
            let downloader = try downloader(
                ["http://127.0.0.9:\(first.port)", "http://\(host):\(origin.port)"], allowed: ["127.0.0.9"])
            let error = await downloader.unjoinedCallers(of: ImageRequest(first.url(host: "127.0.0.9")))
                .outcomes[
                    0
                ]
                .error
            #expect(error?.refusedRule == .address, "\(host): \(String(describing: error))")
            #expect(first.connections.count == 1)
        }
        try await expectConnections(0)
    }

    @Test(
        "an allowed network is reached; its neighbours are not, although another request's connection is open"
    )
    func allowedNetwork() async throws {
        var request = TransportRequest(url: origin.url(), timeouts: .patient)
        request.addresses = AddressRules(allowedNetworks: [try #require(AddressRange("127.0.0.0/8"))])
        for _ in 0..<3 { #expect(await transport.error(for: request) == nil) }
        #expect(origin.connections.count == 1, "the connection is reused")
        for rules in [
            AddressRules(), AddressRules(allowedNetworks: [try #require(AddressRange("127.0.0.2"))]),
        ] {
            request.addresses = rules
            #expect(await transport.error(for: request)?.refusedRule == .address)
        }
        #expect(origin.requests.count == 3)
        // Transfers with and without rules share no connections.
        request.addresses = nil
        #expect(await transport.error(for: request) == nil)
        #expect(origin.connections.count == 2)
    }

    @Test("a request on an open connection is judged by its peer address")
    func usedAgain() throws {
        let judge = CurlAddressFilter(AddressRules())
        #expect(judge.allowsRequest(to: "8.8.8.8") && judge.refusal == nil)
        for text in ["127.0.0.1", "::1", "::ffff:10.0.0.1", "fe80::1%eth0", "", "/run/socket"] {
            #expect(!judge.allowsRequest(to: text) && judge.refusal != nil, "\(text)")
        }
    }

    @Test("a name whose address changes is judged by the address that is connected to")
    func changingName() async throws {
        // The control case: libcurl looks these names up here, and uses the second address.
        let good = RebindingHost(["127.0.0.1", "127.0.0.2"])
        #expect(good.lookUp())
        #expect(await outcome(of: good) == nil && good.left.isEmpty)
        #expect(origin.connections.count == 1)

        let bad = RebindingHost(["127.0.0.2", "127.0.0.1"])
        #expect(bad.lookUp())
        #expect(await outcome(of: bad)?.refusedRule == .address && bad.left.isEmpty)
        try await expectConnections(1)
    }

    private func outcome(of host: RebindingHost) async -> ImageLoadingError? {
        await Result.of { () async throws(ImageLoadingError) in
            var configuration = ImageDownloader.Configuration()
            configuration.timeouts = .patient
            configuration.security.fetchGuard = FetchGuard(
                sources: [FetchSource("http://\(host.name):\(origin.port)")].compactMap(\.self),
                allowedNetworks: [AddressRange("127.0.0.2")].compactMap(\.self))
            _ = try await ImageDownloader(configuration: configuration)
                .download(ImageRequest(origin.url(host: host.name)))
        }.error
    }

    @Test("where the configuration sets a host's address, that address is judged")
    func connectedElsewhere() async throws {
        for target in ["127.0.0.1", "localhost", "[::1]"] {
            let transport = CurlTransport(
                configuration: .init(connectTo: ["images.example:80": "\(target):\(origin.port)"]))
            let downloader = try downloader(["http://images.example"], transport: transport)
            let error = await downloader.unjoinedCallers(of: ImageRequest("http://images.example/a"))
                .outcomes[0]
                .error
            #expect(error?.refusedRule == .address)
        }
        try await expectConnections(0)
    }

    @Test("with a proxy no request is sent at all")
    func proxy() async throws {
        for proxy in [CurlTransport.Proxy.environment, .url("http://127.0.0.1:\(origin.port)")] {
            var request = TransportRequest(url: origin.url(), timeouts: .patient)
            request.addresses = AddressRules(allowedNetworks: [try #require(AddressRange("127.0.0.0/8"))])
            let transport = CurlTransport(configuration: .init(proxy: proxy))
            let error = await transport.error(for: request)
            #expect(error?.code == "transport-unavailable" && error?.description.contains("proxy") == true)
        }
        try await expectConnections(0)
    }

    @Test("an upload is judged in the same way")
    func upload() async throws {
        var configuration = ImageDownloader.Configuration()
        configuration.security.fetchGuard = try fetchGuard(["http://localhost:\(origin.port)"])
        let uploader = Uploader(FileLoader.ephemeral(configuration: configuration))
        for (url, rule) in [(origin.url(host: "localhost"), FetchRule.address), (origin.url(), .host)] {
            let error = await uploader.error(UploadRequest(url: url, .put, .bytes([1])))
            #expect(error?.refusedRule == rule)
        }
        try await expectConnections(0)
    }

    @Test("a refusal is not retried, and is no failure of the host")
    func noRetry() async throws {
        let refusal = ImageLoadingError.addressRefused(url: "", rule: .address, reason: "")
        let transport = HeldTransport()
        let downloader = ImageDownloader(
            transport: transport, configuration: .with { $0.retry.failuresOfHost = 1 })
        for index in 0..<3 {
            let caller = try await downloader.callers(of: ImageRequest("http://localhost/\(index)"))
            try await transport.transfer(index).fail(refusal)
            #expect(await caller.outcomes[0].error == refusal)
        }
        #expect(transport.started.count == 3)
    }

    // MARK: Parts

    /// Whether the address was refused. Some systems' name services do not know a host that ends with a dot.
    private func isRefused(_ error: ImageLoadingError?, _ host: String?) -> Bool {
        error?.refusedRule == .address || host?.hasSuffix(".") == true && error?.code == "host-not-found"
    }

    private func fetchGuard(_ sources: [String], allowed: [String] = []) throws -> FetchGuard {
        FetchGuard(
            sources: try sources.map { try #require(FetchSource($0)) },
            allowedNetworks: try allowed.map { try #require(AddressRange($0)) })
    }

    private func downloader(
        _ sources: [String], allowed: [String] = [], transport: CurlTransport = CurlTransport()
    ) throws -> ImageDownloader {
        var configuration = ImageDownloader.Configuration()
        configuration.timeouts = .patient
        configuration.security.fetchGuard = try fetchGuard(sources, allowed: allowed)
        return ImageDownloader(transport: transport, configuration: configuration)
    }

    /// Checks that `count` connections have arrived. It opens one more, which the origin counts last.
    private func expectConnections(_ count: Int) async throws {
        let request = TransportRequest(url: origin.url(), timeouts: .patient)
        #expect(await CurlTransport().error(for: request) == nil)
        #expect(origin.connections.count == count + 1)
    }
}

extension ImageLoadingError {
    /// The guard's rule that refused; nil for another error.
    fileprivate var refusedRule: FetchRule? {
        if case .addressRefused(_, let rule, _) = self { return rule }
        return nil
    }
}
