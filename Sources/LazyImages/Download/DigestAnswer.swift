import Hashing
import SystemSupport

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

/// One parsed challenge of a `WWW-Authenticate` field (RFC 9110 section 11.6.1):
///
///     Digest realm="films", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", qop="auth", algorithm=SHA-256
///
/// Several challenges may share one field, separated by commas like their parameters. Parsing ends at the first
/// malformed text, and keeps what comes before it.
struct ChallengeField: Hashable {
    /// In lower case.
    let scheme: String
    /// Names in lower case.
    var parameters: [String: String] = [:]

    var realm: String { parameters["realm"] ?? "" }

    /// Every challenge of a header.
    static func all(in fields: HeaderFields) -> [ChallengeField] {
        fields.values(of: "www-authenticate").flatMap { parse($0) }
    }

    static func parse(_ text: String) -> [ChallengeField] {
        var reader = Reader(text)
        var challenges: [ChallengeField] = []
        while true {
            reader.skip(" \t,")
            guard let word = reader.token() else { return challenges }
            reader.skip(" \t")
            if reader.take("="), !challenges.isEmpty {
                // A parameter of the last challenge.
                reader.skip(" \t")
                guard let value = reader.value() else { return challenges }
                // The first parameter of a name counts: an attacker may be able to append another one.
                let name = word.lowercased()
                let last = challenges.count - 1
                if challenges[last].parameters[name] == nil { challenges[last].parameters[name] = value }
            } else {
                challenges.append(ChallengeField(scheme: word.lowercased()))
            }
        }
    }

    /// Reads tokens and quoted strings (RFC 9110 section 5.6) from the beginning of a text.
    private struct Reader {
        private var rest: Substring.UTF8View

        init(_ text: String) { rest = text[...].utf8 }

        mutating func skip(_ characters: String) {
            rest = rest.drop { byte in characters.utf8.contains(byte) }
        }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func token() -> String? {
            let word = rest.prefix(while: \.isTokenCharacter)
            guard !word.isEmpty else { return nil }
            rest = rest.dropFirst(word.count)
            return String(decoding: word, as: UTF8.self)
        }

        mutating func value() -> String? {
            guard take("\"") else { return token() }
            var bytes: [UInt8] = []
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let escaped = rest.popFirst() else { return nil }
                    bytes.append(escaped)
                default: bytes.append(byte)
                }
            }
            return nil
        }
    }
}

/// MD5 (RFC 1321). Only for Digest authentication: MD5 is not secure.
enum MD5 {
    /// The shifts of the four rounds (section 3.4).
    private static let shifts: [[UInt32]] = [
        [7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21],
    ]

    /// floor(2^32 · |sin(i + 1)|) for the 64 steps.
    private static let constants = (1...64).map { UInt32(abs(sin(Double($0))) * 4_294_967_296) }

    /// The digest of a text's UTF-8, 32 lower-case hexadecimal digits.
    static func hexadecimal(of text: String) -> String {
        var message = Array(text.utf8)
        let bitCount = UInt64(message.count) &* 8
        message.append(0x80)
        while message.count % 64 != 56 { message.append(0) }
        for byte in 0..<8 { message.append(UInt8(truncatingIfNeeded: bitCount >> (8 * byte))) }

        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
        for start in stride(from: 0, to: message.count, by: 64) {
            let words = (0..<16).map { word in
                (0..<4).reduce(UInt32(0)) { $0 | UInt32(message[start + word * 4 + $1]) << (8 * $1) }
            }
            let added = rounds(state, words)
            for index in 0..<4 { state[index] &+= added[index] }
        }
        let bytes = state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func rounds(_ state: [UInt32], _ words: [UInt32]) -> [UInt32] {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let mixed: UInt32
            let word: Int
            switch step / 16 {
            case 0: (mixed, word) = (b & c | ~b & d, step)
            case 1: (mixed, word) = (d & b | ~d & c, (5 * step + 1) % 16)
            case 2: (mixed, word) = (b ^ c ^ d, (3 * step + 5) % 16)
            default: (mixed, word) = (c ^ (b | ~d), 7 * step % 16)
            }
            let sum = a &+ mixed &+ constants[step] &+ words[word]
            let shift = shifts[step / 16][step % 4]
            (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        return [a, b, c, d]
    }
}
