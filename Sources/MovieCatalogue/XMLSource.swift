/// The characters of an XML document, from the first to the last, and the line one stands on.
struct XMLSource {
    private let bytes: [UInt8]
    private var at = 0
    private(set) var line = 1

    /// - Parameter bytes: valid UTF-8.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { at == bytes.count }

    /// What is wrong here.
    func fault(_ reason: String) -> CatalogueError { .malformedXML(reason: reason, line: line) }

    /// Whether this stands here; ASCII without line ends.
    func isAt(_ text: String) -> Bool {
        var index = at
        for byte in text.utf8 {
            guard index < bytes.count, bytes[index] == byte else { return false }
            index += 1
        }
        return true
    }

    /// Passes over this if it stands here.
    mutating func take(_ text: String) -> Bool {
        guard isAt(text) else { return false }
        at += text.utf8.count
        return true
    }

    /// Passes over white space; false if there is none.
    @discardableResult
    mutating func skipWhiteSpace() -> Bool {
        let start = at
        while at < bytes.count, bytes[at].isWhitespace {
            if bytes[at] == UInt8(ascii: "\n") { line += 1 }
            at += 1
        }
        return at > start
    }

    /// The next byte. A line ends with a line feed, however it is written (clause 2.11).
    /// - Parameter reason: what is wrong if there is none.
    mutating func next(orFault reason: String) throws(CatalogueError) -> UInt8 {
        guard at < bytes.count else { throw fault(reason) }
        let byte = bytes[at]
        at += 1
        switch byte {
        case UInt8(ascii: "\n"): line += 1
        case UInt8(ascii: "\r"):
            if at < bytes.count, bytes[at] == UInt8(ascii: "\n") {
                at += 1
                line += 1
            }
            return UInt8(ascii: "\n")
        case UInt8(ascii: "\t"): break
        case ..<0x20: throw fault(Self.noCharacter)
        // U+FFFE and U+FFFF.
        case 0xEF where at + 1 < bytes.count && bytes[at] == 0xBF && bytes[at + 1] >= 0xBE:
            throw fault(Self.noCharacter)
        default: break
        }
        return byte
    }

    /// The bytes from here on that mean nothing but themselves wherever they stand, perhaps none.
    mutating func plainRun() -> ArraySlice<UInt8> {
        let start = at
        while at < bytes.count, Self.isPlain(bytes[at]) { at += 1 }
        return bytes[start..<at]
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case ..<0x20, 0xEF: false
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: "]"), UInt8(ascii: "-"), UInt8(ascii: "?"),
            UInt8(ascii: "\""), UInt8(ascii: "'"):
            false
        default: true
        }
    }

    private static let noCharacter = "a character that XML does not have"

    /// A name (clause 2.3); nil if none stands here.
    mutating func takeName() -> String? {
        let start = at
        while let (scalar, length) = scalar, scalar.isInXMLName(asFirst: at == start) { at += length }
        return at == start ? nil : String(decoding: bytes[start..<at], as: UTF8.self)
    }

    /// The character here and its bytes.
    private var scalar: (Unicode.Scalar, length: Int)? {
        guard at < bytes.count else { return nil }
        let first = bytes[at]
        if first < 0x80 { return (Unicode.Scalar(first), 1) }
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        let text = String(decoding: bytes[at..<min(at + length, bytes.count)], as: UTF8.self)
        return text.unicodeScalars.first.map { ($0, length) }
    }

    /// What a reference (clause 4.1) behind its `&` stands for: a number's character, or one of the five names there are
    /// without a document type (clause 4.6).
    mutating func reference() throws(CatalogueError) -> [UInt8] {
        if take("#") { return try numberedCharacter() }
        guard let name = takeName(), take(";") else {
            throw fault("expected a name; write & as &amp; and < as &lt;")
        }
        switch name {
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "amp": return [UInt8(ascii: "&")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default: throw fault("an entity that XML does not have; write the character itself")
        }
    }

    private mutating func numberedCharacter() throws(CatalogueError) -> [UInt8] {
        let radix = take("x") ? 16 : 10
        let start = at
        while at < bytes.count, Character(Unicode.Scalar(bytes[at])).isHexDigit { at += 1 }
        guard let number = UInt32(String(decoding: bytes[start..<at], as: UTF8.self), radix: radix),
            take(";"), let scalar = Unicode.Scalar(number), scalar.isXMLCharacter
        else { throw fault(Self.noCharacter) }
        return Array(String(scalar).utf8)
    }
}

extension Unicode.Scalar {
    /// Clause 2.2.
    fileprivate var isXMLCharacter: Bool {
        switch value {
        case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    /// Clause 2.3, productions 4 and 4a.
    fileprivate func isInXMLName(asFirst isFirst: Bool) -> Bool {
        switch self {
        case ":", "_", "A"..."Z", "a"..."z", "\u{C0}"..."\u{D6}", "\u{D8}"..."\u{F6}", "\u{F8}"..."\u{2FF}",
            "\u{370}"..."\u{37D}", "\u{37F}"..."\u{1FFF}", "\u{200C}"..."\u{200D}", "\u{2070}"..."\u{218F}",
            "\u{2C00}"..."\u{2FEF}", "\u{3001}"..."\u{D7FF}", "\u{F900}"..."\u{FDCF}",
            "\u{FDF0}"..."\u{FFFD}", "\u{10000}"..."\u{EFFFF}":
            true
        case "-", ".", "0"..."9", "\u{B7}", "\u{300}"..."\u{36F}", "\u{203F}"..."\u{2040}": !isFirst
        default: false
        }
    }
}
