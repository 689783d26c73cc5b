/// Host and port, as in Host, Origin and URLs (RFC 9110 section 7.2):
///
///     nas:8080        [::1]:8080        films.example.org
package struct HostAndPort: Sendable, Hashable {
    /// A name in lower case without the final dot, or an address; an IPv6 address without brackets.
    package let host: String
    /// Nil if absent.
    package let port: Int?

    /// Takes a host that is normalised already, and a port.
    package init(host: String, port: Int?) {
        self.host = host
        self.port = port
    }

    /// Reads host and port; nil if the text is malformed or has user information.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end].lowercased()
            guard host.contains(":"),
                host.utf8.allSatisfy({ $0.hexadecimalValue != nil || ":.%".utf8.contains($0) })
            else { return nil }
            rest = text[text.index(after: end)...]
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            let name = text[..<end].lowercased()
            host = name.hasSuffix(".") ? String(name.dropLast()) : name
            guard !host.isEmpty, !host.utf8.contains(where: { "/@?#\\[]<>\"".utf8.contains($0) }) else {
                return nil
            }
            rest = text[end...]
        }
        let digits = rest.dropFirst()
        guard rest.isEmpty || rest.first == ":", digits.utf8.allSatisfy(\.isDigit) else { return nil }
        port = Int(digits)
        // An empty port counts as absent (RFC 3986 section 3.2.3).
        guard digits.isEmpty || port ?? .max <= 65_535 else { return nil }
    }

    /// Whether it is the loopback interface: `localhost` and names that end with `.localhost` (RFC 6761 section 6.3),
    /// 127.0.0.0/8 or `::1`.
    package var isLoopback: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "::1"
            || host.hasPrefix("127.") && isAddress
    }

    /// Whether the host is an IP address and not a name.
    package var isAddress: Bool {
        if host.contains(":") { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4
            && numbers.allSatisfy { $0.utf8.count <= 3 && $0.utf8.allSatisfy(\.isDigit) && UInt8($0) != nil }
    }
}

/// The origin of a page: scheme, host and port (RFC 6454).
package struct WebOrigin: Sendable, Hashable {
    /// `http` or `https`.
    package let scheme: String
    package let host: String
    /// The port; the scheme's default if none is given.
    package let port: Int

    /// Reads the Origin field or the beginning of a URL; nil for `null`, other schemes and malformed text.
    package init?(_ text: String) {
        let lowered = text.lowercased()
        guard let scheme = ["http", "https"].first(where: { lowered.hasPrefix($0 + "://") }) else {
            return nil
        }
        let rest = lowered.dropFirst(scheme.utf8.count + 3)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let name = HostAndPort(String(authority)) else { return nil }
        self.init(scheme: scheme, name)
    }

    /// The origin of a host with this scheme.
    package init(scheme: String, _ name: HostAndPort) {
        self.scheme = scheme
        host = name.host
        port = name.port ?? (scheme == "https" ? 443 : 80)
    }
}

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
