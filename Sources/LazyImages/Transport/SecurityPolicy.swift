package import FoundationEssentials

/// The rules for connections and redirects, in the manner of Apple's App Transport Security: https with TLS 1.2 and
/// forward secrecy for all hosts, plain http only to this machine. Exceptions are named by host.
public struct SecurityPolicy: Sendable, Hashable {
    /// Other rules for one host.
    public struct HostException: Sendable, Hashable {
        /// Whether the exception holds for subdomains too. Default: false.
        public var includesSubdomains = false
        /// Whether plain http is allowed. Default: false.
        public var allowsInsecureHTTP = false
        /// The oldest accepted version of TLS. Default: 1.2.
        public var minimumTLSVersion = TLSVersion.v1_2
        /// Whether key exchanges must have forward secrecy. Default: true.
        public var requiresForwardSecrecy = true

        /// The default rules.
        public init() {}
    }

    /// Versions of TLS, oldest first. The raw value is the digit after the dot.
    public enum TLSVersion: Int, Sendable, Hashable, Comparable {
        /// RFC 2246, 4346, 5246 and 8446.
        case v1_0, v1_1, v1_2, v1_3

        /// Whether a version is older than another.
        public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    /// How a server's certificate is verified.
    public enum ServerTrust: Sendable, Hashable {
        /// By the certificate authorities, or the one certificate, in a PEM file; nil for the system's authorities.
        case authorities(file: String?)
        /// Only by the server's public key: base64 of the SHA-256 of its SubjectPublicKeyInfo (RFC 7469 section 2.4).
        case publicKey(sha256: String)
    }

    /// The certificate for a server that requests one from the client (RFC 8446 section 4.4.2).
    public struct ClientCertificate: Sendable, Hashable {
        /// A PEM file with the certificate and its intermediate certificates.
        public var certificateFile: String
        /// A PEM file with the private key, without a password. Default: nil, the key is in the certificate's file.
        public var keyFile: String?

        /// A certificate and its key.
        /// - Parameters:
        ///   - certificateFile: a PEM file.
        ///   - keyFile: a PEM file. Default: nil, the key is in the certificate's file.
        public init(certificateFile: String, keyFile: String? = nil) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// Exceptions by host name in lower case. Default: none.
    public var exceptions: [String: HostException] = [:]
    /// A PEM file of certificate authorities to trust instead of the system's. Default: nil.
    public var certificateAuthorityFile: String?
    /// Servers with a certificate or key of their own, by host name in lower case. Default: none.
    public var trusted: [String: ServerTrust] = [:]
    /// Client certificates by host name in lower case. No other host gets one, even after a redirect. Default: none.
    public var clientCertificates: [String: ClientCertificate] = [:]

    /// Limits which servers may be fetched from, for services that fetch URLs of strangers. Default: nil, no limits.
    public var fetchGuard: FetchGuard?

    /// A policy that allows plain http to this machine and to these hosts.
    /// - Parameter insecureHosts: host names, in upper or lower case. Default: none.
    public init(insecureHosts: Set<String> = []) {
        for host in insecureHosts {
            var exception = HostException()
            exception.allowsInsecureHTTP = true
            exceptions[host.lowercased()] = exception
        }
    }

    /// The rules for a host: its own, else those of the nearest parent domain that includes subdomains.
    func rules(for host: String) -> HostException {
        if exceptions.isEmpty { return HostException() }
        if let own = exceptions[host] { return own }
        var name = host[...]
        while let dot = name.firstIndex(of: ".") {
            name = name[name.index(after: dot)...]
            if let above = exceptions[String(name)], above.includesSubdomains { return above }
        }
        return HostException()
    }

    /// The TLS requirements of connections to `origin`; nil for plain http.
    func transportSecurity(for origin: WebOrigin) -> TransportSecurity? {
        guard origin.scheme == "https" else { return nil }
        let rules = rules(for: origin.host)
        return TransportSecurity(
            minimumTLSVersion: rules.minimumTLSVersion, requiresForwardSecrecy: rules.requiresForwardSecrecy,
            trust: trusted[origin.host] ?? .authorities(file: certificateAuthorityFile),
            clientCertificate: clientCertificates[origin.host])
    }

    /// Throws if `url`, a `file:` or `data:` URL, may not be read. Only a guard forbids that.
    func checkLocal(_ url: URL) throws(ImageLoadingError) {
        try fetchGuard?.check(url, allowsInsecureHTTP: false)
    }

    /// Throws if `url` may not be fetched over the network: `.insecureConnection`, `.unsupportedScheme`, or
    /// `.addressRefused` by the guard. Uses no network. Every transfer makes this check itself.
    /// - Parameter url: the URL to fetch.
    package func check(_ url: URL) throws(ImageLoadingError) {
        let origin = WebOrigin(url)
        if let fetchGuard {
            return try fetchGuard.check(url, allowsInsecureHTTP: allowsInsecureHTTP(to: origin.host))
        }
        switch origin.scheme {
        case "https": return
        case "http":
            guard allowsInsecureHTTP(to: origin.host) else {
                throw .insecureConnection(url: url.displayText, host: origin.host)
            }
        default: throw .unsupportedScheme(url: url.displayText, scheme: origin.scheme)
        }
    }

    private func allowsInsecureHTTP(to host: String) -> Bool {
        HostAndPort(host: host, port: nil).isLoopback || rules(for: host).allowsInsecureHTTP
    }

    /// The target of a redirect from `url`; nil if `head` is not a redirect (RFC 9110 section 15.4).
    /// - Throws: `.redirectRefused` if the policy forbids the target, `.addressRefused` if its guard does.
    func redirect(_ head: ResponseHead, from url: URL) throws(ImageLoadingError) -> URL? {
        guard [300, 301, 302, 303, 307, 308].contains(head.status), let location = head.fields["location"]
        else {
            return nil
        }
        func refused(_ reason: String) -> ImageLoadingError {
            .redirectRefused(url: url.displayText, location: location, reason: reason)
        }
        // A person may type a file name with a colon; in a Location the text before a colon is a scheme.
        if let scheme = URL.scheme(of: location), !["https", "http"].contains(scheme.lowercased()) {
            throw refused("only https and http are followed")
        }
        let target: URL
        do {
            target = try URL(typed: location, relativeTo: url)
        } catch {
            throw refused("it is not a valid URL")
        }
        guard target.user() == nil, target.password() == nil else { throw refused("it contains credentials") }
        if url.scheme?.lowercased() == "https", target.scheme?.lowercased() != "https" {
            throw refused("it leads from https to http")
        }
        do {
            try check(target)
        } catch .insecureConnection(_, let host) {
            throw refused("plain http to \(host) is not allowed")
        } catch let error where error.code == "address-refused" {
            throw error
        } catch {
            throw refused("only https and http are followed")
        }
        return target
    }

    /// Whether both URLs have the same scheme, host and port: only then are a caller's fields sent to both.
    package static func haveSameOrigin(_ one: URL, _ other: URL) -> Bool {
        WebOrigin(one) == WebOrigin(other)
    }
}
