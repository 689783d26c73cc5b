public import FoundationEssentials

/// Which servers are spoken to, how, and where a redirect may lead. In the manner of Apple's App Transport Security: https
/// with TLS 1.2 and forward secrecy everywhere, plain http only to this machine; what a host needs beside that is named.
public struct SecurityPolicy: Sendable, Hashable {
    /// What is different for one host.
    public struct HostException: Sendable, Hashable {
        /// Whether it holds for the names below the host's too. Default false.
        public var includesSubdomains = false
        /// Whether plain http is allowed. Default false.
        public var allowsInsecureHTTP = false
        /// The oldest version of TLS that will do. Default 1.2.
        public var minimumTLSVersion = TLSVersion.v1_2
        /// Whether only key exchanges with forward secrecy will do. Default true.
        public var requiresForwardSecrecy = true

        /// The rules that hold for every host.
        public init() {}
    }

    /// Versions of TLS, oldest first.
    public enum TLSVersion: Int, Sendable, Hashable, Comparable {
        /// RFC 2246, 4346, 5246 and 8446.
        case v1_0, v1_1, v1_2, v1_3

        /// Whether `left` is older than `right`.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// What a server's certificate is judged by.
    public enum ServerTrust: Sendable, Hashable {
        /// The certificate authorities in a file of PEM, or the one certificate in it; nil: those of the system.
        case authorities(file: String?)
        /// The server's public key and nothing else: base64 of the SHA-256 of its SubjectPublicKeyInfo (RFC 7469
        /// section 2.4).
        case publicKey(sha256: String)
    }

    /// What a server is shown that asks for the client's certificate (RFC 8446 section 4.4.2).
    public struct ClientCertificate: Sendable, Hashable {
        /// The certificate, and those between it and its authority: a file of PEM.
        public var certificateFile: String
        /// The private key, without a password: a file of PEM. Nil, the default: it is in the certificate's file.
        public var keyFile: String?

        /// A certificate, with its key in the same file unless another is named.
        /// - Parameters:
        ///   - certificateFile: a file of PEM.
        ///   - keyFile: a file of PEM; nil where the certificate's file has the key.
        public init(certificateFile: String, keyFile: String? = nil) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// What is different for hosts, by name in lower case. Default none.
    public var exceptions: [String: HostException] = [:]
    /// Certificate authorities to trust instead of the system's: a file of PEM. Default nil.
    public var certificateAuthorityFile: String?
    /// Servers that are trusted by a certificate or key of their own, by name in lower case. Default none.
    public var trusted: [String: ServerTrust] = [:]
    /// The client's certificates, by the name of the host in lower case. No other host is shown one, wherever a redirect
    /// leads. Default none.
    public var clientCertificates: [String: ClientCertificate] = [:]

    /// Who may be fetched, for servers that fetch what strangers name. Default nil: everybody.
    public var fetchGuard: FetchGuard?

    /// A policy that allows plain http to these hosts beside this machine.
    /// - Parameter insecureHosts: names of hosts, in upper or lower case. Default: none.
    public init(insecureHosts: Set<String> = []) {
        for host in insecureHosts {
            var exception = HostException()
            exception.allowsInsecureHTTP = true
            exceptions[host.lowercased()] = exception
        }
    }

    /// The rules for a host: its own, else those of the nearest name above it that includes its subdomains.
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

    /// What a connection to `origin` has to fulfil; nil for one without TLS.
    func transportSecurity(for origin: Origin) -> TransportSecurity? {
        guard origin.scheme == "https" else { return nil }
        let rules = rules(for: origin.host)
        return TransportSecurity(
            minimumTLSVersion: rules.minimumTLSVersion, requiresForwardSecrecy: rules.requiresForwardSecrecy,
            trust: trusted[origin.host] ?? .authorities(file: certificateAuthorityFile),
            clientCertificate: clientCertificates[origin.host])
    }

    /// Throws if `url` may not be read, over the network or from this machine. Only a guard refuses the latter.
    func checkLocal(_ url: URL) throws(ImageLoadingError) {
        try fetchGuard?.check(url, allowsInsecureHTTP: false)
    }

    /// Throws if `url` may not be fetched over the network: `.insecureConnection`, `.unsupportedScheme`, or `.addressRefused`
    /// by the guard. Nothing is looked up or connected to. Every transfer is checked in any case.
    /// - Parameter url: the address to be fetched.
    public func check(_ url: URL) throws(ImageLoadingError) { try check(url, at: Origin(url)) }

    /// As above, with the URL's origin.
    func check(_ url: URL, at origin: Origin) throws(ImageLoadingError) {
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
        Self.isLoopback(host) || rules(for: host).allowsInsecureHTTP
    }

    /// Where the redirect `head` leads from `url`, or nil if it is none (RFC 9110 section 15.4).
    /// - Throws: `.redirectRefused` for a target that the policy does not follow, `.addressRefused` for one that its guard
    ///   does not allow.
    func redirect(_ head: ResponseHead, from url: URL) throws(ImageLoadingError) -> URL? {
        guard [300, 301, 302, 303, 307, 308].contains(head.status), let location = head.fields["location"]
        else {
            return nil
        }
        func refused(_ reason: String) -> ImageLoadingError {
            .redirectRefused(url: url.displayText, location: location, reason: reason)
        }
        // What a person types may be a name with a colon in it; what a server writes is a scheme where it can be one.
        if let scheme = URL.scheme(of: location), !["https", "http"].contains(scheme.lowercased()) {
            throw refused("only https and http are followed")
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
        } catch let error where error.code == "address-refused" {
            throw error
        } catch {
            throw refused("only https and http are followed")
        }
        return target
    }

    /// Whether both URLs have the same scheme, host and port: only then do a caller's own fields go along.
    package static func haveSameOrigin(_ one: URL, _ other: URL) -> Bool {
        Origin(one) == Origin(other)
    }

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
