import FoundationEssentials
import LazyImages

extension Settings {
    /// The servers that may be connected to, and how they are authenticated.
    static func security(_ arguments: Arguments) throws(UsageError) -> SecurityPolicy {
        var policy = SecurityPolicy(insecureHosts: try hosts(arguments.values("insecure-http")))
        policy.certificateAuthorityFile = try arguments.value("cacert").map { file throws(UsageError) in
            try existing(file, of: "cacert")
        }
        for (host, text) in try byHost("trust", "FILE or HOST=sha256//KEY", arguments) {
            policy.trusted[host] = try trust(text)
        }
        for (host, text) in try byHost("min-tls", "1.2 or HOST=1.3", arguments) {
            let versions = ["1.2": SecurityPolicy.TLSVersion.v1_2, "1.3": .v1_3]
            guard let version = versions[text] else {
                throw UsageError("--min-tls needs HOST=1.2 or HOST=1.3, not \"\(host)=\(text)\"")
            }
            policy.exceptions[host, default: SecurityPolicy.HostException()].minimumTLSVersion = version
        }
        for (host, file) in try byHost("cert", "FILE", arguments) {
            policy.clientCertificates[host] = SecurityPolicy.ClientCertificate(
                certificateFile: try existing(file, of: "cert"))
        }
        for (host, file) in try byHost("key", "FILE", arguments) {
            guard policy.clientCertificates[host] != nil else {
                throw UsageError("--key \(host)=\(file) has no certificate; name it with --cert \(host)=FILE")
            }
            policy.clientCertificates[host]?.keyFile = try existing(file, of: "key")
        }
        return policy
    }

    /// The values of an option for single hosts: `HOST=VALUE`, the host in lower case.
    private static func byHost(
        _ option: String, _ value: String, _ arguments: Arguments
    ) throws(UsageError) -> [(host: String, value: String)] {
        var values: [(host: String, value: String)] = []
        for text in arguments.values(option) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw UsageError("--\(option) needs HOST=\(value), not \"\(text)\"")
            }
            values.append((parts[0].lowercased(), String(parts[1])))
        }
        return values
    }

    /// The credentials for servers that ask. Those of the file come before those of the environment.
    static func credentials(_ arguments: Arguments, _ variable: String?) throws(UsageError)
        -> NamedCredentials?
    {
        let named = try variable.map { text throws(UsageError) in try NamedCredentials(text) }
        guard let path = arguments.value("credentials-file") else { return named }
        let own = try NamedCredentials(file: path)
        return named.map { own.adding($0) } ?? own
    }

    /// The proxy of `--proxy`: none, the environment's, or a URL.
    static func proxy(_ text: String?) throws(UsageError) -> CurlTransport.Proxy {
        switch text {
        case nil, "none": return .none
        case "env": return .environment
        case let text?:
            let url = URL(string: text)
            let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
            guard let url, schemes.contains(url.scheme?.lowercased() ?? ""), url.host()?.isEmpty == false
            else {
                throw UsageError(
                    "--proxy needs env, none or a URL such as http://proxy:3128, not \"\(text)\"")
            }
            return .url(text)
        }
    }

    /// A certificate's file, or a key's digest in curl's form.
    private static func trust(_ text: String) throws(UsageError) -> SecurityPolicy.ServerTrust {
        let prefix = "sha256//"
        guard text.hasPrefix(prefix) else { return .authorities(file: try existing(text, of: "trust")) }
        let digest = String(text.dropFirst(prefix.count))
        guard Data(base64Encoded: digest)?.count == 32 else {
            throw UsageError("--trust needs sha256// and 44 characters of base64, not \"\(text)\"")
        }
        return .publicKey(sha256: digest)
    }

    private static func existing(_ file: String, of option: String) throws(UsageError) -> String {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder), !isFolder,
            FileManager.default.isReadableFile(atPath: file)
        else {
            throw UsageError("--\(option): \(file) cannot be read; name a file of PEM")
        }
        return file
    }

    /// Host names only. An address, a port or a pattern would never match, and the user would not know why.
    private static func hosts(_ texts: [String]) throws(UsageError) -> Set<String> {
        for text in texts where text.isEmpty || text.contains(where: { "/:@ *?#".contains($0) }) {
            let isAddress = text.hasPrefix("[") && text.hasSuffix("]")
            if !isAddress {
                throw UsageError(
                    "--insecure-http needs a host name such as example.org, not \"\(text)\"; name each host")
            }
        }
        return Set(texts)
    }
}
