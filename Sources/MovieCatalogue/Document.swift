/// The bytes of a file, with its form told by what it holds and never by what it is called.
enum Document {
    case json(JSONValue)
    case xml(XMLElement)
    /// Neither: lines of text, valid UTF-8 or not. The offset is past a byte order mark.
    case lines(from: Int)

    /// Bytes of a catalogue or manifest that are read at most: 10,000 films are about 10 MiB.
    static let maximumBytes = 64 << 20
    /// Values (JSON) or elements (XML) that are kept at most, since two bytes can make one.
    static let maximumValues = 2_000_000
    /// How deep values nest at most; a catalogue needs four.
    static let maximumDepth = 64

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    init(parsing bytes: [UInt8]) throws(CatalogueError) {
        guard bytes.count <= Self.maximumBytes else {
            throw .tooLarge(limit: Self.maximumBytes, unit: "bytes")
        }
        var scanner = ByteScanner(bytes, from: bytes.starts(with: Self.byteOrderMark) ? 3 : 0)
        let start = scanner.offset
        scanner.skipWhitespace()
        switch scanner.next {
        case nil: throw .empty
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try Self.requireUTF8(bytes)
            self = .json(try JSONReader.read(scanner))
        case UInt8(ascii: "<"):
            try Self.requireUTF8(bytes)
            self = .xml(try XMLReader.read(scanner))
        default: self = .lines(from: start)
        }
    }

    private static func requireUTF8(_ bytes: [UInt8]) throws(CatalogueError) {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw .notUTF8(offset: error.byteOffsets.lowerBound)
        }
    }
}
