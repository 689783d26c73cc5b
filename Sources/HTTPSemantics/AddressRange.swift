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
            guard digits.utf8.count <= 3, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
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
