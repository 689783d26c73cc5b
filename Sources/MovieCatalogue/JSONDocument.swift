import Foundation
import FoundationEssentials

/// The JSON of a catalogue or a manifest. Long arrays are decoded in pieces, and each film or image separately, so that
/// an error names its entry and the others stay.
struct JSONDocument {
    /// One film or image.
    enum Entry: Sendable {
        case text(String)
        /// An object, reduced to the members of films and images. Null counts as absent.
        case object(MovieFields.Values)
        case other

        var isFilm: Bool {
            if case .object(let values) = self { values[.url] == nil && values[.title] != nil } else { false }
        }
    }

    let name: String?
    /// The array `movies` of an object.
    let movies: JSONEntries?
    /// The array `images` of an object.
    let images: JSONEntries?
    /// The document, if it is an array.
    let elements: JSONEntries?

    init(
        parsing bytes: ArraySlice<UInt8>, maximumValues: Int = Document.maximumValues
    ) throws(CatalogueError) {
        let keys = ["movies", "images"].map { Array("\"\($0)\"".utf8) }
        guard let outline = JSONOutline(bytes.span, keys: keys) else { throw JSONFault.find(in: Data(bytes)) }
        guard outline.values <= maximumValues else {
            throw .tooLarge(limit: maximumValues, unit: "values")
        }
        let rest: JSONRest
        do {
            rest = try JSONDecoder().decode(
                JSONRest.self, from: Self.rest(of: bytes, without: outline.arrays))
        } catch {
            throw JSONFault.find(in: Data(bytes))
        }
        func entries(_ key: [UInt8]?, _ short: [Entry]?) -> JSONEntries? {
            guard let short else { return nil }
            let long = outline.arrays.first { array in
                array.key.map { bytes[bytes.startIndex + $0.lowerBound..<bytes.startIndex + $0.upperBound] }
                    .map(Array.init) == key
            }
            return JSONEntries(bytes: bytes, pieces: long?.pieces ?? [], short: short)
        }
        name = rest.name
        movies = entries(keys[0], rest.movies)
        images = entries(keys[1], rest.images)
        elements = entries(nil, rest.elements)
    }

    /// The document with its long arrays emptied.
    private static func rest(of bytes: ArraySlice<UInt8>, without arrays: [JSONOutline.LongArray]) -> Data {
        var rest = Data()
        var start = bytes.startIndex
        for array in arrays {
            rest.append(contentsOf: bytes[start..<bytes.startIndex + array.content.lowerBound])
            start = bytes.startIndex + array.content.upperBound
        }
        rest.append(contentsOf: bytes[start...])
        return rest
    }
}

/// The films or images of an array.
struct JSONEntries: Sendable {
    fileprivate let bytes: ArraySlice<UInt8>
    /// The ranges of the pieces, relative to the start of `bytes`; none for a short array.
    fileprivate let pieces: [Range<Int>]
    fileprivate let short: [JSONDocument.Entry]

    /// The pieces decoded at once: enough for all processors, and few enough that the results stay small beside the
    /// document.
    private static let piecesAtATime = 16

    /// Decodes the entries, a few pieces at a time, and calls `body` with each, in order.
    /// - Throws: `.malformedJSON`, and errors of `body`.
    func forEach(_ body: (JSONDocument.Entry) throws(CatalogueError) -> Void) throws(CatalogueError) {
        for entry in short { try body(entry) }
        var left = pieces.count
        try Parallel.forEach(pieces.count, atATime: Self.piecesAtATime, decode) {
            entries throws(CatalogueError) in
            left -= 1
            // A comma separates two pieces, so only the last may be empty: the decoder would accept a trailing comma.
            guard let entries, !entries.isEmpty || left == 0 else { throw JSONFault.find(in: Data(bytes)) }
            for entry in entries { try body(entry) }
        }
    }

    /// All entries.
    func all() throws(CatalogueError) -> [JSONDocument.Entry] {
        var all: [JSONDocument.Entry] = []
        try forEach { entry throws(CatalogueError) in all.append(entry) }
        return all
    }

