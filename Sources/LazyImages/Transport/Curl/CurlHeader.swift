import HTTPSemantics

/// The header of one answer, as its lines arrive from libcurl. Interim answers (1xx) come before the final one.
struct CurlHeader {
    /// No honest server sends a larger header. Interim answers count too.
    static let limit = 256 * 1024

    enum Progress {
        case incomplete
        /// The empty line after the final answer's header has arrived just now.
        case complete(ResponseHead)
        case tooLarge
    }

    /// The last status line and its fields; nil before the first status line.
    private(set) var head: ResponseHead?
    /// Whether the final answer's header has ended.
    private(set) var isComplete = false
    private(set) var byteCount = 0

    /// Takes one line, its line end included.
    mutating func append(_ line: UnsafeRawBufferPointer) -> Progress {
        byteCount += line.count
        guard byteCount <= Self.limit else { return .tooLarge }
        // The trailer of a chunked body, which is ignored.
        if isComplete { return .incomplete }
        var end = line.count
        while end > 0, unsafe line[end - 1] <= 0x20 { end -= 1 }
        if end == 0 {
            guard let head, !(100..<200).contains(head.status) else { return .incomplete }
            isComplete = true
            return .complete(head)
        }
        let content = unsafe UnsafeRawBufferPointer(rebasing: line[..<end])
        if unsafe content.starts(with: "HTTP/".utf8) {
            head = ResponseHead(status: unsafe Self.status(inStatusLine: content))
        } else if let field = unsafe Self.field(content) {
            head?.fields.append(field)
        }
        return .incomplete
    }

    /// The status in `HTTP/1.1 200 OK`, whose reason may be missing; 0 if there is none.
    private static func status(inStatusLine line: UnsafeRawBufferPointer) -> Int {
        let afterVersion = unsafe line.drop { $0 != 0x20 }.drop { $0 == 0x20 }
        let digits = unsafe afterVersion.prefix { $0 != 0x20 }
        guard unsafe digits.count <= 3, unsafe digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            return 0
        }
        return unsafe digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// `Name: value`; white space around the value is optional (RFC 9110 section 5.5). Nil for anything else.
    private static func field(_ line: UnsafeRawBufferPointer) -> HeaderFields.Field? {
        guard let colon = unsafe line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        var start = colon + 1
        while start < line.count, unsafe line[start] == 0x20 || line[start] == 0x09 { start += 1 }
        return unsafe HeaderFields.Field(
            name: text(UnsafeRawBufferPointer(rebasing: line[..<colon])),
            value: text(UnsafeRawBufferPointer(rebasing: line[start...])))
    }

    /// The bytes as UTF-8, or as Latin-1 where they are not UTF-8: old servers send that. Nearly all are ASCII.
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        if unsafe bytes.allSatisfy({ $0 < 0x80 }) { return unsafe String(decoding: bytes, as: UTF8.self) }
        if let text = unsafe String(validating: bytes, as: UTF8.self) { return text }
        return unsafe String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
