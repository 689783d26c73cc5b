import TestTraits
import Testing

@testable import HTTPSemantics

@Suite("AddressRange", .bounded)
struct AddressRangeTests {
    @Test(
        "a network contains exactly the addresses that start with its bits",
        arguments: [
            ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0", "::a00:0"]),
            ("172.16.0.0/12", ["172.16.0.0", "172.31.255.255"], ["172.15.255.255", "172.32.0.0"]),
            ("192.0.2.7", ["192.0.2.7"], ["192.0.2.6", "192.0.2.8"]),
            ("192.0.2.7/32", ["192.0.2.7"], ["192.0.2.6", "::ffff:192.0.2.7"]),
            ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255"], ["::", "::ffff:1.2.3.4"]),
            ("128.0.0.0/1", ["128.0.0.0", "255.255.255.255"], ["127.255.255.255"]),
            ("fd00::/8", ["fd00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"], ["fc00::", "fe00::"]),
            ("2001:db8::/33", ["2001:db8:7fff::1"], ["2001:db8:8000::"]),
            ("::1", ["::1"], ["::", "::2", "0.0.0.1"]),
            ("::/0", ["::", "ffff::"], ["0.0.0.0"]),
        ])
    func contains(text: String, inside: [String], outside: [String]) throws {
        let range = try #require(AddressRange(text))
        for (texts, isInside) in [(inside, true), (outside, false)] {
            for text in texts {
                let address = try #require(IPAddress(text))
                #expect(range.contains(address) == isInside, "\(text)")
            }
        }
        #expect(AddressRange(range.description) == range)
    }

    @Test(
        "a malformed network, or one with bits after its prefix, is refused",
        arguments: [
            "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08",
            "10.0.0.0/8/8",
            "10.0.0.0/ 8", "10.0.0.0/٨", "10.0.0.0/255.0.0.0", "10/8", "10.0.0.1/8", "::/129", "fd00::1/8",
            "localhost/8", "[::1]/128", "10.0.0.0/99999999999999999999",
        ])
    func malformed(text: String) { #expect(AddressRange(text) == nil) }
}
