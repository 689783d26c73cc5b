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
    package let fields: HTTPFields
    /// How the body's length is given.
    package let framing: BodyFraming

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

    /// Parses the lines of a head, without the blank line that ends it. Lines end in CR LF or LF alone (RFC 9112
    /// section 2.2).
    package init(parsing bytes: some Collection<UInt8>) throws(Refusal) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        }[...]
        guard let requestLine = lines.popFirst() else { throw .badRequest("no request line") }
        (method, target, minorVersion) = try Self.requestLine(Array(requestLine))
        var fields = HTTPFields()
        for line in lines { fields.append(try Self.field(Array(line))) }
        self.fields = fields
        // Checked first: if two servers disagree on the end of a body, one takes a part of the body for a request.
        framing = try Self.framing(fields, minorVersion: minorVersion)
        try checkHost()
    }

    /// The value of a field; nil if the field is absent, or present more than once and so not trustworthy.
    package func value(of name: String) -> String? {
        let values = fields.values(of: name)
        return values.count == 1 ? values[0] : nil
    }

    /// The members of a list field (RFC 9110 section 5.6.1), from all its lines.
    package func list(_ name: String) -> [Substring] { FieldList.members(of: fields.values(of: name)) }

    /// Whether the client expects another answer on this connection (RFC 9112 section 9.3).
    package var wantsKeepAlive: Bool {
        let options = list("connection").map { $0.lowercased() }
        if options.contains("close") { return false }
        return minorVersion == 1 || options.contains("keep-alive")
    }

    /// Whether the client waits for 100 Continue before it sends its body (RFC 9110 section 10.1.1).
    package var expectsContinue: Bool {
        minorVersion == 1 && value(of: "expect")?.lowercased() == "100-continue" && framing != .none
    }

    /// Refuses a request with both lengths, as RFC 9112 section 6.1 allows.
    private static func framing(
        _ fields: HTTPFields, minorVersion: Int
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

    private static func requestLine(_ line: [UInt8]) throws(Refusal) -> (String, String, Int) {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(\.isTokenCharacter) else {
            throw .badRequest("bad request line")
        }
        guard !parts[1].isEmpty, parts[1].allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .badRequest("bad request target")
        }
        let version = Array(parts[2])
        guard version.starts(with: "HTTP/".utf8), version.count == 8, version[5].isDigit, version[7].isDigit,
            version[6] == UInt8(ascii: ".")
        else { throw .badRequest("bad version") }
        guard version[5] == UInt8(ascii: "1") else { throw .versionNotSupported }
        return (
            String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self),
            version[7] == UInt8(ascii: "0") ? 0 : 1
        )
    }

    /// RFC 9112 section 5: a name, a colon directly after it, and a value. A folded line begins with white space, which
    /// is not part of a name, so it is refused.
    private static func field(_ line: [UInt8]) throws(Refusal) -> HTTPFields.Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw .badRequest("header without colon")
        }
        guard colon > 0, line[..<colon].allSatisfy(\.isTokenCharacter) else {
            throw .badRequest("bad header name")
        }
        let value = line[(colon + 1)...]
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .badRequest("control character in a header")
        }
        return HTTPFields.Field(
            name: String(decoding: line[..<colon], as: UTF8.self),
            value: String(FieldList.trimmed(String(decoding: value, as: UTF8.self)[...])))
    }

    /// RFC 9112 section 3.2: exactly one Host; HTTP/1.0 may leave it out.
    private func checkHost() throws(Refusal) {
        let hosts = fields.values(of: "host").count
        guard hosts == 1 || hosts == 0 && minorVersion == 0 else {
            throw .badRequest("exactly one Host is required")
        }
    }
}
