import FoundationEssentials
import HTTPSemantics
import Hashing
import PictureService

/// The keys that sign addresses, from a file. Each line is KEY or NAME KEY, the key in hexadecimal or base64. Blank lines
/// and lines that begin with # are skipped.
///
///     # since March
///     2026b 5f1d0c…64 digits or more
///     2026a Zk3mV0…
///
/// The first key signs; all keys are accepted. So a key can be replaced without a break: put the new key first, and
/// remove the old one when its addresses are no longer in use. A name shows in an address which key has signed it.
package struct SigningKeys: Sendable, Equatable {
    /// One key.
    struct Key: Sendable, Equatable {
        /// The name before the signature; empty for a key without a name.
        let name: String
        let bytes: [UInt8]
    }

    /// The fewest bytes of a key: the length of its HMAC (RFC 2104 section 3).
    package static let minimumLength = 32
    /// The most characters of a key's name.
    static let longestName = 32

    /// In the order of the file; at least one.
    let keys: [Key]

    /// The keys' bytes, in the order of the file.
    package var secrets: [[UInt8]] { keys.map(\.bytes) }

    /// Reads the content of a key file.
    package init(_ file: [UInt8]) throws(ListFile.Fault) {
        var names: Set<String> = []
        keys = try ListFile.values(
            of: file, ifNone: "no key; write one on a line, for example from `openssl rand -hex 32`"
        ) { entry throws(ListFile.Fault) in
            let words = entry.words
            guard words.count <= 2, let last = words.last, let bytes = Self.bytes(last) else {
                throw ListFile.Fault("write KEY or NAME KEY on the line, the key in hexadecimal or base64")
            }
            guard bytes.count >= Self.minimumLength else {
                throw ListFile.Fault(
                    "a key has at least \(Self.minimumLength) bytes, for example from `openssl rand -hex 32`")
            }
            guard words.count == 2 else { return Key(name: "", bytes: bytes) }
            let name = words[0]
            guard name.utf8.count <= Self.longestName, name != "-",
                name.utf8.allSatisfy(PictureRecipe.isTagCharacter)
            else {
                throw ListFile.Fault(
                    "a key's name has 1 to \(Self.longestName) letters, digits and -_~, and is not - alone")
            }
            guard names.insert(name).inserted else {
                throw ListFile.Fault("another key has this name; give each key its own")
            }
            return Key(name: name, bytes: bytes)
        }
    }

    /// The signature of a message by the first key, in the form of an address.
    package func signature(of message: String) -> String {
        let key = keys[0]
        return (key.name.isEmpty ? "" : key.name + ".") + Self.code(of: message, by: key)
    }

    /// Whether one of the keys made the signature, with the key's name before it or without. (A signer may not know the
    /// name.) Takes the same time for all signatures of one length, right or wrong.
    package func accept(_ signature: String, of message: String) -> Bool {
        let accepted = keys.flatMap { key in
            let code = Self.code(of: message, by: key)
            return key.name.isEmpty ? [code] : [code, key.name + "." + code]
        }
        return BearerToken.isAccepted(signature, among: accepted)
    }

    private static func code(of message: String, by key: Key) -> String {
        Base64URL.encode(SHA256.authenticate(message.utf8Span.span, with: key.bytes.span).bytes)
    }

    /// Hexadecimal if all characters are such digits, in pairs; else base64 in either alphabet, padded or not.
    private static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap(\.hexadecimalValue)
        if digits.count == text.utf8.count, digits.count.isMultiple(of: 2) {
            return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        }
        let code = text.prefix { $0 != "=" }
        guard ["", "=", "=="].contains(text.dropFirst(code.count)) else { return nil }
        let padding = String(repeating: "=", count: (4 - code.utf8.count % 4) % 4)
        return Data(base64Encoded: code.replacing("-", with: "+").replacing("_", with: "/") + padding).map {
            Array($0)
        }
    }
}
