package import HTTPSemantics

/// The head of an HTTP/1 request (RFC 9112 sections 2 to 5), checked as far as possible without knowing the resource.
///
///     PUT /films/nosferatu HTTP/1.1
///     Host: 127.0.0.1:8080
///     Content-Type: application/json
///     Content-Length: 38
package struct RequestHead: Sendable {
    package let method: String
    /// The target as the client wrote it, percent-encoded.
    package let target: String
    /// The minor version: 0 or 1.
    package let minorVersion: Int
    /// In the order of the request; values without white space at their ends.
    package let fields: HeaderFields
    /// How the body's length is given.
    package let framing: BodyFraming
    /// The id of the request, for logs and answers: the client's X-Request-Id, or the server's own. Empty for a head
    /// that came over no connection.
    package internal(set) var id = ""

    /// Whether the request changes nothing, so that nobody needs it without its client.
    package var isRead: Bool { method == "GET" || method == "HEAD" }

    /// How a request says where its body ends (RFC 9112 section 6.3).
    package enum BodyFraming: Hashable, Sendable {
        case none
        /// This many bytes.
        case length(Int)
        case chunked
    }

    /// Why a head is refused. The connection ends after the answer, since nothing tells where the next request begins.
    package enum Refusal: Error, Hashable {
        case badRequest(String)
        case versionNotSupported
        /// The body has a transfer coding that the server cannot read.
        case codingNotSupported
    }

    /// Parses the lines of a head, without the blank line that ends it. Only CR LF ends a line: RFC 9112 section 2.2
    /// lets a server take a line feed alone, but then it and a server in front may see different requests.
    /// Reads each byte once: a busy server parses 50,000 heads a second.
    package init(parsing bytes: ArraySlice<UInt8>) throws(Refusal) {
        let text = bytes.span
        var index = 0
        (method, target, minorVersion) = try Self.requestLine(text, &index)
        var fields = HeaderFields()
        var hosts = 0
        var hasLength = false
        while index < text.count {
            let field = try Self.field(text, &index)
            fields.append(field)
            switch field.name.utf8.count {
            case Self.hostLength where field.name.equalsIgnoringCase("host"): hosts += 1
            case Self.lengthLength where field.name.equalsIgnoringCase("content-length"),
                Self.codingLength where field.name.equalsIgnoringCase("transfer-encoding"):
                hasLength = true
            default: break
            }
        }
        self.fields = fields
        // Checked first: if two servers disagree on the end of a body, one takes a part of the body for a request.
        framing = hasLength ? try Self.framing(fields, minorVersion: minorVersion) : .none
        // RFC 9112 section 3.2: exactly one Host; HTTP/1.0 may leave it out.
        guard hosts == 1 || hosts == 0 && minorVersion == 0 else {
            throw .badRequest("exactly one Host is required")
        }
    }

    /// The bytes of `host`, `content-length` and `transfer-encoding`.
    private static let (hostLength, lengthLength, codingLength) = (4, 14, 17)

    /// The value of a field; nil if the field is absent, or present more than once and so not trustworthy.
    package func value(of name: String) -> String? {
        let values = fields.values(of: name)
        return values.count == 1 ? values[0] : nil
    }

    /// The members of a list field (RFC 9110 section 5.6.1), from all its lines.
    package func list(_ name: String) -> [Substring] { FieldList.members(of: fields.values(of: name)) }

    /// Whether the client expects another answer on this connection (RFC 9112 section 9.3).
    package var wantsKeepAlive: Bool {
        let values = fields.values(of: "connection")
        if values.isEmpty { return minorVersion == 1 }
        let options = FieldList.members(of: values).map { $0.lowercased() }
        if options.contains("close") { return false }
        return minorVersion == 1 || options.contains("keep-alive")
    }

    /// Whether the client waits for 100 Continue before it sends its body (RFC 9110 section 10.1.1).
    package var expectsContinue: Bool {
        framing != .none && minorVersion == 1 && value(of: "expect")?.lowercased() == "100-continue"
    }

    /// Refuses a request with both lengths, as RFC 9112 section 6.1 allows.
    private static func framing(
        _ fields: HeaderFields, minorVersion: Int
    ) throws(Refusal) -> BodyFraming {
        let lengths = fields.values(of: "content-length")
        let codings = fields.values(of: "transfer-encoding")
        guard lengths.isEmpty || codings.isEmpty else {
            throw .badRequest("Content-Length and Transfer-Encoding exclude each other")
        }
        guard lengths.count <= 1 else { throw .badRequest("Content-Length appears twice") }
        guard codings.count <= 1 else { throw .badRequest("Transfer-Encoding appears twice") }
        if let coding = codings.first {
            guard minorVersion == 1 else { throw .badRequest("HTTP/1.0 has no Transfer-Encoding") }
            guard coding.lowercased() == "chunked" else { throw .codingNotSupported }
            return .chunked
        }
        guard let text = lengths.first else { return .none }
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit), let length = Int(text) else {
            throw .badRequest("bad Content-Length")
        }
        return .length(length)
    }

    /// RFC 9112 section 3: a method, a target and a version, with one space between them.
    private static func requestLine(
        _ text: Span<UInt8>, _ index: inout Int
    ) throws(Refusal) -> (String, String, Int) {
        let methodEnd = end(of: text, from: 0) { $0.isTokenCharacter }
        guard methodEnd > 0, methodEnd < text.count, text[methodEnd] == UInt8(ascii: " ") else {
            throw .badRequest("bad request line")
        }
        let targetEnd = end(of: text, from: methodEnd + 1) { $0 > 0x20 && $0 != 0x7F }
        guard targetEnd > methodEnd + 1, targetEnd < text.count, text[targetEnd] == UInt8(ascii: " ") else {
            throw .badRequest("bad request target")
        }
        // `HTTP/1.1`
        let version = targetEnd + 1
        index = version + 8
        guard index <= text.count, string(text, version..<version + 5) == "HTTP/", text[version + 5].isDigit,
            text[version + 6] == UInt8(ascii: "."), text[version + 7].isDigit
        else { throw .badRequest("bad version") }
        try endLine(text, &index, else: "bad request line")
        guard text[version + 5] == UInt8(ascii: "1") else { throw .versionNotSupported }
        return (
            string(text, 0..<methodEnd), string(text, methodEnd + 1..<targetEnd),
            text[version + 7] == UInt8(ascii: "0") ? 0 : 1
        )
    }

    /// RFC 9112 section 5: a name, a colon directly after it, and a value. A folded line begins with white space, which
    /// is not part of a name, so it is refused.
    private static func field(
        _ text: Span<UInt8>, _ index: inout Int
    ) throws(Refusal) -> HeaderFields.Field {
        let start = index
        let colon = end(of: text, from: start) { $0.isTokenCharacter }
        guard colon > start, colon < text.count, text[colon] == UInt8(ascii: ":") else {
            throw .badRequest("a header field needs a name and a colon")
        }
        let value = end(of: text, from: colon + 1) { $0.isBlank }
        index = end(of: text, from: value) { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
        var valueEnd = index
        while valueEnd > value, text[valueEnd - 1].isBlank { valueEnd -= 1 }
        try endLine(text, &index, else: "control character in a header")
        return HeaderFields.Field(name: string(text, start..<colon), value: string(text, value..<valueEnd))
    }

    /// The index of the first byte from `start` on that does not meet the condition; else of the text's end.
    @inline(__always)
    private static func end(
        of text: Span<UInt8>, from start: Int, where condition: (UInt8) -> Bool
    ) -> Int {
        var index = start
        while index < text.count, condition(text[index]) { index += 1 }
        return index
    }

    /// Goes past the end of a line, or of the text.
    private static func endLine(
        _ text: Span<UInt8>, _ index: inout Int, else reason: String
    ) throws(Refusal) {
        guard index < text.count else { return }
        guard text[index] != UInt8(ascii: "\n") else { throw .badRequest("lines must end in CR LF") }
        guard index + 1 < text.count, text[index] == UInt8(ascii: "\r"), text[index + 1] == UInt8(ascii: "\n")
        else { throw .badRequest(reason) }
        index += 2
    }

    /// Bytes that are not UTF-8 become U+FFFD.
    private static func string(_ text: Span<UInt8>, _ range: Range<Int>) -> String {
        unsafe text.extracting(range).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
