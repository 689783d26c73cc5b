/// The fields of an HTTP header, in the order they stand there; names compare without case (RFC 9110 section 5.1).
public struct HTTPFields: Sendable, Hashable {
    /// One line of a header.
    public struct Field: Sendable, Hashable {
        /// As written; compare without case.
        public var name: String
        /// Without the white space around it.
        public var value: String

        /// A field of this name and value.
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

    /// No fields.
    public init() {}

    /// The first value of the field `name`; setting replaces every field of that name, nil removes them.
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

    /// Where the next field `name` stands. The fields are looked at in place: every answer is asked for a dozen names.
    private func index(of name: String, from first: Int) -> Int? {
        let length = name.utf8.count
        return (first..<fields.count).first {
            fields[$0].name.utf8.count == length && fields[$0].name.equalsIgnoringCase(name)
        }
    }

    /// Adds a field and keeps those that are there.
    /// - Parameter field: the field.
    public mutating func append(_ field: Field) {
        // Room for what most answers have, at once.
        if fields.isEmpty { fields.reserveCapacity(16) }
        fields.append(field)
    }

    /// Puts fields in the place of all that have their names.
    package mutating func replace(with others: HTTPFields) {
        for field in others.fields { self[field.name] = nil }
        for field in others.fields { append(field) }
    }

    /// Whether there are none.
    public var isEmpty: Bool { fields.isEmpty }

    /// Why `name: value` cannot be sent in a request, or nil if it can: a name is a token and a value holds no control
    /// characters (RFC 9110 sections 5.1 and 5.5), so that nobody smuggles a second line into a header.
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

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// The fields in the order of the literal.
    /// - Parameter elements: names and values, in their order.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }
}

extension String {
    /// Whether both are the same text when ASCII letters' case is ignored, as HTTP compares names.
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

    /// What the name of a field or method is made of (RFC 9110 section 5.6.2).
    package var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }

    /// The value of a hexadecimal digit of either case; nil for anything else.
    package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