    /// The entries of a piece; nil if it is malformed.
    @Sendable private func decode(_ number: Int) -> [JSONDocument.Entry]? {
        let piece = pieces[number]
        var data = Data(capacity: piece.count + 2)
        data.append(UInt8(ascii: "["))
        data.append(
            contentsOf: bytes[bytes.startIndex + piece.lowerBound..<bytes.startIndex + piece.upperBound])
        data.append(UInt8(ascii: "]"))
        // Losing the error is right: `JSONFault` finds the error and its line in the whole document.
        return try? JSONDecoder().decode([JSONDocument.Entry].self, from: data)
    }
}

/// A document without its long arrays.
private struct JSONRest: Decodable {
    let name: String?
    let movies: [JSONDocument.Entry]?
    let images: [JSONDocument.Entry]?
    let elements: [JSONDocument.Entry]?

    private enum Member: CodingKey {
        case name, movies, images
    }

    init(from decoder: any Decoder) throws {
        // Losing the errors is right: a document that is not an object must be an array, and a member of the wrong type
        // counts as absent. Callers report what they miss.
        guard let object = try? decoder.container(keyedBy: Member.self) else {
            elements = try [JSONDocument.Entry](from: decoder)
            (name, movies, images) = (nil, nil, nil)
            return
        }
        elements = nil
        name = try? object.decode(String.self, forKey: .name)
        movies = try? object.decode([JSONDocument.Entry].self, forKey: .movies)
        images = try? object.decode([JSONDocument.Entry].self, forKey: .images)
    }
}

extension JSONDocument.Entry: Decodable {
    init(from decoder: any Decoder) {
        // Losing the errors is right: a failure means another type, which is tried next.
        if let object = try? decoder.container(keyedBy: MovieFields.Field.self) {
            var values = MovieFields.Values()
            for field in MovieFields.Field.allCases { values[field] = MovieFields.Value(field, of: object) }
            self = .object(values)
        } else if let text = try? decoder.singleValueContainer().decode(String.self) {
            self = .text(text)
        } else {
            self = .other
        }
    }
}

extension MovieFields.Value {
    /// Nil if the field is null or absent. Tries only the valid types of the field, because each failure creates an
    /// error.
    fileprivate init?(_ field: MovieFields.Field, of object: KeyedDecodingContainer<MovieFields.Field>) {
        // Losing the error is right: it means a wrong type, which the checks of the film report better.
        do {
            switch field {
            case .year, .minutes, .score, .rating, .votes:
                guard let number = try object.decodeIfPresent(Double.self, forKey: field) else { return nil }
                self = .number(number)
            case .genres:
                guard let texts = try object.decodeIfPresent([String].self, forKey: field) else { return nil }
                self = .texts(texts)
            case .id, .title, .originalTitle, .director, .country, .overview, .poster, .media, .page, .url,
                .sha256, .createdAt, .updatedAt:
                guard let text = try object.decodeIfPresent(String.self, forKey: field) else { return nil }
                self = .text(text)
            }
        } catch {
            self =
                field == .id
                ? (try? object.decode(Double.self, forKey: field)).map(Self.number) ?? .other : .other
        }
    }
}

/// Finds the error in malformed JSON. The decoder of FoundationEssentials reports no position; `JSONSerialization`
/// reports it as text: "Invalid value around character 17."
enum JSONFault {
    private static let marker = " around character "

    /// The error in data that the decoder refused.
    static func find(in data: Data) -> CatalogueError {
        do {
            _ = try JSONSerialization.jsonObject(with: data)
        } catch let error as NSError {
            guard let text = error.userInfo[NSDebugDescriptionErrorKey] as? String else {
                return .malformedJSON(reason: "invalid syntax", line: nil)
            }
            let parts = text.components(separatedBy: marker)
            let offset = parts.count == 2 ? Int(parts[1].prefix { $0.isNumber }) : nil
            let before = data.prefix(offset ?? data.count)
            return .malformedJSON(
                reason: parts[0].trimmingCharacters(in: .punctuationCharacters),
                line: before.count { $0 == UInt8(ascii: "\n") } + 1)
        }
        return .malformedJSON(reason: "invalid syntax", line: nil)
    }
}

