import TestTraits
import Testing

import LazyImages

@Suite("AddressRules", .bounded)
struct AddressRulesTests {
    @Test(
        "ranges that are not public are refused, from the first address to the last",
        arguments: [
            ("0.0.0.0", "0.255.255.255"), ("10.0.0.0", "10.255.255.255"), ("100.64.0.0", "100.127.255.255"),
            ("127.0.0.0", "127.255.255.255"), ("169.254.0.0", "169.254.255.255"),
            ("172.16.0.0", "172.31.255.255"), ("192.0.0.0", "192.0.0.255"), ("192.0.2.0", "192.0.2.255"),
            ("192.88.99.0", "192.88.99.255"), ("192.168.0.0", "192.168.255.255"),
            ("198.18.0.0", "198.19.255.255"), ("198.51.100.0", "198.51.100.255"),
            ("203.0.113.0", "203.0.113.255"), ("224.0.0.0", "239.255.255.255"),
            ("240.0.0.0", "255.255.255.255"), ("::", "::1"),
            ("::2", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"), ("4000::", "5f00::1"),
            ("fc00::", "fdff::1"),
            ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), ("fec0::", "feff::1"),
            ("ff00::", "ff02::1"),
            ("64:ff9b::", "64:ff9b::ffff:ffff"), ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
            ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::ffff:8.8.8.8"),
            ("fd00:ec2::254", "169.254.169.254"),
        ])
    func refused(one: String, other: String) throws {
        for text in [one, other] {
            #expect(try refusal(of: text, by: AddressRules()) != nil, "\(text)")
        }
    }

    @Test(
        "public addresses beside every range are allowed",
        arguments: [
            "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255",
            "192.0.1.0", "192.0.1.255", "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255",
            "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255",
            "203.0.114.0", "223.255.255.255", "2000::", "2001:200::1", "2001:db7::1", "2001:db9::1",
            "2003::1",
            "2606:4700:4700::1111", "3ffe::1", "3fff:1000::1",
        ])
    func allowed(text: String) throws {
        #expect(try refusal(of: text, by: AddressRules()) == nil)
    }

    @Test("an allowed network is allowed, and its neighbours are not")
    func allowedNetwork() throws {
        let rules = AddressRules(allowedNetworks: try networks("10.1.0.0/16", "fd00:1::/32", "::1"))
        for text in ["10.1.0.0", "10.1.255.255", "fd00:1::7", "::1", "8.8.8.8"] {
            #expect(try refusal(of: text, by: rules) == nil, "\(text)")
        }
        for text in ["10.0.255.255", "10.2.0.0", "127.0.0.1", "fd00:2::7", "::", "::ffff:10.1.0.0"] {
            #expect(try refusal(of: text, by: rules) != nil, "\(text)")
        }
    }

    @Test("an IPv4 address inside IPv6 is allowed only if the network and the inner address are")
    func embedded() throws {
        let translated = AddressRules(allowedNetworks: try networks("64:ff9b::/96", "10.0.0.0/8"))
        for text in ["64:ff9b::8.8.8.8", "64:ff9b::10.0.0.1"] {
            #expect(try refusal(of: text, by: translated) == nil, "\(text)")
        }
        for text in ["64:ff9b::127.0.0.1", "64:ff9b::192.168.0.1", "::ffff:10.0.0.1", "2002:a00:1::"] {
            #expect(try refusal(of: text, by: translated) != nil, "\(text)")
        }
        let everything = AddressRules(allowedNetworks: try networks("::/0"))
        // The server's address is public, the client's is not.
        for text in ["2001:0:808:808::80ff:fffe", "::ffff:127.0.0.1", "2600::5efe:127.0.0.1", "::2"] {
            #expect(try refusal(of: text, by: everything) != nil, "\(text)")
        }
    }

    @Test(
        "the reason names the address and its kind",
        arguments: [
            ("127.0.0.1", "127.0.0.1 is loopback"), ("255.255.255.255", "255.255.255.255 is broadcast"),
            ("0.0.0.0", "0.0.0.0 is unspecified"), ("::1", "::1 is loopback"),
            ("4000::", "4000:: is reserved"),
            ("::ffff:7f00:1", "::ffff:127.0.0.1 embeds an IPv4 address (mapped)"),
        ])
    func reason(text: String, reason: String) throws {
        #expect(try refusal(of: text, by: AddressRules()) == reason)
    }

    private func refusal(of text: String, by rules: AddressRules) throws -> String? {
        rules.refusal(of: try #require(IPAddress(text)))
    }

    private func networks(_ texts: String...) throws -> [AddressRange] {
        try texts.map { try #require(AddressRange($0)) }
    }
}
