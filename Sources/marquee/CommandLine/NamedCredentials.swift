import FoundationEssentials
import LazyImages
import SystemSupport

/// The credentials of `MARQUEE_CREDENTIALS` or of `--credentials-file`. Each is for one named host, so no other server
/// can ask for it:
///
///     nas.local anna:s3cret; films.example:8443 Bearer 2YotnFZFEjr1zCsicMWpAA
///
/// Entries are separated by semicolons or line ends; a line that begins with `#` is a comment. A password answers Basic
/// and Digest.
struct NamedCredentials: HTTPAuthenticator {
    private var credentials: [String: Credential]

    /// Reads the credentials of a file that only its owner can read.
    init(file path: String) throws(UsageError) {
        let calls = FileCalls()
        let bytes = try UsageError.naming("--credentials-file") {
            let file = try calls.openForReading(path: path)
            let status = try calls.status(of: file)
            guard status.isFile else {
                let kind = status.isFolder ? "a folder" : "not a file"
                throw FileFault(
                    kind: .read, name: path, code: EINVAL,
                    detail: "it is \(kind); name one that only you can read")
            }
            guard !status.isOpenToOthers else {
                throw FileFault(
                    kind: .read, name: path, code: EACCES,
                    detail: "others can read it too; keep it to yourself with chmod 600")
            }
            var content = [UInt8](repeating: 0, count: min(status.size, Self.maximumBytes))
            let count = try calls.read(file, into: &content)
            return content[..<count]
        }
        try self.init(String(decoding: bytes, as: UTF8.self), of: "--credentials-file \(path)")
    }

    /// The hosts of the credentials, in order.
    var hosts: [String] { credentials.keys.sorted() }

    /// The most bytes of a file.
    private static let maximumBytes = 1 << 20

    /// - Parameter source: the name of the text in messages.
    init(_ text: String, of source: String = "MARQUEE_CREDENTIALS") throws(UsageError) {
        var credentials: [String: Credential] = [:]
        // Some editors begin a file with a byte order mark.
        let entries = text.drop { $0 == "\u{FEFF}" }.split(whereSeparator: { $0 == ";" || $0.isNewline })
            .filter { ![nil, "#"].contains($0.drop { $0 == " " }.first) }
        for (index, entry) in entries.enumerated() {
            let words = entry.split(separator: " ", maxSplits: 1)
            guard words.count == 2, !words[0].hasSuffix(":"), let credential = Self.credential(words[1])
            else {
                // The message leaves out the entry, which holds a secret.
                let place = entries.count > 1 ? "; its entry \(index + 1) is not one" : ""
                throw UsageError(
                    "\(source) needs entries like \"HOST USER:PASSWORD\" or \"HOST Bearer TOKEN\"\(place)")
            }
            credentials[Self.host(words[0])] = credential
        }
        self.credentials = credentials
    }

    /// These credentials, and those of `others` for all other hosts.
    func adding(_ others: NamedCredentials) -> NamedCredentials {
        var all = self
        all.credentials.merge(others.credentials) { own, _ in own }
        return all
    }

    /// The host and the port of an entry, which may be written as an address: `https://nas:8920/`.
    private static func host(_ word: Substring) -> String {
        let text = word.lowercased()
        guard text.contains("://"), let url = URL(string: text), let host = url.host(), !host.isEmpty else {
            return text
        }
        return url.port.map { "\(host):\($0)" } ?? host
    }

    /// Whether there is a credential of any kind for a server.
    func hasCredential(for server: URL) -> Bool { credential(for: server) != nil }

    /// The token for a server; nil for none.
    func token(for server: URL) -> String? {
        if case .token(let token) = credential(for: server) { token } else { nil }
    }

    func tokenToSend(to origin: URL) async -> String? { token(for: origin) }

    private func credential(for server: URL) -> Credential? {
        let host = server.lowercasedHost
        return server.port.flatMap { credentials["\(host):\($0)"] } ?? credentials[host]
    }

    func credential(for challenge: AuthenticationChallenge) async -> Credential? {
        // A credential that was refused once is not sent again.
        guard !challenge.isRepeated else { return nil }
        let credential = credential(for: challenge.origin)
        switch (challenge.scheme, credential) {
        case (.bearer, .token), (.basic, .password), (.digest, .password): return credential
        default: return nil
        }
    }

    private static func credential(_ text: Substring) -> Credential? {
        let text = text.drop { $0 == " " }
        if text.hasPrefix("Bearer ") {
            let token = String(text.dropFirst("Bearer ".count).trimmed)
            let isToken = token.utf8.allSatisfy { 0x21...0x7E ~= $0 && !#""\"#.utf8.contains($0) }
            return token.isEmpty || !isToken ? nil : .token(token)
        }
        guard let colon = text.firstIndex(of: ":") else { return nil }
        return .password(user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
    }
}
