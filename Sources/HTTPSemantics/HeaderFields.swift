/// The header fields of a message, in order; names are case-insensitive (RFC 9110 section 5.1).
public struct HeaderFields: Sendable, Hashable {
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// As written; case-insensitive.
        public var name: String
        /// The value without surrounding white space.
        public var value: String

        /// Creates a field.
        /// - Parameters:
        ///   - name: the name, in any case.
        ///   - value: the value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The fields in order.
    public private(set) var fields: [Field] = []

    /// Creates an empty header.
    public init() {}

    /// The first value of the field `name`. Setting it replaces every field with that name; nil removes them.
    /// - Parameter name: the name, in any case.
    public subscript(name: String) -> String? {
        get { index(of: name, from: 0).map { fields[$0].value } }
        set {
            fields.removeAll { $0.name.equalsIgnoringCase(name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// Every value of the field `name`, in order.
    /// - Parameter name: the name, in any case.
    public func values(of name: String) -> [String] {
        var values: [String] = []
        var next = 0
        while let index = index(of: name, from: next) {
            values.append(fields[index].value)
            next = index + 1
        }
        return values
    }

    /// The index of the next field `name`. Compares in place, because each response is searched for a dozen names.
    private func index(of name: String, from first: Int) -> Int? {
        let length = name.utf8.count
        return (first..<fields.count).first {
            fields[$0].name.utf8.count == length && fields[$0].name.equalsIgnoringCase(name)
        }
    }

    /// Appends a field; fields with the same name stay.
    /// - Parameter field: the field.
    public mutating func append(_ field: Field) {
        // Enough for most responses.
        if fields.isEmpty { fields.reserveCapacity(16) }
        fields.append(field)
    }

    /// Replaces all fields that have the names of `others`.
    package mutating func replace(with others: HeaderFields) {
        for field in others.fields { self[field.name] = nil }
        for field in others.fields { append(field) }
    }

    /// Whether there are no fields.
    public var isEmpty: Bool { fields.isEmpty }

    /// Why `name: value` cannot be sent, or nil if it can. A name must be a token and a value must hold no control
    /// character (RFC 9110 sections 5.1 and 5.5), which prevents header injection.
    /// - Parameters:
    ///   - name: the name.
    ///   - value: the value.
    public static func fault(name: String, value: String) -> String? {
        if !name.isToken {
            return "\"\(name)\" is not the name of a header field"
        }
        if value.utf8.contains(where: \.isControl) {
            return "the value of \(name) holds a control character"
        }
        return nil
    }
}

extension HeaderFields.Field {
    /// Reads a line without its end: `Name: value`, where white space around the value is optional (RFC 9110 section
    /// 5.5). Bytes that are not UTF-8 are Latin-1: old servers send that. Nil without a colon. Nothing else is checked.
    package init?(line: Span<UInt8>) {
        guard let colon = line.indices.first(where: { line[$0] == UInt8(ascii: ":") }) else { return nil }
        var (start, end) = (colon + 1, line.count)
        while start < end, line[start].isBlank { start += 1 }
        while end > start, line[end - 1].isBlank { end -= 1 }
        name = Self.text(line.extracting(..<colon))
        value = Self.text(line.extracting(start..<end))
    }

    /// Nearly all texts are ASCII.
    private static func text(_ bytes: Span<UInt8>) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes))
        } catch {
            // Ignored: it is Latin-1 then.
            return String(String.UnicodeScalarView(bytes.indices.map { Unicode.Scalar(bytes[$0]) }))
        }
    }
}

extension HeaderFields: ExpressibleByDictionaryLiteral {
    /// Creates a header with the fields of the literal, in order.
    /// - Parameter elements: names and values, in their order.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }
}

extension String {
    /// Whether two strings are equal apart from the case of ASCII letters.
    package func equalsIgnoringCase(_ other: String) -> Bool {
        let (one, other) = (utf8Span.span, other.utf8Span.span)
        guard one.count == other.count else { return false }
        for index in one.indices where one[index] != other[index] {
            let letter = one[index] | 0x20
            guard letter == other[index] | 0x20, letter.isLetter else { return false }
        }
        return true
    }
}

extension StringProtocol {
    /// Whether it is a token (RFC 9110 section 5.6.2): the name of a field or a method.
    @inlinable package var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenCharacter) }
}

extension UInt8 {
    /// A space or a tab (RFC 9110 section 5.6.3).
    @inlinable package var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// A control character, which no field value may have; a tab is not one (RFC 9110 section 5.5).
    @inlinable package var isControl: Bool { self < 0x20 && self != 0x09 || self == 0x7F }

