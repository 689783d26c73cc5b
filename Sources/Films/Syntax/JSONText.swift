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
        do throws(CatalogueError) {
            try grammar.members { name, grammar throws(CatalogueError) in
                let value = String(decoding: bytes[try grammar.value()], as: UTF8.self)
                members.append(Member(name: Self.unquoted(bytes[name]), value: JSONText(valid: value)))
            }
        } catch {
            // The stored text is damaged: it was valid JSON once.
            return nil
        }
        return members
    }

    /// The elements of an array, in order; nil for another value.
    public var elements: [JSONText]? {
        guard text.utf8.first == UInt8(ascii: "[") else { return nil }
        let bytes = Array(text.utf8)
        var elements: [JSONText] = []
        var grammar = JSONGrammar(bytes)
        do throws(CatalogueError) {
            try grammar.elements { value throws(CatalogueError) in
                elements.append(JSONText(valid: String(decoding: bytes[value], as: UTF8.self)))
            }
        } catch {
            // The stored text is damaged: it was valid JSON once.
            return nil
        }
        return elements
    }

    /// The content of a string; nil for another value.
    public var string: String? {
        text.utf8.first == UInt8(ascii: "\"") ? Self.unquoted(Array(text.utf8)[...]) : nil
    }

    /// The number; nil for another value, and if it does not fit in a Double.
    public var number: Double? {
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || first < UInt8(ascii: ":"),
            let number = Double(text), number.isFinite
        else { return nil }
        return number
    }

    /// The boolean; nil for another value.
    public var flag: Bool? { Bool(text) }

    /// Whether it is null.
    public var isNull: Bool { text == "null" }
}

extension JSONText {
    /// The content of a JSON string.
    static func unquoted(_ bytes: ArraySlice<UInt8>) -> String {
        let inner = bytes.dropFirst().dropLast()
        guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
        var units: [UInt16] = []
        var plain = inner.startIndex
        var index = plain
        func append(_ range: Range<Int>) { units += String(decoding: inner[range], as: UTF8.self).utf16 }
        while index < inner.endIndex {
            guard inner[index] == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            append(plain..<index)
            switch inner[index + 1] {
            case UInt8(ascii: "u"):
                let digits = String(decoding: inner[index + 2..<index + 6], as: UTF8.self)
                units += UInt16(digits, radix: 16).map { [$0] } ?? []
                index += 6
            case UInt8(ascii: "b"): (units, index) = (units + [0x08], index + 2)
            case UInt8(ascii: "f"): (units, index) = (units + [0x0C], index + 2)
            case UInt8(ascii: "n"): (units, index) = (units + [0x0A], index + 2)
            case UInt8(ascii: "r"): (units, index) = (units + [0x0D], index + 2)
            case UInt8(ascii: "t"): (units, index) = (units + [0x09], index + 2)
            case let byte: (units, index) = (units + [UInt16(byte)], index + 2)
            }
            plain = index
        }
        append(plain..<inner.endIndex)
        return String(decoding: units, as: UTF16.self)
    }
}