/// Finds the long arrays of a JSON document, so that each can be decoded in pieces. A decoder needs about 90 bytes for
/// every value, which for a large catalogue is several times its size.
///
/// It parses only strings and nesting. Foundation's decoder checks the pieces and the rest of the document.
///
///     {"name": "Silents", "movies": [{"id": "a"}, {"id": "b"}]}       the document
///     {"name": "Silents", "movies": []}                               the rest of the document
///     [{"id": "a"}]  [{"id": "b"}]                                    the pieces, if each is long enough for one
struct JSONOutline {
    /// An array of the root object by its key, or the document itself.
    struct LongArray {
        /// The array's key with its quotation marks; nil for the document itself.
        let key: Range<Int>?
        /// The range between the brackets.
        fileprivate(set) var content: Range<Int>
        /// The content in pieces of whole elements, without the commas between them.
        fileprivate(set) var pieces: [Range<Int>] = []
    }

    /// The shortest piece, in bytes: it ends with the element that reaches this size.
    static let pieceBytes = 128 << 10

    /// The first array for each key, or the document.
    private(set) var arrays: [LongArray] = []
    /// An upper bound of the number of values: one, plus one for each comma and opening bracket.
    private(set) var values = 1

    private var depth = 0
    private var isRootObject = false
    /// The last string in the root object: the key, if a bracket follows.
    private var string = 0..<0
    /// The start of the current piece; nil outside long arrays.
    private var piece: Int?

    /// Nil if a string or bracket is unbalanced.
    /// - Parameters:
    ///   - bytes: UTF-8.
    ///   - keys: the keys of arrays that may be long, in quotation marks: `"movies"`. A key written with escapes is not
    ///     found, and its array stays in the document.
    init?(_ bytes: Span<UInt8>, keys: [[UInt8]]) {
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                guard let end = Self.endOfString(from: index, in: bytes) else { return nil }
                if depth == 1 { string = index..<end }
                index = end
                continue
            case UInt8(ascii: "["):
                open(at: index)
                if wants(bytes, keys) { begin(after: index) }
            case UInt8(ascii: "{"):
                if depth == 0 { isRootObject = true }
                open(at: index)
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                if depth < 0 { return nil }
                if piece != nil, depth == longDepth - 1 { end(at: index) }
            case UInt8(ascii: ","):
                values += 1
                if let start = piece, depth == longDepth, index - start >= Self.pieceBytes {
                    arrays[arrays.count - 1].pieces.append(start..<index)
                    piece = index + 1
                }
            default: break
            }
            index += 1
        }
        if depth != 0 { return nil }
    }

    /// The depth of a long array's elements.
    private var longDepth: Int { isRootObject ? 2 : 1 }

    private mutating func open(at index: Int) {
        values += 1
        depth += 1
    }

    /// Whether the array that begins here may be long.
    private func wants(_ bytes: Span<UInt8>, _ keys: [[UInt8]]) -> Bool {
        guard depth == longDepth, piece == nil else { return false }
        guard isRootObject else { return arrays.isEmpty }
        func isString(_ key: [UInt8], _ range: Range<Int>) -> Bool {
            range.count == key.count && key.indices.allSatisfy { key[$0] == bytes[range.lowerBound + $0] }
        }
        // The first of two members with one name counts.
        return keys.contains { key in
            isString(key, string) && !arrays.contains { $0.key.map { isString(key, $0) } ?? false }
        }
    }

    private mutating func begin(after bracket: Int) {
        piece = bracket + 1
        arrays.append(
            LongArray(key: isRootObject ? string : nil, content: bracket + 1..<bracket + 1))
    }

    private mutating func end(at bracket: Int) {
        guard let start = piece else { return }
        arrays[arrays.count - 1].pieces.append(start..<bracket)
        arrays[arrays.count - 1].content = arrays[arrays.count - 1].content.lowerBound..<bracket
        piece = nil
    }

    /// The index after the closing quotation mark of the string that begins at `start`.
    private static func endOfString(from start: Int, in bytes: Span<UInt8>) -> Int? {
        var index = start + 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""): return index + 1
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        return nil
    }
}
