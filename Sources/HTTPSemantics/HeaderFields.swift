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
        if name.isEmpty || !name.utf8.allSatisfy({ $0.isTokenCharacter }) {
            return "\"\(name)\" is not the name of a header field"
        }
        if value.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) {
            return "the value of \(name) holds a control character"
        }
        return nil
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

extension UInt8 {
    fileprivate var isLetter: Bool { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") }
}

extension UInt8 {
    /// `0` to `9`.
    package var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    /// Whether a token may contain this byte (RFC 9110 section 5.6.2): the name of a field or a method.
    package var isTokenCharacter: Bool {
        self < 128 && (self < 64 ? Self.lowTokens : Self.highTokens) >> (UInt64(self) & 63) & 1 == 1
    }

    /// A bit for each character that a token may contain: of the characters 0 to 63, and of 64 to 127. A server asks
    /// for each byte of each name.
    private static let lowTokens: UInt64 = 0x03FF_6CFA_0000_0000
    private static let highTokens: UInt64 = 0x57FF_FFFF_C7FF_FFFE

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
