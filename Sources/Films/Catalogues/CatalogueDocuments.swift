/// The films of a catalogue with all their members, for an import. For display `Catalogue` is faster.
public struct CatalogueDocuments: Sendable {
    private let source: CatalogueSource

    /// The catalogue's title, if it has one.
    public var name: String? { source.name }
    /// The number of films, valid or not.
    public var count: Int { source.count }

    /// The most bytes that are read. An export includes posters.
    public static let maximumBytes = 2 << 30
    /// The most XML elements or values of JSON that are read.
    private static let maximumElements = 20_000_000

    /// Reads a catalogue in UTF-8. Its content decides between JSON, XML and a feed.
    /// - Throws: the error in the document.
    public init(parsing bytes: [UInt8]) throws(CatalogueError) {
        source = try CatalogueSource(
            Document(parsing: bytes, limit: Self.maximumBytes, maximumValues: Self.maximumElements))
    }

    /// Calls `body` with the position, from 1, and each film, or with the reason why the entry is not a film.
    public func forEach<Failure: Error>(
        _ body: (Int, Result<FilmDocument, CatalogueError>) throws(Failure) -> Void
    ) throws(Failure) {
        var position = 0
        try source.forEach { element, _ in
            FilmDocument(xml: element)
        } json: { node, _ throws(CatalogueError) in
            try FilmDocument(json: node.checkedText(), allowsDuplicates: true)
        } body: { film throws(Failure) in
            position += 1
            try body(position, film)
        }
    }
}

/// The bytes of a file, with the format detected from the content and never from the name.
package enum Document {
    case json(JSONNode)
    case xml(XMLElement)
    /// Neither: lines of text, perhaps not UTF-8. The offset is after a byte order mark.
    case lines(from: Int)

    /// The most bytes of a catalogue or manifest: 10,000 films take about 10 MiB.
    static let maximumBytes = 64 << 20
    /// The most values (JSON) or elements (XML), because two bytes can make one.
    package static let maximumValues = 2_000_000

    package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The bytes of a document, from XML's encodings in UTF-8; where it begins, after a byte order mark; and its first
    /// byte that is no white space.
    package static func text(
        _ bytes: [UInt8], limit: Int
    ) throws(CatalogueError) -> (bytes: [UInt8], start: Int, first: UInt8) {
        guard bytes.count <= limit else { throw .tooLarge(limit: limit, unit: "bytes") }
        let bytes = XMLEncoding.utf8(bytes) ?? bytes
        let start = bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0
        guard let first = bytes[start...].first(where: { !$0.isWhitespace }) else { throw .empty }
        // Text has no NUL. JSON and XML parsers would take it for UTF-16, which was not checked.
        guard !bytes.contains(0) else { throw .unrecognized }
        return (bytes, start, first)
    }

    /// - Parameters:
    ///   - limit: the most bytes.
    ///   - maximumValues: the most values or elements.
    init(
        parsing bytes: [UInt8], limit: Int = Document.maximumBytes,
        maximumValues: Int = Document.maximumValues
    ) throws(CatalogueError) {
        let (bytes, start, first) = try Self.text(bytes, limit: limit)
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try Self.requireUTF8(bytes)
            self = .json(try JSONNode(parsing: bytes, from: start, maximumValues: maximumValues))
        case UInt8(ascii: "<"):
            if Self.isWebPage(bytes[start...]) { throw .webPage }
            try Self.requireUTF8(bytes)
            self = .xml(try XMLReader.read(bytes[start...], maximumElements: maximumValues))
        default: self = .lines(from: start)
        }
    }

    /// Whether the server sent a web page instead, such as the login page of a network.
    private static func isWebPage(_ bytes: ArraySlice<UInt8>) -> Bool {
        let beginning = bytes.drop { $0.isWhitespace }.prefix(14)
        let text = String(decoding: beginning, as: UTF8.self).lowercased()
        return ["<!doctype html", "<html>", "<html "].contains { text.hasPrefix($0) }
    }

    package static func requireUTF8(_ bytes: [UInt8]) throws(CatalogueError) {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw .notUTF8(offset: error.byteOffsets.lowerBound)
        }
    }
}
