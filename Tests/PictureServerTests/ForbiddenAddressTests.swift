import LazyImages
import PictureServer
import TestNames
import TestSupport
import TestTraits
import Testing

/// No client and no spelling causes a connection to an address that is not public. A listener on every
/// address of this machine, IPv4 and IPv6, counts the connections.
@Suite("PictureServer: addresses that may not be fetched", .bounded, .ownThread)
struct ForbiddenAddressTests {
    /// Hosts of this machine, and of other addresses that are not public.
    private static let hosts =
        [
            "127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "0x7f.1", "0x7f000001", "0X7F.0.0.1", "2130706433",
            "017700000001", "0177.0.0.1", "0177.1", "127.0.0.1.", "127.1.", "0", "0.0.0.0", "0x0", "00.0.0.0",
            "localhost", "LOCALHOST", "LocalHost.", "[::1]", "[0:0:0:0:0:0:0:1]",
            "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
            "[::FFFF:7F00:0001]", "[::ffff:0.0.0.0]", "[::ffff:0:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]",
            "[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::127.0.0.1]", "[2002:7f00:1::]",
            "[2002:7f00:1::1]", "[2001:0:c000:201::80ff:fffe]", "[2001:0:7f00:1::]", "[2600::5efe:127.0.0.1]",
            "[fe80::5efe:7f00:1]", "[fe80::1]", "[fe80::1%25lo]", "[fe80::1%25eth0]", "[::1%25lo]",
            "10.0.0.1",
            "10.1", "192.168.0.1", "3232235521", "172.16.0.1", "169.254.169.254", "0xa9fea9fe", "100.64.0.1",
            "224.0.0.1", "255.255.255.255", "[fd00::1]", "[ff02::1]", "[fec0::1]", "[2001:db8::1]",
            "[::ffff:169.254.169.254]",
        ]

    /// Spellings that two parsers may read as two hosts, or as none. `P` is the listener's port.
    private static let riddles = [
        "http://nowhere.invalid@127.0.0.1:P/", "http://nowhere.invalid:80@127.0.0.1:P/",
        "http://127.0.0.1:P@127.0.0.1:P/",
        "http://127.0.0.1:P\\@nowhere.invalid/", "http://nowhere.invalid\\@127.0.0.1:P/",
        "http://127.0.0.1:P#@nowhere.invalid/",
        "http://127.0.0.1:P/#@nowhere.invalid", "http://nowhere.invalid#@127.0.0.1:P/",
        "http://127.0.0.1:P?@nowhere.invalid/",
        "http://%31%32%37.0.0.1:P/", "http://127.0.0.1%2enowhere.invalid:P/", "http://127%2e0%2e0%2e1:P/",
        "http://%6cocalhost:P/", "http://①②⑦.⓪.⓪.①:P/", "http://１２７.０.０.１:P/", "http://127。0。0。1:P/",
        "http://[::1]nowhere.invalid:P/", "http://[127.0.0.1]:P/", "http:///127.0.0.1:P/",
        "http:127.0.0.1:P/",
        "http://127.0.0.1:P:80/", "http://127.0.0.1 :P/", "http://127.0.0.1\t:P/", "http://\n127.0.0.1:P/",
        "//127.0.0.1:P/", "127.0.0.1:P/", "http://127.0.0.1:0/", "http://127.0.0.1:99999/", "http://:P/",
        "http://localhost%00.nowhere.invalid:P/", "ftp://127.0.0.1:P/", "gopher://127.0.0.1:P/_GET",
        "file:///etc/passwd",
        "dict://127.0.0.1:P/", "HTTP://127.0.0.1:P/", "http://0177.0.0.0x1:P/", "http://127.0.0.1:P/../../",
        "http://xn--127-0-0-1.example@127.0.0.1:P/", "unix:///run/socket", "http://127.0.0.1:+P/",
    ]

    private let listener: ScriptedOrigin

    init() throws {
        let picture = try Samples.jpeg(8, 8)
        listener = try ScriptedOrigin(onAllAddresses: true) { _ in
            .answering(picture, fields: "Content-Type: image/jpeg\r\n")
        }
    }

