/// The bytes of a file, with its form told by what it holds and never by what it is called.
enum Document {
    case json(JSONDocument)
    case xml(XMLElement)
    /// Neither: lines of text, valid UTF-8 or not. The offset is past a byte order mark.
    case lines(from: Int)

    /// Bytes of a catalogue or manifest that are read at most: 10,000 films are about 10 MiB.
    static let maximumBytes = 64 << 20
    /// Values (JSON) or elements (XML) that are read at most, since two bytes can make one. Foundation takes 90
    /// bytes for each value of JSON.
    static let maximumValues = 2_000_000

    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    init(parsing bytes: [UInt8]) throws(CatalogueError) {
        guard bytes.count <= Self.maximumBytes else {
            throw .tooLarge(limit: Self.maximumBytes, unit: "bytes")
        }
        let start = bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
        guard let first = bytes[start...].first(where: { !$0.isWhitespace }) else { throw .empty }
        // No text has a NUL; JSON and XML parsers take it for a sign of UTF-16, which nothing here has checked.
        guard !bytes.contains(0) else { throw .unrecognised }
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

    /// Whether a server has sent a page for people where a catalogue was asked for, as the page to log in to a network.
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
