/// The IP addresses to which connections are allowed: public ones, and those of allowed networks.
public struct AddressRules: Sendable, Hashable {
    /// Allowed networks that are not public.
    package var allowedNetworks: [AddressRange]

    /// Rules that allow public addresses and these networks. Default: public addresses only.
    /// - Parameter allowedNetworks: allowed networks that are not public.
    package init(allowedNetworks: [AddressRange] = []) { self.allowedNetworks = allowedNetworks }

    /// Why connections to an address are forbidden, such as `127.0.0.1 is loopback`; nil if they are allowed.
    ///
    /// An IPv6 address that embeds an IPv4 address is refused, unless an allowed network contains it and the IPv4
    /// address is allowed too.
    /// - Parameter address: the address of the server.
    public func refusal(of address: IPAddress) -> String? {
        let isAllowed = allowedNetworks.contains { $0.contains(address) }
        if let (form, inner) = address.embedded {
            guard isAllowed else { return "\(address) embeds an IPv4 address (\(form.rawValue))" }
            return inner.lazy.compactMap { refusal(of: $0) }.first.map { "\(address) embeds \($0)" }
        }
        if isAllowed { return nil }
        return Self.kind(of: address).map { "\(address) is \($0)" }
    }

    /// The special purpose of an address; nil for public addresses.
    private static func kind(of address: IPAddress) -> String? {
        if let special = specialRanges.first(where: { $0.range.contains(address) }) { return special.kind }
        if case .v6 = address, !globalUnicast.contains(address) { return "reserved" }
        return nil
    }

    /// The only IPv6 range assigned for global unicast (IANA's IPv6 Global Unicast Address Assignments; RFC 4291
    /// section 2.4 reserves the rest).
    private static let globalUnicast = range("2000::/3")

    /// The special-purpose registries of IANA (RFC 6890), multicast and class E. Each comment names the definition.
    private static let specialRanges: [(range: AddressRange, kind: String)] = [
        (range("0.0.0.0/32"), "unspecified"),  // RFC 1122 section 3.2.1.3
        (range("0.0.0.0/8"), "of this network"),  // RFC 791 section 3.2
        (range("10.0.0.0/8"), "private"),  // RFC 1918
        (range("100.64.0.0/10"), "shared by a carrier"),  // RFC 6598
        (range("127.0.0.0/8"), "loopback"),  // RFC 1122 section 3.2.1.3
        (range("169.254.0.0/16"), "link-local"),  // RFC 3927
        (range("172.16.0.0/12"), "private"),  // RFC 1918
        (range("192.0.0.0/24"), "for protocols"),  // RFC 6890 section 2.1
        (range("192.0.2.0/24"), "for documentation"),  // RFC 5737
        (range("192.88.99.0/24"), "a 6to4 relay"),  // RFC 7526
        (range("192.168.0.0/16"), "private"),  // RFC 1918
        (range("198.18.0.0/15"), "for benchmarks"),  // RFC 2544
        (range("198.51.100.0/24"), "for documentation"),  // RFC 5737
        (range("203.0.113.0/24"), "for documentation"),  // RFC 5737
        (range("224.0.0.0/4"), "multicast"),  // RFC 5771
        (range("255.255.255.255/32"), "broadcast"),  // RFC 919
        (range("240.0.0.0/4"), "reserved"),  // RFC 1112 section 4
        (range("::/128"), "unspecified"),  // RFC 4291 section 2.5.2
        (range("::1/128"), "loopback"),  // RFC 4291 section 2.5.3
        (range("100::/64"), "for discarding"),  // RFC 6666
        (range("2001::/23"), "for protocols"),  // RFC 2928
        (range("2001:db8::/32"), "for documentation"),  // RFC 3849
        (range("3fff::/20"), "for documentation"),  // RFC 9637
        (range("5f00::/16"), "for segment routing"),  // RFC 9602
        (range("fc00::/7"), "unique local"),  // RFC 4193
        (range("fe80::/10"), "link-local"),  // RFC 4291 section 2.5.6
        (range("fec0::/10"), "site-local"),  // RFC 3879
        (range("ff00::/8"), "multicast"),  // RFC 4291 section 2.7
    ]

    private static func range(_ text: String) -> AddressRange {
        guard let range = AddressRange(text) else { preconditionFailure("\(text) is no network") }
        return range
    }
}
