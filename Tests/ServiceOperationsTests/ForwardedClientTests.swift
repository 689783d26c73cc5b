import HTTPSemantics
import TestTraits
import Testing

@testable import HTTPServer
@testable import ServiceOperations

@Suite("ForwardedClient", .bounded)
struct ForwardedClientTests {
    private func client(
        peer: String?, _ forwardedFor: [String], trusting ranges: [String] = ["10.0.0.0/8", "fd00::/8"]
    ) -> String? {
        let clients = ForwardedClient(trusting: ranges.compactMap { AddressRange($0) })
        let peer = Peer(address: peer, isLocal: peer == nil)
        return clients.client(peer: peer, forwardedFor: forwardedFor).map { "\($0)" }
    }

    @Test("without a trusted proxy the client is the peer, whatever the request claims")
    func untrusted() {
        #expect(client(peer: "203.0.113.9", ["198.51.100.1"]) == "203.0.113.9")
        #expect(client(peer: "10.0.0.1", ["198.51.100.1"], trusting: []) == "10.0.0.1")
        #expect(client(peer: nil, ["198.51.100.1"], trusting: []) == nil)
    }

    @Test(
        "behind trusted proxies the client is the last untrusted address",
        arguments: [
            (["203.0.113.7"], "203.0.113.7"),
            (["203.0.113.7, 10.0.0.2"], "203.0.113.7"),
            // Addresses that the client invented are before its own.
            (["1.2.3.4, 203.0.113.7,10.0.0.2 ,\t10.0.0.3"], "203.0.113.7"),
            (["1.2.3.4", "203.0.113.7", "10.0.0.2"], "203.0.113.7"),
            (["10.1.0.1, 10.0.0.2"], "10.1.0.1"),
            ([], "10.0.0.1"), ([""], "10.0.0.1"),
            (["203.0.113.7:4711"], "203.0.113.7"), (["[2001:db8::7]:4711"], "2001:db8::7"),
            (["2001:db8::7"], "2001:db8::7"), (["::ffff:203.0.113.7"], "203.0.113.7"),
            (["203.0.113.7, fd00::1"], "203.0.113.7"),
            // To Swift, this combining mark and the comma are one character.
            (["1.2.3.4\u{600}, 203.0.113.7"], "203.0.113.7"),
        ])
    func walk(forwardedFor: [String], expected: String) {
        #expect(client(peer: "10.0.0.1", forwardedFor) == expected)
    }

    @Test(
        "a malformed entry ends the walk at the proxy that wrote it",
        arguments: [
            (["203.0.113.7, unknown"], "10.0.0.1"), (["203.0.113.7, unknown, 10.0.0.2"], "10.0.0.2"),
            (["\", 203.0.113.7"], "203.0.113.7"), (["1.2.3.4, \"203.0.113.7\""], "10.0.0.1"),
            (["203.0.113.999"], "10.0.0.1"), (["127.1"], "10.0.0.1"), (["fe80::1%eth0"], "10.0.0.1"),
        ])
    func malformed(forwardedFor: [String], expected: String) {
        #expect(client(peer: "10.0.0.1", forwardedFor) == expected)
    }

    @Test("a proxy at a Unix domain socket is trusted if any proxy is")
    func local() {
        #expect(client(peer: nil, ["203.0.113.7"]) == "203.0.113.7")
        #expect(client(peer: nil, ["nobody"]) == nil)
    }
}
