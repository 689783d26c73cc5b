package import FoundationEssentials

/// Which servers are spoken to, and where a redirect may lead. In the manner of Apple's App Transport Security: https
/// everywhere, plain http only to this machine and to hosts that the user names.
public struct SecurityPolicy: Sendable, Hashable {
    /// Host names, lower case, to which plain http is allowed beside this machine's own. Default none.
    public var insecureHosts: Set<String>

    /// A policy that allows plain http to these hosts too.
    public init(insecureHosts: Set<String> = []) {
        self.insecureHosts = Set(insecureHosts.map { $0.lowercased() })
    }

    /// Throws if `url` may not be fetched over the network.
    func check(_ url: URL) throws(ImageLoadingError) {
        let scheme = url.scheme?.lowercased() ?? ""
        let host = Self.host(of: url)
        switch scheme {
        case "https": return
        case "http":
            guard Self.isLoopback(host) || insecureHosts.contains(host) else {
                throw .insecureConnection(url: url.displayText, host: host)
            }
        default: throw .unsupportedScheme(url: url.displayText, scheme: scheme)
        }
    }

    /// Where the redirect `head` leads from `url`, or nil if it is none (RFC 9110 section 15.4).
    /// - Throws: `.redirectRefused` for a target that the policy does not follow.
    func redirect(_ head: ResponseHead, from url: URL) throws(ImageLoadingError) -> URL? {
        guard [301, 302, 303, 307, 308].contains(head.status), let location = head.fields["location"] else {
            return nil
        }
        func refused(_ reason: String) -> ImageLoadingError {
            .redirectRefused(url: url.displayText, location: location, reason: reason)
        }
        let target: URL
        do {
            target = try URL(typed: location, relativeTo: url)
        } catch {
            throw refused("it is not a URL that can be fetched")
        }
        guard target.user() == nil, target.password() == nil else { throw refused("it carries credentials") }
        if url.scheme?.lowercased() == "https", target.scheme?.lowercased() != "https" {
            throw refused("it leads away from https")
        }
        do {
            try check(target)
        } catch .insecureConnection(_, let host) {
            throw refused("plain http to \(host) is not allowed")
        } catch {
            throw refused("only https and http are followed")
        }
        return target
    }

    /// Whether both URLs have the same scheme, host and port: only then do a caller's own fields go along.
    package static func haveSameOrigin(_ one: URL, _ other: URL) -> Bool {
        one.scheme?.lowercased() == other.scheme?.lowercased() && place(of: one) == place(of: other)
    }

    /// Host and port as one text: what connections are counted by.
    static func place(of url: URL) -> String {
        "\(host(of: url)):\(url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80))"
    }

    private static func host(of url: URL) -> String { (url.host() ?? "").lowercased() }

    /// This machine: localhost and names below it (RFC 6761 section 6.3), 127.0.0.0/8, ::1.
    static func isLoopback(_ host: String) -> Bool {
        if host == "127.0.0.1" || host == "localhost" || host.hasSuffix(".localhost") || host == "::1"
            || host == "[::1]"
        {
            return true
        }
        guard host.hasPrefix("127.") else { return false }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return octets.count == 4 && octets.allSatisfy { $0 != nil }
    }
}