    /// Requests a picture of each source on one connection. Each must be refused, and counted by a rule.
    private func expectRefused(
        _ sources: [String], by server: RunningPictureServer, rule: String? = nil, isSigned: Bool = false
    ) throws {
        let client = try RawClient(port: server.port, owner: server)
        for source in sources {
            let before = server.refusals
            let path = PictureClient.path("w92", source)
            let signed = isSigned ? (try? PictureClient.signedPath("w92", source)) ?? path : path
            let answer = try client.get(signed)
            // Some systems' name services do not know a name with a final dot, and none knows `invalid`.
            let isUnknown =
                answer.status == 502
                && ((source.contains("./") || source.contains(".:")) || source.contains("invalid#"))
            #expect(answer.status == 403 || answer.status == 400 || isUnknown, "\(source): \(answer.text)")
            #expect(isUnknown || server.refusals == before + 1, "\(source)")
            if let rule, !isUnknown, answer.status == 403 {
                #expect(server.service.counters.refusals[rule] != nil, "\(source): \(answer.text)")
            }
        }
    }

    /// Checks that no connection has arrived. The control case is a permitted connection, which is counted
    /// last.
    private func expectNoConnection(and more: Int = 0) throws {
        #expect(listener.connections.count == more)
        let server = try RunningPictureServer(sources: ["127.0.0.1:\(listener.port)"], allowed: ["127.0.0.1"])
        let path = PictureClient.path("w92", "http://127.0.0.1:\(listener.port)/a.jpg")
        #expect(try RawClient(port: server.port, owner: server).get(path).status == 200)
        #expect(listener.connections.count == more + 1)
    }

    private var riddles: [String] { Self.riddles.map { $0.replacing("P", with: "\(listener.port)") } }

    @Test("an unsigned source that is not listed is refused, in every spelling")
    func unlisted() throws {
        let server = try RunningPictureServer(sources: ["nowhere.invalid"])
        let sources = Self.hosts.flatMap { host in
            ["http://\(host):\(listener.port)/a", "https://\(host)/a"]
        }
        try expectRefused(sources + riddles, by: server)
        try expectNoConnection()
    }

    @Test("a listed source is refused for its address")
    func listed() throws {
        let sources = Self.hosts.map { "\($0):\(listener.port)" }
        let server = try RunningPictureServer(sources: sources + ["nowhere.invalid", "127.0.0.1"])
        try expectRefused(sources.map { "http://\($0)/a" }, by: server, rule: "address")
        try expectRefused(sources.map { "https://\($0)/a" }, by: server, rule: "address")
        #expect(server.service.counters.refusals["address"] ?? 0 > Self.hosts.count)
        try expectNoConnection()
    }

    @Test("a signature allows no such address, at the default ports or others")
    func signed() throws {
        // Connections to ports 443 and 80 go to the listener's port.
        let transport = CurlTransport(
            configuration: .init(connectTo: [":443": ":\(listener.port)", ":80": ":\(listener.port)"]))
        let server = try RunningPictureServer(isSigning: true, transport: transport)
        try expectRefused(Self.hosts.map { "https://\($0)/a" }, by: server, rule: "address", isSigned: true)
        try expectRefused(Self.hosts.map { "http://\($0)/a" }, by: server, isSigned: true)
        try expectRefused(
            Self.hosts.map { "https://\($0):\(listener.port)/a" } + riddles, by: server, isSigned: true)
        // The control case: connections to the port do reach the listener.
        let open = try RunningPictureServer(allowed: ["127.0.0.0/8"], isSigning: true, transport: transport)
        let path = try PictureClient.signedPath("w92", "http://127.0.0.1/a")
        #expect(try RawClient(port: open.port, owner: open).get(path).status == 200)
        try expectNoConnection(and: 1)
    }

