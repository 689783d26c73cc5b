/// Bearer tokens (RFC 6750 section 2.1): `Authorization: Bearer mF_9.B5f-4.1JqM`.
package enum BearerToken {
    /// The token of a request; nil if there is none, another scheme, or more than one Authorization field.
    package static func token(in fields: HeaderFields) -> String? {
        let values = fields.values(of: "authorization")
        guard values.count == 1 else { return nil }
        let words = values[0].split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        let token = FieldList.trimmed(words[1])
        return isWellFormed(token) ? String(token) : nil
    }

    /// Whether a text can be sent as a token.
    package static func isWellFormed(_ token: some StringProtocol) -> Bool {
        !token.isEmpty
            && token.utf8.allSatisfy {
                $0.isTokenCharacter || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "=")
            }
    }

    /// Whether a token is in a list. Takes the same time for all tokens of one length, right or wrong, so that timing
    /// reveals no part of a token.
    package static func isAccepted(_ token: String, among accepted: [String]) -> Bool {
        let given = Array(token.utf8)
        var isFound = false
        for candidate in accepted {
            let isEqual = areEqual(given, Array(candidate.utf8))
            isFound = isEqual || isFound
        }
        return isFound
    }

    /// Compares every byte of `given`, also after a difference.
    private static func areEqual(_ given: [UInt8], _ expected: [UInt8]) -> Bool {
        var difference = given.count ^ expected.count
        for index in given.indices {
            difference |= Int(given[index] ^ (index < expected.count ? expected[index] : 0))
        }
        return difference == 0
    }
}
