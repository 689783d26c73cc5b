import FoundationEssentials
import LazyImages

/// The credentials of `MARQUEE_CREDENTIALS`, each for the host it names and no other, so that no server that asks gets what
/// was meant for another:
///
///     nas.local anna:s3cret; films.example:8443 Bearer 2YotnFZFEjr1zCsicMWpAA
///
/// One after the other, separated by semicolons or line ends. A password answers Basic and Digest.
struct NamedCredentials: Authenticator {
    private let credentials: [String: Credential]

    init(_ text: String) throws(UsageError) {
        var credentials: [String: Credential] = [:]
        for entry in text.split(whereSeparator: { $0 == ";" || $0.isNewline }) {
            let words = entry.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let credential = Self.credential(words[1]) else {
                // Without the entry itself: it holds a secret.
                throw UsageError(
                    "MARQUEE_CREDENTIALS wants entries like \"HOST USER:PASSWORD\" or \"HOST Bearer TOKEN\"")
            }
            credentials[words[0].lowercased()] = credential
        }
        self.credentials = credentials
    }

    func credential(for challenge: AuthenticationChallenge) async -> Credential? {
        // What was not taken once is not taken a second time.
        guard !challenge.isRepeated else { return nil }
        let host = challenge.origin.lowercasedHost
        let withPort = challenge.origin.port.flatMap { credentials["\(host):\($0)"] }
        let credential = withPort ?? credentials[host]
        switch (challenge.scheme, credential) {
        case (.bearer, .token), (.basic, .password), (.digest, .password): return credential
        default: return nil
        }
    }

    private static func credential(_ text: Substring) -> Credential? {
        let text = text.drop { $0 == " " }
        if text.hasPrefix("Bearer ") {
            let token = text.dropFirst("Bearer ".count).filter { $0 != " " }
            return token.isEmpty ? nil : .token(token)
        }
        guard let colon = text.firstIndex(of: ":") else { return nil }
        return .password(user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
    }
}