    @Test("a redirect of an allowed origin leads to no such address, signed or not")
    func redirects() throws {
        let targets =
            Self.hosts.flatMap { ["http://\($0):\(listener.port)/a", "//\($0):\(listener.port)/a"] } + riddles
        let origin = try ScriptedOrigin(onAllAddresses: true) { _ in
            [
                .forever([
                    .respond { head, _ in
                        // GET /17 HTTP/1.1
                        let number = Int(head.split(separator: " ")[1].dropFirst()) ?? 0
                        return
                            "HTTP/1.1 302 Found\r\nLocation: \(targets[number])\r\nContent-Length: 0\r\n\r\n"
                    }
                ])
            ]
        }
        let own = "127.0.0.9:\(origin.port)"
        let sources = [own] + Self.hosts.map { "\($0):\(listener.port)" }
        for (isSigned, server) in [
            (false, try RunningPictureServer(sources: sources, allowed: ["127.0.0.9"])),
            (true, try RunningPictureServer(sources: sources, allowed: ["127.0.0.9"], isSigning: true)),
        ] {
            let client = try RawClient(port: server.port, owner: server)
            for (number, target) in targets.enumerated() {
                let source = "http://\(own)/\(number)"
                let answer = try client.get(
                    isSigned ? PictureClient.signedPath("w92", source) : PictureClient.path("w92", source))
                // 502 for a malformed Location, or a name that the system does not know.
                #expect([403, 502].contains(answer.status), "\(target): \(answer.text)")
            }
            #expect(server.service.counters.refusals["address"] ?? 0 > Self.hosts.count)
        }
        // Some targets are paths on the origin itself.
        #expect(origin.requests.count >= 2 * targets.count)
        try expectNoConnection()
    }

    @Test("a name whose address changes is judged by the address that is connected to")
    func changingName() throws {
        // The control case: libcurl looks the name up, and gets the second address.
        let good = RebindingHost(["127.0.0.1", "127.0.0.2"])
        let bad = RebindingHost(["127.0.0.2", "127.0.0.1"])
        #expect(good.lookUp() && bad.lookUp())
        let sources = [good, bad].map { "\($0.name):\(listener.port)" }
        let server = try RunningPictureServer(sources: sources, allowed: ["127.0.0.2"])
        let client = try RawClient(port: server.port, owner: server)
        #expect(try client.get(PictureClient.path("w92", "http://\(sources[0])/a")).status == 200)
        #expect(try client.get(PictureClient.path("w92", "http://\(sources[1])/a")).status == 403)
        #expect(good.left.isEmpty && bad.left.isEmpty)
        #expect(server.service.counters.refusals == ["address": 1])
        try expectNoConnection(and: 1)
    }

    @Test("the client is not told which address a name has; the operator is")
    func secretAddress() throws {
        let reports = Shared<[String]>([])
        let source = "http://localhost:\(listener.port)/a"
        let server = try RunningPictureServer(
            sources: ["localhost:\(listener.port)"],
            configure: { $0.reportFailure = { error in reports.change { $0.append("\(error)") } } })
        let answer = try RawClient(port: server.port, owner: server).get(PictureClient.path("w92", source))
        #expect(answer.status == 403 && answer.text.contains("this source is not allowed"))
        for word in ["127.0.0.1", "::1", "loopback"] { #expect(!answer.text.contains(word)) }
        let report = try #require(reports.value.first)
        #expect(report.hasPrefix(source) && report.hasSuffix(" is loopback") && reports.value.count == 1)
    }

    @Test("an open connection lets no other request through")
    func openConnections() throws {
        // Two services, one with permission and one without, share a pool of connections.
        let transport = CurlTransport()
        let source = "127.0.0.1:\(listener.port)"
        let open = try RunningPictureServer(sources: [source], allowed: ["127.0.0.0/8"], transport: transport)
        let closed = try RunningPictureServer(sources: [source], transport: transport)
        for number in 0..<3 {
            let client = try RawClient(port: open.port, owner: open)
            #expect(
                try client.get(PictureClient.path("w92", "http://\(source)/\(number)")).status == 200)
            try expectRefused(["http://\(source)/\(number)"], by: closed, rule: "address")
        }
        #expect(listener.requests.count == 3)
    }
}
