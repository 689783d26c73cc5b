/// Percent-encoding of URLs and forms (RFC 3986 section 2.1).
package enum PercentEncoding {
    /// Decodes a text exactly once; nil if a percent sign is not followed by two hexadecimal digits.
    /// - Parameters:
    ///   - plusIsSpace: true for forms and queries.
    ///   - keepsWrongPercent: whether such a percent sign stands for itself.
    package static func decoded(
        _ text: some Collection<UInt8>, plusIsSpace: Bool = false, keepsWrongPercent: Bool = false
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.underestimatedCount)
        // An array, for a loop over bytes and not over calls of a collection of an unknown type.
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap(\.hexadecimalValue)
                if digits.count == 2 {
                    bytes.append(digits[0] << 4 | digits[1])
                    rest = rest.dropFirst(2)
                } else if keepsWrongPercent {
                    bytes.append(byte)
                } else {
                    return nil
                }
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    /// As above, as text; nil also if the bytes are not UTF-8.
    package static func decodedText(_ text: some Collection<UInt8>, plusIsSpace: Bool = false) -> String? {
        decoded(text, plusIsSpace: plusIsSpace).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Encodes a path segment or a query value: all except the unreserved characters (RFC 3986 section 2.3).
    package static func encoded(_ text: String) -> String { encoded(text, except: isUnreserved) }

    /// Encodes a URL for a header: all bytes except visible ASCII, and quotation marks.
    package static func visible(_ address: String) -> String {
        encoded(address) { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    }

    /// Encodes all bytes except unreserved characters; the bytes need not be UTF-8.
    package static func encoded(_ bytes: [UInt8]) -> String { encoded(bytes, except: isUnreserved) }

    private static func encoded(_ text: String, except isKept: (UInt8) -> Bool) -> String {
        text.utf8.allSatisfy(isKept) ? text : encoded(Array(text.utf8), except: isKept)
    }

    private static func encoded(_ typed: [UInt8], except isKept: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        for byte in typed {
            if isKept(byte) { bytes.append(byte) } else { append(byte, to: &bytes) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a byte as an escape, such as `%2F`.
    package static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Whether a byte stands for itself everywhere (RFC 3986 section 2.3).
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: byte.isLetter || byte.isDigit
        }
    }
}

/// Form fields in URL encoding (`application/x-www-form-urlencoded`, URL standard section 5.1), which queries use too.
/// Keeps order and repetitions.
///
///     film[title]=El+Cami%C3%B3n&film[genres][]=Crime
package struct FormFields: Sendable, Hashable {
    package struct Field: Sendable, Hashable {
        package let name, value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package enum Failure: Error, Hashable, Sendable {
        /// The field with this number, counted from 1, has a percent sign without two hexadecimal digits, or is not
        /// UTF-8.
        case badEncoding(field: Int)
        case tooManyFields(limit: Int)
    }

    package let fields: [Field]

    /// More fields than any film or query has.
    package static let maximumFields = 10_000

    /// No fields.
    package init() { fields = [] }

    package init(parsing bytes: some Collection<UInt8>) throws(Failure) {
        var fields: [Field] = []
        for piece in bytes.split(separator: UInt8(ascii: "&")) {
            guard fields.count < Self.maximumFields else { throw .tooManyFields(limit: Self.maximumFields) }
            let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
            guard let name = PercentEncoding.decodedText(piece[..<equals], plusIsSpace: true),
                let value = PercentEncoding.decodedText(piece[equals...].dropFirst(), plusIsSpace: true)
            else { throw .badEncoding(field: fields.count + 1) }
            fields.append(Field(name: name, value: value))
        }
        self.fields = fields
    }

    /// The values of a field, in order.
    package func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
}
