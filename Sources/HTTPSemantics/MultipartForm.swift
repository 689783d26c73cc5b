/// The parts of a form with files (`multipart/form-data`, RFC 7578), delimited by RFC 2046 section 5.1.1. Bodies are
/// slices of the form's bytes.
///
///     --boundary
///     Content-Disposition: form-data; name="poster"; filename="a.jpg"
///     Content-Type: image/jpeg
///
///     (bytes)
///     --boundary--
package struct MultipartForm: Sendable {
    package struct Part: Sendable {
        package let name: String
        /// The client's name of the file; nil for a plain field.
        package let filename: String?
        /// Nil if absent.
        package let contentType: ContentType?
        package let body: ArraySlice<UInt8>

        /// The value of a plain field; nil if it is not UTF-8.
        package var text: String? { String(validating: body, as: UTF8.self) }
    }

    package enum Failure: Error, Hashable, Sendable {
        /// The boundary is absent, longer than 70 characters, or has a forbidden character.
        case badBoundary
        /// The reason, and the offset in the body.
        case malformed(reason: String, offset: Int)
        case tooManyParts(limit: Int)
    }

    package let parts: [Part]

    /// More parts than any film's form has.
    package static let maximumParts = 1000
    /// The most bytes of a part's header.
    package static let maximumHeader = 16 << 10
    /// RFC 2046 section 5.1.1.
    private static let maximumBoundary = 70

    /// - Parameter boundary: the boundary parameter of the Content-Type.
    package init(parsing bytes: [UInt8], boundary: String) throws(Failure) {
        guard (1...Self.maximumBoundary).contains(boundary.utf8.count), boundary.utf8.last != 0x20,
            boundary.utf8.allSatisfy(Self.isBoundaryCharacter)
        else { throw .badBoundary }
        var reader = MultipartReader(bytes: bytes, mark: Array("--\(boundary)".utf8))
        var parts: [Part] = []
        try reader.skipPreamble()
        while !reader.isAtEnd {
            guard parts.count < Self.maximumParts else { throw .tooManyParts(limit: Self.maximumParts) }
            let start = reader.index
            let fields = try reader.header(limit: Self.maximumHeader)
            parts.append(try Self.part(fields, try reader.body(), at: start))
        }
        self.parts = parts
    }

    private static func isBoundaryCharacter(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "'()+_,-./:=? ".utf8.contains(byte)
    }

    /// RFC 7578 section 4.2: a part has a name. Transfer encodings are deprecated (section 4.7).
    private static func part(
        _ fields: HeaderFields, _ body: ArraySlice<UInt8>, at offset: Int
    ) throws(Failure) -> Part {
        guard let disposition = fields["content-disposition"],
            let parameters = ParameterList.parameters(ParameterList.pieces(of: disposition).dropFirst()),
            disposition.lowercased().hasPrefix("form-data"), let name = parameters["name"]
        else {
            throw .malformed(reason: "a part without Content-Disposition: form-data; name=", offset: offset)
        }
        if let coding = fields["content-transfer-encoding"]?.lowercased(),
            !["7bit", "8bit", "binary"].contains(coding)
        {
            throw .malformed(reason: "Content-Transfer-Encoding is not decoded", offset: offset)
        }
        var contentType: ContentType?
        if let text = fields["content-type"] {
            guard let type = ContentType(text) else {
                throw .malformed(reason: "bad Content-Type of a part", offset: offset)
            }
            contentType = type
        }
        return Part(name: name, filename: parameters["filename"], contentType: contentType, body: body)
    }
}

/// Reads a multipart body from boundary to boundary.
private struct MultipartReader {
    let bytes: [UInt8]
    /// Two hyphens and the boundary (the delimiter of RFC 2046).
    let mark: [UInt8]
    /// The offset of the next part.
    private(set) var index = 0
    /// Whether the closing boundary has been read. The text after it is ignored.
    private(set) var isAtEnd = false

    /// Skips the text before the first boundary.
    fileprivate mutating func skipPreamble() throws(MultipartForm.Failure) {
        guard !isBoundary(at: 0) else { return pass(boundaryAt: 0) }
        _ = try body()
    }

    /// The bytes up to the next boundary; moves past it. The line end before a boundary belongs to the boundary.
    mutating func body() throws(MultipartForm.Failure) -> ArraySlice<UInt8> {
        let start = index
        // The blank line of the header may be the line end of the boundary: the body is empty then.
        var next = max(0, start - 2)
        while let end = endOfLine(from: next, before: bytes.count) {
            if isBoundary(at: end + 2) {
                let body = bytes[start..<max(start, end)]
                pass(boundaryAt: end + 2)
                return body
            }
            next = end + 1
        }
        throw .malformed(reason: "the closing boundary is missing", offset: bytes.count)
    }

    /// Reads the header of the next part.
    mutating func header(limit: Int) throws(MultipartForm.Failure) -> HeaderFields {
        let bytes = bytes
        var fields = HeaderFields()
        let start = index
        while true {
            guard let end = endOfLine(from: index, before: min(bytes.count, start + limit)) else {
                throw .malformed(reason: "the header of a part does not end, or is too long", offset: start)
            }
            let line = bytes.span.extracting(index..<end)
            guard !line.isEmpty else {
                index = end + 2
                return fields
            }
            guard let field = HeaderFields.Field(line: line),
                HeaderFields.fault(name: field.name, value: field.value) == nil, fields[field.name] == nil
            else { throw .malformed(reason: "bad header line of a part", offset: index) }
            fields.append(field)
            index = end + 2
        }
    }

    private func isBoundary(at start: Int) -> Bool {
        bytes.count - start >= mark.count && bytes[start..<start + mark.count].elementsEqual(mark)
            && isBoundaryEnd(start + mark.count)
    }

    /// Whether a boundary ends here, with two hyphens or with a line end after optional white space: it must not be the
    /// prefix of a longer one.
    private func isBoundaryEnd(_ start: Int) -> Bool {
        guard !bytes[start...].starts(with: "--".utf8) else { return true }
        return bytes[start...].drop(while: \.isBlank).starts(with: "\r\n".utf8)
    }

    private mutating func pass(boundaryAt start: Int) {
        let end = start + mark.count
        if bytes[end...].starts(with: "--".utf8) {
            isAtEnd = true
            index = bytes.count
        } else {
            index = bytes[end...].drop(while: \.isBlank).startIndex + 2
        }
    }

    /// The index of the first line end that is whole before the limit.
    private func endOfLine(from start: Int, before limit: Int) -> Int? {
        var next = start
        while next + 1 < limit {
            if bytes[next] == UInt8(ascii: "\r"), bytes[next + 1] == UInt8(ascii: "\n") { return next }
            next += 1
        }
        return nil
    }
}
