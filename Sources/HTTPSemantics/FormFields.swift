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
