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

    /// What is wrong with a line.
    package enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case notUTF8
        case notAKey
        case tooShort
        case badName
        case repeatedName

        package var description: String {
            switch self {
            case .notUTF8: "the line is not text in UTF-8"
            case .notAKey: "write KEY or NAME KEY on the line, the key in hexadecimal or base64"
            case .tooShort:
                "a key has at least \(SigningKeys.minimumLength) bytes, for example from `openssl rand -hex 32`"
            case .badName:
                "a key's name has 1 to \(SigningKeys.longestName) letters, digits and -_~, and is not - alone"
            case .repeatedName: "another key has this name; give each key its own"
            }
        }
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
    package init(_ file: [UInt8]) throws(PictureRefusal) {
        guard let entries = ListFile.entries(of: file) else {
            throw .malformedKeys(line: 1, fault: .notUTF8)
        }
        var keys: [Key] = []
        for (line, words) in entries {
            let key: Key
            do throws(Fault) {
                key = try Self.key(words)
                if !key.name.isEmpty, keys.contains(where: { $0.name == key.name }) { throw .repeatedName }
            } catch {
                throw .malformedKeys(line: line, fault: error)
            }
            keys.append(key)
        }
        guard !keys.isEmpty else { throw .noKeys }
        self.keys = keys
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

    private static func key(_ words: [String]) throws(Fault) -> Key {
        guard words.count <= 2, let last = words.last, let bytes = bytes(last) else { throw .notAKey }
        guard bytes.count >= minimumLength else { throw .tooShort }
        guard words.count == 2 else { return Key(name: "", bytes: bytes) }
        let name = words[0]
        guard name.utf8.count <= longestName, name != "-", name.utf8.allSatisfy(PictureRecipe.isTagCharacter)
        else { throw .badName }
        return Key(name: name, bytes: bytes)
    }

    /// Hexadecimal if all characters are such digits, in pairs; else base64 in either alphabet, padded or not.
    private static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap(\.hexadecimalValue)
        if digits.count == text.utf8.count, digits.count.isMultiple(of: 2) {
            return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        }
        let unpadded = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        guard text.utf8.count - unpadded.count <= 2,
            text.utf8.dropFirst(unpadded.count).allSatisfy({ $0 == UInt8(ascii: "=") })
        else { return nil }
        let letters = unpadded.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 }
            .map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 }
        return Base64URL.decode(String(decoding: letters, as: UTF8.self))
    }
}
