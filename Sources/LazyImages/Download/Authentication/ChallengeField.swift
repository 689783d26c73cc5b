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
            let word = rest.prefix { byte in
                byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
            }
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
