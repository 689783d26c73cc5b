#if canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An IP address, without a port or a zone. The bits are in host order.
public enum IPAddress: Sendable, Hashable {
    /// IPv4 (RFC 791).
    case v4(UInt32)
    /// IPv6 (RFC 4291).
    case v6(UInt128)

    /// The size of the longest text of an address with its final NUL: INET6_ADDRSTRLEN of netinet/in.h.
    private static let textSize = 46

    /// Reads an address in the usual notation: `192.0.2.1`, `2001:db8::1`, `::ffff:192.0.2.1` (RFC 4291 section 2.2).
    ///
    /// Nil for anything else: a name, brackets, a zone, a port, octal or hexadecimal numbers, fewer than four numbers.
    /// - Parameter text: the address as it is written.
    public init?(_ text: String) {
        // inet_pton stops at a NUL.
        guard !text.utf8.contains(0) else { return nil }
        var four = in_addr()
        var six = in6_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            self = .v4(UInt32(bigEndian: four.s_addr))
        } else if unsafe inet_pton(AF_INET6, text, &six) == 1 {
            self = unsafe withUnsafeBytes(of: six) { .v6(unsafe Self.number($0)) }
        } else {
            return nil
        }
    }

    /// Reads `struct sockaddr_in` or `struct sockaddr_in6`; nil for other families, and for too few bytes.
    package init?(socketAddress bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= MemoryLayout<sa_family_t>.size else { return nil }
        switch Int32(unsafe bytes.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where bytes.count >= MemoryLayout<sockaddr_in>.size:
            let address = unsafe bytes.loadUnaligned(as: sockaddr_in.self)
            self = .v4(UInt32(bigEndian: address.sin_addr.s_addr))
        case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size:
            let address = unsafe bytes.loadUnaligned(as: sockaddr_in6.self)
            self = unsafe withUnsafeBytes(of: address.sin6_addr) { .v6(unsafe Self.number($0)) }
        default: return nil
        }
    }

    private static func number(_ bytes: UnsafeRawBufferPointer) -> UInt128 {
        unsafe bytes.reduce(0) { $0 << 8 | UInt128($1) }
    }
}

extension IPAddress {
    /// The part that tells clients apart: an IPv4 address, or the /64 network of an IPv6 address, which belongs to one
    /// client (RFC 6177).
    package var clientNetwork: IPAddress {
        guard case .v6(let bits) = self else { return self }
        return .v6((bits >> 64) << 64)
    }

    /// An IPv4 address mapped into IPv6 becomes IPv4 again (RFC 4291 section 2.5.5.2), so that a client has one name.
    package var withoutMapping: IPAddress {
        guard case .v6(let bits) = self, bits >> 32 == 0xFFFF else { return self }
        return .v4(UInt32(truncatingIfNeeded: bits))
    }
}

extension IPAddress: CustomStringConvertible {
    /// The usual notation; IPv6 in its shortest form (RFC 5952).
    public var description: String {
        var text = [CChar](repeating: 0, count: Self.textSize)
        switch self {
        case .v4(let bits):
            var address = in_addr(s_addr: bits.bigEndian)
            _ = unsafe inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
        case .v6(let bits):
            var bytes = bits.bigEndian
            _ = unsafe inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count))
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension IPAddress {
    /// How an IPv6 address embeds an IPv4 address.
    package enum Embedding: String, Sendable {
        /// ::ffff:0:0/96 (RFC 4291 section 2.5.5.2), and the translated form ::ffff:0:0:0/96 (RFC 2765 section 2.1).
        case mapped
        /// ::/96 except :: and ::1 (RFC 4291 section 2.5.5.1).
        case compatible
        /// 2002::/16 (RFC 3056 section 2).
        case sixToFour = "6to4"
        /// 64:ff9b::/96 (RFC 6052 section 2.1) and 64:ff9b:1::/48 (RFC 8215), read as prefixes of 96 bits.
        case nat64 = "NAT64"
        /// 2001::/32 (RFC 4380 section 4): the server's address, and the client's with its bits inverted.
        case teredo = "Teredo"
        /// An interface identifier of 0000:5efe or 0200:5efe and the address (RFC 5214 section 6.1).
        case isatap = "ISATAP"
    }

    /// The IPv4 addresses embedded in an IPv6 address, and the form; nil if there are none, and for IPv4.
    package var embedded: (form: Embedding, addresses: [IPAddress])? {
        guard case .v6(let bits) = self else { return nil }
        func four(endingAt bit: Int) -> IPAddress { .v4(UInt32(truncatingIfNeeded: bits >> (128 - bit))) }
        let last = four(endingAt: 128)
        switch bits >> 32 {
        case 0 where bits > 1: return (.compatible, [last])
        case 0xFFFF, 0xFFFF_0000: return (.mapped, [last])
        case 0x0064_FF9B << 64: return (.nat64, [last])
        default: break
        }
        if bits >> 80 == 0x0064_FF9B_0001 { return (.nat64, [last]) }
        if bits >> 112 == 0x2002 { return (.sixToFour, [four(endingAt: 48)]) }
        if bits >> 96 == 0x2001_0000 {
            return (.teredo, [four(endingAt: 64), .v4(~UInt32(truncatingIfNeeded: bits))])
        }
        // The bit for globally unique identifiers may have either value.
        if UInt32(truncatingIfNeeded: bits >> 32) & ~0x0200_0000 == 0x0000_5EFE { return (.isatap, [last]) }
        return nil
    }
}

/// A network: all addresses that begin with the same bits (RFC 4632 section 3.1, RFC 4291 section 2.3).
///
///     10.0.0.0/8        fd00:1234::/32        192.0.2.7
public struct AddressRange: Sendable, Hashable {
    /// The first address; the bits after the prefix are 0.
    public let first: IPAddress
    /// The number of leading bits that all addresses share: 0 to 32 for IPv4, 0 to 128 for IPv6.
    public let prefixLength: Int

    /// Reads an address or a network in CIDR notation. An address alone is a network of one.
    ///
    /// Nil if the text is malformed or a bit after the prefix is set: `10.1.2.3/8` may be a mistake for a much smaller
    /// network.
    /// - Parameter text: an address, or a network in CIDR notation.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        var length = address.width
        if parts.count == 2 {
            let digits = parts[1]
            guard digits.utf8.count <= 3, digits.utf8.allSatisfy(\.isDigit),
                digits == "0" || digits.first != "0", let number = Int(digits), number <= length
            else { return nil }
            length = number
        }
        guard address.prefix(length) == address else { return nil }
        first = address
        prefixLength = length
    }

    /// Whether an address is in the network. An IPv6 address is never in an IPv4 network, not even one that embeds an
    /// IPv4 address.
    /// - Parameter address: any address.
    public func contains(_ address: IPAddress) -> Bool {
        address.width == first.width && address.prefix(prefixLength) == first
    }
}

extension AddressRange: CustomStringConvertible {
    /// Address and length, as `init` reads them.
    public var description: String { "\(first)/\(prefixLength)" }
}

extension IPAddress {
    /// The number of bits: 32 or 128.
    fileprivate var width: Int {
        switch self {
        case .v4: UInt32.bitWidth
        case .v6: UInt128.bitWidth
        }
    }

    /// The address with all bits after the first `length` set to 0.
    fileprivate func prefix(_ length: Int) -> IPAddress {
        // A shift by all bits or more gives 0 in Swift.
        switch self {
        case .v4(let bits): .v4(bits & UInt32.max << (UInt32.bitWidth - length))
        case .v6(let bits): .v6(bits & UInt128.max << (UInt128.bitWidth - length))
        }
    }
}
