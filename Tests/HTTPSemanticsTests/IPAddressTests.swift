import Glibc
import TestTraits
import Testing

@testable import HTTPSemantics

@Suite("IPAddress", .bounded)
struct IPAddressTests {
    @Test(
        "the usual notations are parsed, and written in the shortest form",
        arguments: [
            ("0.0.0.0", "0.0.0.0"), ("192.0.2.1", "192.0.2.1"), ("255.255.255.255", "255.255.255.255"),
            ("::", "::"), ("::1", "::1"), ("2001:0DB8:0:0:0:0:0:1", "2001:db8::1"), ("fe80::1", "fe80::1"),
            ("::ffff:192.0.2.1", "::ffff:192.0.2.1"), ("::ffff:c000:201", "::ffff:192.0.2.1"),
            ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ])
    func notation(text: String, shortest: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == shortest)
        #expect(IPAddress(shortest) == address)
    }

    @Test(
        "no other notation is parsed",
        arguments: [
            "", "localhost", "127.1", "127.0.0", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.01",
            "127.0.0.256", "127.0.0.1.", "127.0.0.1:80", " 127.0.0.1", "127.0.0.1\0", "[::1]", "::1%lo",
            "fe80::1%25eth0", "1::2::3", "1:2:3:4:5:6:7", "::127.0.0", "::12345", "１.2.3.4",
        ])
    func malformed(text: String) { #expect(IPAddress(text) == nil) }

    @Test("the bits are in host order")
    func bits() {
        #expect(IPAddress("1.2.3.4") == .v4(0x0102_0304))
        #expect(
            IPAddress("102:304:506:708:90a:b0c:d0e:f10") == .v6(0x0102_0304_0506_0708_090A_0B0C_0D0E_0F10))
    }

    @Test("a socket address is read; another family and too few bytes are not")
    func socketAddress() {
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        unsafe withUnsafeBytes(of: four) { bytes in
            #expect(unsafe IPAddress(socketAddress: bytes) == .v4(0x7F00_0001))
            #expect(
                unsafe IPAddress(socketAddress: UnsafeRawBufferPointer(rebasing: bytes.dropLast())) == nil)
            #expect(unsafe IPAddress(socketAddress: UnsafeRawBufferPointer(rebasing: bytes.prefix(1))) == nil)
        }
        var six = sockaddr_in6()
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_scope_id = 3
        six.sin6_addr = in6addr_loopback
        unsafe withUnsafeBytes(of: six) { bytes in
            #expect(unsafe IPAddress(socketAddress: bytes) == .v6(1))
            #expect(
                unsafe IPAddress(socketAddress: UnsafeRawBufferPointer(rebasing: bytes.dropLast())) == nil)
        }
        var local = sockaddr_un()
        local.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeBytes(of: local) { #expect(unsafe IPAddress(socketAddress: $0) == nil) }
    }

    @Test(
        "an IPv4 address inside an IPv6 address is found",
        arguments: [
            ("::ffff:127.0.0.1", "mapped", ["127.0.0.1"]), ("::ffff:0:127.0.0.1", "mapped", ["127.0.0.1"]),
            ("::127.0.0.1", "compatible", ["127.0.0.1"]), ("::2", "compatible", ["0.0.0.2"]),
            ("2002:7f00:1::", "6to4", ["127.0.0.1"]), ("2002:a01:203:4::5", "6to4", ["10.1.2.3"]),
            ("64:ff9b::7f00:1", "NAT64", ["127.0.0.1"]), ("64:ff9b:1::10.0.0.1", "NAT64", ["10.0.0.1"]),
            ("64:ff9b:1:ffff::10.0.0.1", "NAT64", ["10.0.0.1"]),
            ("2001:0:c000:201::80ff:fffe", "Teredo", ["192.0.2.1", "127.0.0.1"]),
            ("2600::5efe:10.0.0.1", "ISATAP", ["10.0.0.1"]),
            ("2600::200:5efe:10.0.0.1", "ISATAP", ["10.0.0.1"]),
        ])
    func embedded(text: String, form: String, inner: [String]) throws {
        let address = try #require(IPAddress(text))
        let embedded = try #require(address.embedded)
        #expect(embedded.form.rawValue == form)
        #expect(embedded.addresses == inner.compactMap { IPAddress($0) })
    }

    @Test(
        "other IPv6 addresses contain none",
        arguments: [
            "127.0.0.1", "::", "::1", "2001:db8::1", "2606:4700::1111", "64:ff9c::1", "64:ff9b:0:1::1",
            "64:ff9b:2::1", "2001:1::1", "2003::1", "::1:ffff:7f00:1", "2600::100:5efe:a00:1",
        ])
    func plain(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.embedded == nil)
    }
}
