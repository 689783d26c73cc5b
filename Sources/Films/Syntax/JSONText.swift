import HTTPSemantics

/// A JSON value stored as its text, so that numbers keep their digits and members their order. White space between
/// tokens is removed.
public struct JSONText: Sendable, Hashable {
    /// A member of an object.
    public struct Member: Sendable, Hashable {
        /// The name, unescaped.
        public let name: String
        /// The value.
        public let value: JSONText

        /// Creates a member.
        public init(name: String, value: JSONText) {
            self.name = name
            self.value = value
        }
    }

    /// The text of the value, valid JSON.
    public let text: String

    /// JSON's null.
    public static let null = JSONText(valid: "null")

    /// Reads one value in UTF-8 (RFC 8259), with an optional byte order mark.
    /// - Throws: `.empty`, `.notUTF8`, or `.malformedJSON` with line and column.
    public init(parsing bytes: [UInt8]) throws(CatalogueError) {
        let mark = Document.byteOrderMark
        let bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
        try Document.requireUTF8(bytes)
        guard bytes.contains(where: { !$0.isWhitespace }) else { throw .empty }
        var grammar = JSONGrammar(bytes)
        self.init(bytes: bytes, in: try grammar.only())
    }

    /// Creates a string.
    public init(_ string: String) { self.init(valid: JSONString.quoted(string)) }

    /// Creates an integer.
    public init(_ number: Int) { self.init(valid: "\(number)") }

    /// Creates a number; null for infinity and NaN.
    public init(_ number: Double) {
        if let whole = Int(exactly: number), abs(whole) < 1 << 53 {
            self.init(valid: "\(whole)")
        } else {
            self.init(valid: number.isFinite ? "\(number)" : "null")
        }
    }

    /// Creates a boolean.
    public init(_ flag: Bool) { self.init(valid: flag ? "true" : "false") }

    /// Creates an object with these members.
    public init(members: [Member]) {
        let parts = members.map { "\(JSONString.quoted($0.name)):\($0.value.text)" }
        self.init(valid: "{\(parts.joined(separator: ","))}")
    }

    /// Creates an array with these elements.
    public init(elements: [JSONText]) {
        self.init(valid: "[\(elements.map(\.text).joined(separator: ","))]")
    }

    /// Takes a text that is known to be JSON without surrounding white space.
    package init(valid text: String) { self.text = text }

    /// Takes a range of bytes that the grammar has accepted.
    init(bytes: [UInt8], in range: Range<Int>) {
        var compact: [UInt8] = []
        compact.reserveCapacity(range.count)
        var isString = false
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\\") {
                compact.append(byte)
                index += 1
            } else if byte == UInt8(ascii: "\"") {
                isString.toggle()
            }
            if isString || !byte.isWhitespace { compact.append(bytes[index]) }
            index += 1
        }
        text = String(decoding: compact, as: UTF8.self)
    }

    /// Reads an object that is stored without white space, and finds one of its members without creating the others.
    /// - Throws: `.malformedJSON` for anything else.
    package static func object(
        _ bytes: [UInt8], member: StaticString
    ) throws(CatalogueError) -> (object: JSONText, value: JSONText?) {
        try Document.requireUTF8(bytes)
        var grammar = JSONGrammar(bytes)
        let wanted = Array("\"\(member)\"".utf8)
        var value: JSONText?
        guard bytes.first == UInt8(ascii: "{") else {
            throw .malformedJSON(reason: "an object is expected", line: nil)
        }
        try grammar.members { name, grammar throws(CatalogueError) in
            let range = try grammar.value()
            if name.count == wanted.count, bytes[name].elementsEqual(wanted) {
                value = JSONText(valid: String(decoding: bytes[range], as: UTF8.self))
            }
        }
        guard grammar.index == bytes.count else {
            throw .malformedJSON(reason: "unexpected text after the value", line: nil)
        }
        return (JSONText(valid: String(decoding: bytes, as: UTF8.self)), value)
    }

    /// The members of an object, in order; nil for another value.
    public var members: [Member]? {
        guard text.utf8.first == UInt8(ascii: "{") else { return nil }
        let bytes = Array(text.utf8)
        var members: [Member] = []
        var grammar = JSONGrammar(bytes)
        // Ignored: the stored text is damaged: it was valid JSON once.
        let read: Void? = try? grammar.members { name, grammar throws(CatalogueError) in
            let value = String(decoding: bytes[try grammar.value()], as: UTF8.self)
            members.append(Member(name: Self.unquoted(bytes[name]), value: JSONText(valid: value)))
        }
        return read.map { members }
    }

    /// The elements of an array, in order; nil for another value.
    public var elements: [JSONText]? {
        guard text.utf8.first == UInt8(ascii: "[") else { return nil }
        let bytes = Array(text.utf8)
        var elements: [JSONText] = []
        var grammar = JSONGrammar(bytes)
        // Ignored: the stored text is damaged: it was valid JSON once.
        let read: Void? = try? grammar.elements { value throws(CatalogueError) in
            elements.append(JSONText(valid: String(decoding: bytes[value], as: UTF8.self)))
        }
        return read.map { elements }
    }

    /// The content of a string; nil for another value.
    public var string: String? {
        text.utf8.first == UInt8(ascii: "\"") ? Self.unquoted(Array(text.utf8)[...]) : nil
    }

    /// The number; nil for another value, and if it does not fit in a Double.
    public var number: Double? { isNumber ? Double(text).flatMap { $0.isFinite ? $0 : nil } : nil }

    /// Whether it is a number, of any size.
    var isNumber: Bool { text.utf8.first.map { $0 == UInt8(ascii: "-") || $0.isDigit } ?? false }

    /// The boolean; nil for another value.
    public var flag: Bool? { Bool(text) }

    /// Whether it is null.
    public var isNull: Bool { text == "null" }
}

extension JSONText {
    /// The content of a JSON string. Its bytes are made as UTF-8: the standard library decodes UTF-16 slowly.
    static func unquoted(_ bytes: ArraySlice<UInt8>) -> String {
        let inner = bytes.dropFirst().dropLast()
        guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
        var text: [UInt8] = []
        text.reserveCapacity(inner.count)
        /// The first half of a character beyond U+FFFF.
        var lead: UInt32 = 0
        var index = inner.startIndex
        while index < inner.endIndex {
            guard inner[index] == UInt8(ascii: "\\") else {
                text.append(inner[index])
                index += 1
                continue
            }
            let escape = inner[index + 1]
            index += 2
            switch escape {
            case UInt8(ascii: "u"):
                let unit = inner[index..<index + 4].reduce(0) { $0 << 4 | UInt32($1.hexadecimalValue ?? 0) }
                index += 4
                switch unit {
                case 0xD800..<0xDC00: lead = unit
                case 0xDC00..<0xE000: text += scalar(0x10000 + (lead & 0x3FF) << 10 + unit & 0x3FF)
                default: text += scalar(unit)
                }
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            default: text.append(escape)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func scalar(_ value: UInt32) -> Unicode.Scalar.UTF8View {
        (Unicode.Scalar(value) ?? "\u{FFFD}").utf8
    }
}

extension JSONText: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self.init(value) }

    /// Creates a number.
    public init(integerLiteral value: Int) { self.init(value) }

    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init(value) }

    /// Creates an array.
    public init(arrayLiteral elements: JSONText...) { self.init(elements: elements) }

    /// Creates an object with these members, in their order.
    public init(dictionaryLiteral elements: (String, JSONText)...) {
        self.init(members: elements.map { Member(name: $0.0, value: $0.1) })
    }
}
