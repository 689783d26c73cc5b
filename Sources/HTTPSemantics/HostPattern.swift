/// The patterns of an allowed host: the host itself, or `*.` and a domain for all subdomains of it.
///
///     example.org          this host
///     *.example.org        www.example.org and a.b.example.org, but not example.org
///
/// Whole labels are compared: `*.example.org` matches neither badexample.org nor example.org.evil.example. The domain
/// has at least two labels, because `*.org` would match the hosts of strangers. So would `*.co.uk`, which is a pattern
/// all the same: no list of public suffixes is at hand. An address matches only itself.
package enum HostPattern {
    private static let mark = "*."
    /// The fewest labels of the domain.
    private static let leastLabels = 2
    /// The most characters of a name (RFC 1035 section 2.3.4). Longer text is no name and matches only itself.
    private static let longestName = 253

    /// Whether a host with an asterisk is a pattern; true for a host without one.
    /// - Parameter host: as in `HostAndPort`.
    package static func isValid(_ host: String) -> Bool {
        guard host.utf8.contains(UInt8(ascii: "*")) else { return true }
        guard host.hasPrefix(mark) else { return false }
        let labels = host.dropFirst(mark.utf8.count).split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= leastLabels && labels.allSatisfy { !$0.isEmpty && !$0.contains("*") }
            // The last label of an IPv4 address in any spelling is a number.
            && labels.last?.utf8.first?.isDigit == false
    }

    /// All patterns that match a host, the most exact one first.
    /// - Parameter host: as in `HostAndPort`: in lower case, without a final dot or brackets.
    package static func patterns(matching host: String) -> [String] {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard host.utf8.count <= longestName, !HostAndPort(host: host, port: nil).isAddress,
            labels.allSatisfy({ !$0.isEmpty })
        else { return [host] }
        let domains = labels.indices.dropFirst().dropLast(leastLabels - 1)
        return [host] + domains.map { mark + labels[$0...].joined(separator: ".") }
    }
}
