import HTTPSemantics

/// Reads `multipart/x-mixed-replace` (HTML Living Standard, section 7.6.2), as cameras send it: each part replaces the
/// last one.
///
///     --boundary
///     Content-Type: image/jpeg
///     Content-Length: 81234           may be absent
///
///     (bytes)
///     --boundary
///
/// As some cameras do, lines may end without CR, and the header may name the boundary with its two hyphens.
struct MixedReplaceReader {
    struct Part: Equatable {
        /// Nil if the part names none.
        let contentType: String?
        let body: [UInt8]
    }

    private enum Place: Equatable {
        /// Before the next boundary. `beginsLine`: the first pending byte begins a line.
        case between(beginsLine: Bool)
        case header
        /// `searched`: no boundary begins before this index.
        case body(contentType: String?, length: Int?, searched: Int)
        /// After the closing boundary, or in malformed text.
        case end
    }

    /// The most bytes of a part's header.
    private static let longestHeader = 16 << 10

    private let mark: [UInt8]
    private var place = Place.between(beginsLine: true)
    /// Bytes that have arrived and are not read yet.
    private var pending: [UInt8] = []

    /// Nil for another content type.
    init?(contentType text: String) {
        // Nearly all bodies are plain images: the whole field is parsed only for a multipart body.
        guard text.count > 10, text.prefix(10).lowercased() == "multipart/", let type = ContentType(text),
            type.mediaType == "multipart/x-mixed-replace",
            let boundary = type.parameters["boundary"], !boundary.isEmpty
        else { return nil }
        mark = Array((boundary.hasPrefix("--") ? boundary : "--" + boundary).utf8)
    }

    /// How many bytes are in memory.
    var held: Int { pending.count }

    /// Takes more bytes. Returns the last part that they complete; nil if they complete none.
    mutating func append(_ bytes: Span<UInt8>) -> Part? {
        guard place != .end else { return nil }
        unsafe bytes.withUnsafeBufferPointer { unsafe pending.append(contentsOf: $0) }
        var last: Part?
        while let part = step() { if let part = part { last = part } }
        return last
    }

    /// Reads one boundary, header or body. Nil if more bytes are needed; a part if one is complete.
    private mutating func step() -> Part?? {
        switch place {
        case .end: return nil
        case .between(let beginsLine):
            guard let start = boundary(from: 0, beginsLine: beginsLine) else {
                // Keeps enough bytes for a line feed and the beginning of a boundary.
                let excess = pending.count - mark.count - 1
                if excess > 0 {
                    pending.removeFirst(excess)
                    place = .between(beginsLine: false)
                }
                return nil
            }
            pending.removeFirst(start + mark.count)
            place = .header
            return .some(nil)
        case .header: return readHeader() ? .some(nil) : nil
        case .body(let type, let length, let searched): return readBody(type, length, searched)
        }
    }

    private mutating func readHeader() -> Bool {
        var fields = HeaderFields()
        var start = 0
        var isFirst = true
        while let end = pending[start...].firstIndex(of: UInt8(ascii: "\n")), end < Self.longestHeader {
            let hasReturn = end > start && pending[end - 1] == UInt8(ascii: "\r")
            let line = start..<(hasReturn ? end - 1 : end)
            if isFirst, pending[start...].starts(with: "--".utf8) { break }
            if !isFirst, pending[line].allSatisfy(\.isBlank) {
                let length = fields["Content-Length"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
                place = .body(contentType: fields["Content-Type"], length: length, searched: 0)
                pending.removeFirst(end + 1)
                return true
            }
            if !isFirst, let field = HeaderFields.Field(line: pending.span.extracting(line)) {
                fields[field.name] = field.value
            }
            isFirst = false
            start = end + 1
        }
        // The closing boundary has two more hyphens.
        let isClosing = pending.starts(with: "--".utf8)
        if isClosing || pending.count >= Self.longestHeader { (place, pending) = (.end, []) }
        return false
    }

    private mutating func readBody(_ type: String?, _ length: Int?, _ searched: Int) -> Part?? {
        let end: Int
        if let length {
            guard pending.count >= length else { return nil }
            end = length
        } else {
            guard let start = boundary(from: searched, beginsLine: false) else {
                let safe = max(0, pending.count - mark.count - 1)
                place = .body(contentType: type, length: nil, searched: safe)
                return nil
            }
            let hasReturn = start >= 2 && pending[start - 2] == UInt8(ascii: "\r")
            end = max(0, start - (hasReturn ? 2 : 1))
        }
        let part = Part(contentType: type, body: Array(pending[..<end]))
        pending.removeFirst(end)
        place = .between(beginsLine: length != nil)
        return part
    }

    /// Where the next boundary after a line feed begins.
    /// - Parameter beginsLine: whether the first pending byte begins a line.
    private func boundary(from start: Int, beginsLine: Bool) -> Int? {
        if beginsLine, start == 0, pending.starts(with: mark) { return 0 }
        var index = start
        while let feed = pending[index...].firstIndex(of: UInt8(ascii: "\n")) {
            if pending.count - feed - 1 < mark.count { return nil }
            if pending[(feed + 1)...].starts(with: mark) { return feed + 1 }
            index = feed + 1
        }
        return nil
    }
}
