import Foundation
import FoundationEssentials

/// The JSON of a catalogue or a manifest. Its long arrays are decoded a piece at a time, and each film or image apart, so
/// that a bad one can be named, and never stops the rest.
struct JSONDocument {
    /// One film or image.
    enum Entry: Sendable {
        case text(String)
        /// An object, as far as films and images have its members. Null counts as absent.
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
    /// A document that is an array.
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

    /// The document with nothing in its long arrays.
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
    /// Where the pieces stand, from the start of the bytes; none of an array that is not long.
    fileprivate let pieces: [Range<Int>]
    fileprivate let short: [JSONDocument.Entry]

    /// Pieces that are decoded at once: enough for all processors, and few enough that what comes of them is small beside
    /// the document.
    private static let piecesAtATime = 16

    /// Decodes the entries, a few pieces at a time, and gives each to `body`, in order.
    /// - Throws: `.malformedJSON`, and what `body` throws.
    func forEach(_ body: (JSONDocument.Entry) throws(CatalogueError) -> Void) throws(CatalogueError) {
        for entry in short { try body(entry) }
        var left = pieces.count
        try Parallel.forEach(pieces.count, atATime: Self.piecesAtATime, decode) {
            entries throws(CatalogueError) in
            left -= 1
            // A comma stands between two pieces. The decoder takes one at the end of an array too.
            guard let entries, !entries.isEmpty || left == 0 else { throw JSONFault.find(in: Data(bytes)) }
            for entry in entries { try body(entry) }
        }
    }

    /// All of them.
    func all() throws(CatalogueError) -> [JSONDocument.Entry] {
        var all: [JSONDocument.Entry] = []
        try forEach { entry throws(CatalogueError) in all.append(entry) }
        return all
    }

    /// The entries of a piece; nil if it breaks the grammar.
    @Sendable private func decode(_ number: Int) -> [JSONDocument.Entry]? {
        let piece = pieces[number]
        var data = Data(capacity: piece.count + 2)
        data.append(UInt8(ascii: "["))
        data.append(
            contentsOf: bytes[bytes.startIndex + piece.lowerBound..<bytes.startIndex + piece.upperBound])
        data.append(UInt8(ascii: "]"))
        // What is wrong, and on which line, is found in the whole document.
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
        // What is no object is to be an array, and what a member is not, it lacks: both are told apart by whoever
        // needs the member, so these errors say nothing more.
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
        // The errors say that the form is another one, which is what is asked here.
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
    /// Nil for null and where the field is absent. Only the forms that the field may have are tried, since each failure
    /// costs an error.
    fileprivate init?(_ field: MovieFields.Field, of object: KeyedDecodingContainer<MovieFields.Field>) {
        // An error here says that the value has another form, and the checks of the film say that better.
        do {
            switch field {
            case .year, .minutes, .score, .rating, .votes:
                guard let number = try object.decodeIfPresent(Double.self, forKey: field) else { return nil }
                self = .number(number)
            case .genres:
                guard let texts = try object.decodeIfPresent([String].self, forKey: field) else { return nil }
                self = .texts(texts)
            case .id, .title, .originalTitle, .director, .country, .overview, .poster, .media, .url, .sha256,
                .createdAt, .updatedAt:
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

/// Where JSON breaks the grammar. The decoder of FoundationEssentials only says that it does; `JSONSerialization`
/// tells the place too, as text: "Invalid value around character 17."
enum JSONFault {
    private static let marker = " around character "

    /// The error for data that the decoder refused.
    static func find(in data: Data) -> CatalogueError {
        do {
            _ = try JSONSerialization.jsonObject(with: data)
        } catch let error as NSError {
            guard let text = error.userInfo[NSDebugDescriptionErrorKey] as? String else {
                return .malformedJSON(reason: "it breaks the grammar", line: nil)
            }
            let parts = text.components(separatedBy: marker)
            let offset = parts.count == 2 ? Int(parts[1].prefix { $0.isNumber }) : nil
            let before = data.prefix(offset ?? data.count)
            return .malformedJSON(
                reason: parts[0].trimmingCharacters(in: .punctuationCharacters),
                line: before.count { $0 == UInt8(ascii: "\n") } + 1)
        }
        return .malformedJSON(reason: "it breaks the grammar", line: nil)
    }
}