    /// `0` to `9`.
    @inlinable package var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    /// A letter of ASCII, in either case.
    @inlinable package var isLetter: Bool {
        self | 0x20 >= UInt8(ascii: "a") && self | 0x20 <= UInt8(ascii: "z")
    }

    /// Whether a token may contain this byte (RFC 9110 section 5.6.2).
    @inlinable package var isTokenCharacter: Bool {
        self < 128 && (self < 64 ? Self.lowTokens : Self.highTokens) >> (UInt64(self) & 63) & 1 == 1
    }

    /// A bit for each character that a token may contain: of the characters 0 to 63, and of 64 to 127. A server asks
    /// for each byte of each name.
    @inlinable static var lowTokens: UInt64 { 0x03FF_6CFA_0000_0000 }
    @inlinable static var highTokens: UInt64 { 0x57FF_FFFF_C7FF_FFFE }

    /// The value of a hexadecimal digit in either case; nil for anything else.
    package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Comma-separated lists in header fields (RFC 9110 section 5.6.1). A comma in a quoted string does not separate, and
/// empty members do not count.
package enum FieldList {
    /// The members of all values of a field, in order, without surrounding white space.
    package static func members(of values: [String]) -> [Substring] { values.flatMap { members(of: $0) } }

    /// The members of one value.
    package static func members(of value: String) -> [Substring] { pieces(of: value, at: UInt8(ascii: ",")) }

    /// The pieces between separators, without surrounding white space. Separators in quoted strings and empty pieces do
    /// not count.
    /// - Parameter hasTargets: whether separators between `<` and `>` do not count either, as in Link.
    static func pieces(of value: String, at separator: UInt8, hasTargets: Bool = false) -> [Substring] {
        var pieces: [Substring] = []
        let bytes = value.utf8
        var start = bytes.startIndex
        var isQuoted = false
        var isEscaped = false
        var isTarget = false
        for index in bytes.indices {
            let byte = bytes[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\""), !isTarget {
                isQuoted.toggle()
            } else if hasTargets, !isQuoted, byte == UInt8(ascii: isTarget ? ">" : "<") {
                isTarget.toggle()
            } else if byte == separator, !isQuoted, !isTarget {
                append(value[start..<index], to: &pieces)
                start = bytes.index(after: index)
            }
        }
        append(value[start...], to: &pieces)
        return pieces
    }

    /// The content of a quoted string, unescaped (RFC 9110 section 5.6.4); nil for anything else.
    package static func unquoted(_ text: Substring) -> String? {
        let bytes = text.utf8
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
            return nil
        }
        var content: [UInt8] = []
        var isEscaped = false
        for byte in bytes.dropFirst().dropLast() {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                if !isEscaped, byte == UInt8(ascii: "\"") { return nil }
                content.append(byte)
                isEscaped = false
            }
        }
        return isEscaped ? nil : String(decoding: content, as: UTF8.self)
    }

    private static func append(_ piece: Substring, to pieces: inout [Substring]) {
        let trimmed = trimmed(piece)
        if !trimmed.isEmpty { pieces.append(trimmed) }
    }

    /// Removes surrounding spaces and tabs.
    package static func trimmed(_ text: Substring) -> Substring {
        let bytes = text.utf8
        guard let first = bytes.firstIndex(where: { !$0.isBlank }),
            let last = bytes.lastIndex(where: { !$0.isBlank })
        else { return text[text.endIndex...] }
        return text[first...last]
    }
}

/// The request fields that selected a response (RFC 9111 section 4.1).
package enum Vary {
    /// The names in the Vary of a response, in lower case and sorted; nil if `*` is among them: no request matches
    /// then.
    package static func names(in response: HeaderFields) -> [String]? {
        let values = response.values(of: "vary")
        guard !values.isEmpty else { return [] }
        let names = Set(FieldList.members(of: values).map { $0.lowercased() })
        return names.contains("*") ? nil : names.sorted()
    }

    /// The normalised value of a request field; nil for an absent field.
    ///
    /// Repeated fields become one list without surrounding white space. Order and case do not count in the Accept
    /// fields.
    package static func value(of name: String, in request: HeaderFields) -> String? {
        let values = request.values(of: name)
        guard !values.isEmpty else { return nil }
        var members = FieldList.members(of: values).map(String.init)
        if name.hasPrefix("accept") {
            members = members.map { member in String(member.lowercased().filter { $0 != " " && $0 != "\t" }) }
                .sorted()
        }
        return members.joined(separator: ",")
    }
}
