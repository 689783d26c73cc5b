/// A JSON value and the line it begins on.
struct JSONValue: Sendable {
    enum Content: Sendable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([JSONValue])
        /// In the order written; of two members with one name the last counts.
        case object([(name: String, value: JSONValue)])
    }

    let content: Content
    let line: Int

    /// The member `name` of an object; nil if there is none, or it is null, or this is no object.
    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = content,
            let value = members.last(where: { $0.name == name })?.value
        else { return nil }
        if case .null = value.content { return nil }
        return value
    }

    var string: String? {
        if case .string(let text) = content { text } else { nil }
    }
}

/// Reads JSON (RFC 8259) and keeps the line of every value: the decoder of Foundation says neither where a
/// document is malformed nor where a film stands in it. Expects bytes that are valid UTF-8.
struct JSONReader {
    private var scanner: ByteScanner
    private var values = 0

    /// The one value of the document `scanner` stands at.
    static func read(_ scanner: ByteScanner) throws(CatalogueError) -> JSONValue {
        var reader = JSONReader(scanner: scanner)
        let value = try reader.value(depth: 0)
        reader.scanner.skipWhitespace()
        guard reader.scanner.isAtEnd else { throw reader.malformed("something follows the end") }
        return value
    }

    private init(scanner: ByteScanner) { self.scanner = scanner }

    private mutating func value(depth: Int) throws(CatalogueError) -> JSONValue {
        scanner.skipWhitespace()
        values += 1
        guard values <= Document.maximumValues else {
            throw .tooLarge(limit: Document.maximumValues, unit: "values")
        }
        let line = scanner.line
        return JSONValue(content: try content(depth: depth), line: line)
    }

    private mutating func content(depth: Int) throws(CatalogueError) -> JSONValue.Content {
        switch scanner.next {
        case UInt8(ascii: "{"): return .object(try members(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try elements(depth: depth + 1))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"): return .number(try number())
        case let byte? where byte.isDigit: return .number(try number())
        case nil: throw malformed("it ends too early")
        default:
            if scanner.take("true") { return .bool(true) }
            if scanner.take("false") { return .bool(false) }
            if scanner.take("null") { return .null }
            throw malformed("expected a value")
        }
    }

    /// RFC 8259 section 4.
    private mutating func members(depth: Int) throws(CatalogueError) -> [(name: String, value: JSONValue)] {
        try enter(depth)
        var members: [(name: String, value: JSONValue)] = []
        if scanner.take(UInt8(ascii: "}")) { return members }
        while true {
            scanner.skipWhitespace()
            guard scanner.next == UInt8(ascii: "\"") else { throw malformed("expected a name in quotes") }
            let name = try string()
            scanner.skipWhitespace()
            guard scanner.take(UInt8(ascii: ":")) else { throw malformed("expected : after a name") }
            members.append((name, try value(depth: depth)))
            scanner.skipWhitespace()
            if scanner.take(UInt8(ascii: "}")) { return members }
            guard scanner.take(UInt8(ascii: ",")) else { throw malformed("expected , or }") }
        }
    }

    /// RFC 8259 section 5.
    private mutating func elements(depth: Int) throws(CatalogueError) -> [JSONValue] {
        try enter(depth)
        var elements: [JSONValue] = []
        if scanner.take(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try value(depth: depth))
            scanner.skipWhitespace()
            if scanner.take(UInt8(ascii: "]")) { return elements }
            guard scanner.take(UInt8(ascii: ",")) else { throw malformed("expected , or ]") }
        }
    }

    /// Steps over the opening bracket, unless that is one too many: each level costs stack.
    private mutating func enter(_ depth: Int) throws(CatalogueError) {
        guard depth <= Document.maximumDepth else {
            throw malformed("nested deeper than \(Document.maximumDepth) levels")
        }
        scanner.skip(1)
        scanner.skipWhitespace()
    }

    /// RFC 8259 section 6. The standard library reads more than JSON allows, so the grammar is checked here.
    private mutating func number() throws(CatalogueError) -> Double {
        let start = scanner.offset
        _ = scanner.take(UInt8(ascii: "-"))
        if !scanner.take(UInt8(ascii: "0")) { try digits() }
        if scanner.take(UInt8(ascii: ".")) { try digits() }
        if scanner.take(UInt8(ascii: "e")) || scanner.take(UInt8(ascii: "E")) {
            if !scanner.take(UInt8(ascii: "+")) { _ = scanner.take(UInt8(ascii: "-")) }
            try digits()
        }
        guard let number = Double(scanner.text(start..<scanner.offset)), number.isFinite else {
            throw malformed("a number out of range")
        }
        return number
    }

    private mutating func digits() throws(CatalogueError) {
        guard !scanner.take(while: \.isDigit).isEmpty else { throw malformed("expected a digit") }
    }

    /// RFC 8259 section 7.
    private mutating func string() throws(CatalogueError) -> String {
        scanner.skip(1)
        var text = ""
        while true {
            let range = scanner.take { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
            text += scanner.text(range)
            switch scanner.next {
            case UInt8(ascii: "\""):
                scanner.skip(1)
                return text
            case UInt8(ascii: "\\"):
                scanner.skip(1)
                text.unicodeScalars.append(try escape())
            case nil: throw malformed("a string is not closed")
            default: throw malformed("a control character in a string")
            }
        }
    }

    private mutating func escape() throws(CatalogueError) -> Unicode.Scalar {
        switch scanner.advance() {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw malformed("an escape that JSON does not have")
        }
    }

    /// Four hexadecimal digits, or two such escapes that make one character outside the basic plane.
    private mutating func unicodeEscape() throws(CatalogueError) -> Unicode.Scalar {
        let first = try fourHexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, scanner.take("\\u") else { throw malformed("half a surrogate pair") }
        let second = try fourHexDigits()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        else { throw malformed("half a surrogate pair") }
        return scalar
    }

    private mutating func fourHexDigits() throws(CatalogueError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = scanner.next?.hexValue else {
                throw malformed("expected four hexadecimal digits")
            }
            scanner.skip(1)
            value = value << 4 | digit
        }
        return value
    }

    private func malformed(_ reason: String) -> CatalogueError {
        .malformedJSON(reason: reason, line: scanner.line, column: scanner.column)
    }
}
