/// The answer to a Digest challenge (RFC 7616 section 3.4):
///
///     Digest username="Mufasa", realm="films", nonce="…", uri="/a.png", response="…", algorithm=SHA-256,
///     cnonce="…", nc=00000001, qop=auth
struct DigestAnswer {
    private enum Algorithm: String {
        case md5 = "MD5"
        case sha256 = "SHA-256"

        func hash(_ text: String) -> String {
            switch self {
            case .md5: MD5.hexadecimal(of: text)
            case .sha256: SHA256.hash(of: text).hexadecimal
            }
        }
    }

    private let algorithm: Algorithm
    private let namesAlgorithm: Bool
    private let isSession: Bool
    private let usesQuality: Bool
    private let realm: String
    private let nonce: String
    private let opaque: String?

    /// Nil for an unsupported challenge: an unknown algorithm, or only protection of the body.
    init?(_ challenge: ChallengeField) {
        guard let nonce = challenge.parameters["nonce"] else { return nil }
        var name = challenge.parameters["algorithm"]?.uppercased() ?? "MD5"
        isSession = name.hasSuffix("-SESS")
        if isSession { name.removeLast(5) }
        guard let algorithm = Algorithm(rawValue: name) else { return nil }
        self.algorithm = algorithm
        namesAlgorithm = challenge.parameters["algorithm"] != nil
        let qualities = challenge.parameters["qop"]?.lowercased().split { $0 == "," || $0 == " " }
        guard qualities?.contains("auth") ?? true else { return nil }
        usesQuality = qualities != nil
        realm = challenge.realm
        self.nonce = nonce
        opaque = challenge.parameters["opaque"]
    }

    /// The value of the `Authorization` field for a GET.
    /// - Parameters:
    ///   - uri: path and query of the request.
    ///   - count: how often the nonce has been used, including this time.
    ///   - clientNonce: random text of the client, without quotes.
    func field(user: String, password: String, uri: String, count: Int, clientNonce: String) -> String {
        var secret = algorithm.hash("\(user):\(realm):\(password)")
        if isSession { secret = algorithm.hash("\(secret):\(nonce):\(clientNonce)") }
        let action = algorithm.hash("GET:\(uri)")
        let hexadecimal = String(count, radix: 16)
        let number = String(repeating: "0", count: max(0, 8 - hexadecimal.count)) + hexadecimal
        let response =
            usesQuality
            ? algorithm.hash("\(secret):\(nonce):\(number):\(clientNonce):auth:\(action)")
            : algorithm.hash("\(secret):\(nonce):\(action)")
        var parts = [
            "username=\(quoted(user))", "realm=\(quoted(realm))", "nonce=\(quoted(nonce))",
            "uri=\(quoted(uri))",
            "response=\"\(response)\"",
        ]
        if namesAlgorithm { parts.append("algorithm=\(algorithm.rawValue)\(isSession ? "-sess" : "")") }
        if usesQuality { parts += ["cnonce=\"\(clientNonce)\"", "nc=\(number)", "qop=auth"] }
        if let opaque { parts.append("opaque=\(quoted(opaque))") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private func quoted(_ text: String) -> String {
        let escaped = text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
        // Without line breaks, so that no text can add a header line.
        return "\"" + String(escaped.filter { !$0.isNewline && $0 != "\0" }) + "\""
    }
}
