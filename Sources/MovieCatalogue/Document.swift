/// The bytes of a file, with the format detected from the content and never from the name.
enum Document {
    case json(JSONDocument)
    case xml(XMLElement)
    /// Neither: lines of text, perhaps not UTF-8. The offset is after a byte order mark.
    case lines(from: Int)

    /// The most bytes of a catalogue or manifest: 10,000 films take about 10 MiB.
    static let maximumBytes = 64 << 20
    /// The most values (JSON) or elements (XML), because two bytes can make one. Foundation needs 90 bytes per JSON
    /// value.
    static let maximumValues = 2_000_000

    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    init(parsing bytes: [UInt8]) throws(CatalogueError) {
        guard bytes.count <= Self.maximumBytes else {
            throw .tooLarge(limit: Self.maximumBytes, unit: "bytes")
        }
        let bytes = XMLEncoding.utf8(bytes) ?? bytes
        let start = bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
        guard let first = bytes[start...].first(where: { !$0.isWhitespace }) else { throw .empty }
        // Text has no NUL. JSON and XML parsers would take it for UTF-16, which was not checked.
        guard !bytes.contains(0) else { throw .unrecognized }
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try Self.requireUTF8(bytes)
            self = .json(try JSONDocument(parsing: bytes[start...]))
        case UInt8(ascii: "<"):
            if Self.isWebPage(bytes[start...]) { throw .webPage }
            try Self.requireUTF8(bytes)
            self = .xml(try XMLReader.read(bytes[start...]))
        default: self = .lines(from: start)
        }
    }

    /// Whether the server sent a web page instead, such as the login page of a network.
    private static func isWebPage(_ bytes: ArraySlice<UInt8>) -> Bool {
        let beginning = bytes.drop { $0.isWhitespace }.prefix(14)
        let text = String(decoding: beginning, as: UTF8.self).lowercased()
        return ["<!doctype html", "<html>", "<html "].contains { text.hasPrefix($0) }
    }

    static func requireUTF8(_ bytes: [UInt8]) throws(CatalogueError) {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw .notUTF8(offset: error.byteOffsets.lowerBound)
        }
    }
}
