import FoundationEssentials
import LazyImages

extension Settings {
    /// Which servers are spoken to, and what they are trusted by.
    static func security(_ arguments: Arguments) throws(UsageError) -> SecurityPolicy {
        var policy = SecurityPolicy(insecureHosts: try hosts(arguments.values("insecure-http")))
        policy.certificateAuthorityFile = try arguments.value("cacert").map { file throws(UsageError) in
            try existing(file, of: "cacert")
        }
        for text in arguments.values("trust") {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw UsageError("--trust wants HOST=FILE or HOST=sha256//KEY, not \"\(text)\"")
            }
            policy.trusted[parts[0].lowercased()] = try trust(String(parts[1]))
        }
        return policy
    }

    /// What servers that ask for credentials are answered with: those of the file go before those of the environment.
    static func credentials(_ arguments: Arguments, _ variable: String?) throws(UsageError)
        -> NamedCredentials?
    {
        let named = try variable.map { text throws(UsageError) in try NamedCredentials(text) }
        guard let path = arguments.value("credentials-file") else { return named }
        let own = try NamedCredentials(file: path)
        return named.map { own.adding($0) } ?? own
    }

    /// The proxy that `--proxy` asks for: none, the environment's, or a URL.
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
                    "--proxy wants env, none or a URL such as http://proxy:3128, not \"\(text)\"")
            }
            return .url(text)
        }
    }

    /// A certificate's file, or a key as curl writes its digest.
    private static func trust(_ text: String) throws(UsageError) -> SecurityPolicy.ServerTrust {
        let prefix = "sha256//"
        guard text.hasPrefix(prefix) else { return .authorities(file: try existing(text, of: "trust")) }
        let digest = String(text.dropFirst(prefix.count))
        guard Data(base64Encoded: digest)?.count == 32 else {
            throw UsageError("--trust wants sha256// and 44 characters of base64, not \"\(text)\"")
        }
        return .publicKey(sha256: digest)
    }

    private static func existing(_ file: String, of option: String) throws(UsageError) -> String {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder), !isFolder,
            FileManager.default.isReadableFile(atPath: file)
        else {
            throw UsageError("--\(option): \(file) cannot be read; name a file of certificates (PEM)")
        }
        return file
    }

    /// Host names only: an address, a port or a pattern in their place would never match and leave the user wondering.
    private static func hosts(_ texts: [String]) throws(UsageError) -> Set<String> {
        for text in texts where text.isEmpty || text.contains(where: { "/:@ *?#".contains($0) }) {
            let isAddress = text.hasPrefix("[") && text.hasSuffix("]")
            if !isAddress {
                throw UsageError(
                    "--insecure-http wants a host name such as example.org, not \"\(text)\"; name each host")
            }
        }
        return Set(texts)
    }
}
