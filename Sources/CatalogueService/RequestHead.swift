import HTTPSemantics

/// The head of an HTTP/1 request (RFC 9112 sections 2 to 5), parsed and checked as far as it can be without
/// knowing what is served.
///
///     GET /posters/nosferatu.jpg HTTP/1.1
///     Host: 127.0.0.1:8080
///     Range: bytes=0-1023
struct RequestHead: Sendable {
    let method: String
    /// The target as written, still encoded.
    let target: String
    /// The minor version: 0 or 1.
    let minorVersion: Int
    /// Names in lowercase; values without white space at the ends; in the order written.
    let fields: [(name: String, value: String)]

    /// Why a head is refused. The connection ends after the answer: where the next request begins is not known.
    enum Refusal: Error, Hashable {
        case badRequest(String)
        case versionNotSupported
        /// A body in a coding that is not read.
        case codingNotSupported
    }

    /// Parses the lines of a head, without the blank line that ends it. Lines end in CR LF or LF alone (RFC 9112
    /// section 2.2).
    init(parsing bytes: some Collection<UInt8>) throws(Refusal) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        }[...]
        guard let requestLine = lines.popFirst() else { throw .badRequest("no request line") }
        (method, target, minorVersion) = try Self.requestLine(Array(requestLine))
        var fields: [(name: String, value: String)] = []
        fields.reserveCapacity(lines.count)
        for line in lines { fields.append(try Self.field(Array(line))) }
        self.fields = fields
        try checkHost()
        if values(of: "transfer-encoding").isEmpty == false { throw .codingNotSupported }
        _ = try bodyLength()
    }

    /// All values of a field, in order.
    func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The members of a field that is a list (RFC 9110 section 5.6.1), from all its lines.
    func list(_ name: String) -> [Substring] { FieldList.members(of: values(of: name)) }

    /// The value of a field that has one; of several nothing is known, so none counts.
    func value(of name: String) -> String? {
        let all = values(of: name)
        return all.count == 1 ? all.first : nil
    }

    /// How many bytes of body follow. At least one form of attack lives on servers that guess here.
    func bodyLength() throws(Refusal) -> Int {
        let lengths = values(of: "content-length")
        guard let first = lengths.first else { return 0 }
        guard lengths.count == 1, !first.isEmpty, first.utf8.allSatisfy(\.isDigit), let length = Int(first)
        else {
            throw .badRequest("bad Content-Length")
        }
        return length
    }

    /// Whether the client expects another answer on this connection (RFC 9112 section 9.3).
    var wantsKeepAlive: Bool {
        let options = list("connection").map { $0.lowercased() }
        if options.contains("close") { return false }
        return minorVersion == 1 || options.contains("keep-alive")
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

    /// RFC 9112 section 5: a name, a colon at once after it, and a value. A folded line begins with white space
    /// and is therefore refused with the rest that is no name.
    private static func field(_ line: [UInt8]) throws(Refusal) -> (name: String, value: String) {
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
        return (
            String(decoding: line[..<colon], as: UTF8.self).lowercased(),
            String(FieldList.trimmed(String(decoding: value, as: UTF8.self)[...]))
        )
    }

    /// RFC 9112 section 3.2: one Host, which HTTP/1.0 may leave out.
    private func checkHost() throws(Refusal) {
        let hosts = values(of: "host").count
        guard hosts == 1 || hosts == 0 && minorVersion == 0 else { throw .badRequest("one Host is required") }
    }
}
