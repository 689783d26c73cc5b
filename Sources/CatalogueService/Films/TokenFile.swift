import HTTPSemantics

/// A file of bearer tokens, one on each line. Blank lines are skipped. A line that begins with # names the token on the
/// next line in the log of requests; a token without a name is called by its place: `token 2`.
///
///     # laptop
///     3Xq0nB2k9VdWJm5LrTfYc8Hs
package enum TokenFile {
    /// The fewest characters of a token: 22 in base64 are 128 bits, which nobody can guess.
    package static let minimumLength = 22

    /// Why a token file is invalid. Lines count from 1. No error contains a token.
    package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        case notUTF8
        case empty
        case tooShort(line: Int)
        case malformed(line: Int)

        package var description: String {
            switch self {
            case .notUTF8: "the file is not text in UTF-8"
            case .empty: "no token; write one on a line, for example from `openssl rand -base64 24`"
            case .tooShort(let line):
                "line \(line): a token has at least \(TokenFile.minimumLength) characters, for example from `openssl rand -base64 24`"
            case .malformed(let line): "line \(line): a token has only letters, digits and -._~+/="
            }
        }
    }

    /// The most bytes of a token's name in logs.
    private static let longestName = 64

    /// The tokens of a file.
    package static func tokens(in bytes: [UInt8]) throws(Failure) -> [WriteAccess.Token] {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        var tokens: [WriteAccess.Token] = []
        var name = ""
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let token = line.drop { $0 == 0x20 || $0 == 0x09 }.trimmingEnd {
                [0x20, 0x09, 0x0D].contains($0)
            }
            guard let first = token.first, first != UInt8(ascii: "#") else {
                let comment = String(Substring(token)).drop { $0 == "#" || $0 == " " }
                name = comment.utf8.count <= longestName ? String(comment) : ""
                continue
            }
            let value = String(Substring(token))
            guard BearerToken.isWellFormed(value) else { throw .malformed(line: index + 1) }
            guard token.count >= minimumLength else { throw .tooShort(line: index + 1) }
            tokens.append(
                WriteAccess.Token(name: name.isEmpty ? "token \(tokens.count + 1)" : name, value: value))
            name = ""
        }
        guard !tokens.isEmpty else { throw .empty }
        return tokens
    }
}

extension Substring.UTF8View {
    fileprivate func trimmingEnd(_ isLeftOut: (UInt8) -> Bool) -> Substring.UTF8View {
        var rest = self
        while let last = rest.last, isLeftOut(last) { rest = rest.dropLast() }
        return rest
    }
}
