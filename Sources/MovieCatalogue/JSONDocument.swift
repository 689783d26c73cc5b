import FoundationEssentials

/// The JSON of a catalogue or a manifest. Each film or image is read apart, so that a bad one can be named, and
/// never stops the rest.
struct JSONDocument: Decodable {
    /// One film or image.
    enum Entry {
        case text(String)
        /// An object, as far as films and images have its members. Null counts as absent.
        case object([MovieFields.Field: MovieFields.Value])
        case other

        var isFilm: Bool {
            if case .object(let values) = self { values[.url] == nil && values[.title] != nil } else { false }
        }
    }

    let name: String?
    /// The array `movies` of an object.
    let movies: [Entry]?
    /// The array `images` of an object.
    let images: [Entry]?
    /// A document that is an array.
    let elements: [Entry]?

    private enum Member: CodingKey {
        case name, movies, images
    }

    init(
        parsing bytes: ArraySlice<UInt8>, maximumValues: Int = Document.maximumValues
    ) throws(CatalogueError) {
        // A value follows the start, a comma or an opening bracket, so there are no more values than these.
        let isBeforeValue = { (byte: UInt8) in
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
        }
        guard bytes.count(where: isBeforeValue) < maximumValues else {
            throw .tooLarge(limit: maximumValues, unit: "values")
        }
        let data = Data(bytes)
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch {
            throw JSONFault.find(in: data)
        }
    }

    init(from decoder: any Decoder) throws {
        // What is no object is to be an array, and what a member is not, it lacks: both are told apart by whoever
        // needs the member, so these errors say nothing more.
        guard let object = try? decoder.container(keyedBy: Member.self) else {
            elements = try [Entry](from: decoder)
            (name, movies, images) = (nil, nil, nil)
            return
        }
        elements = nil
        name = try? object.decode(String.self, forKey: .name)
        movies = try? object.decode([Entry].self, forKey: .movies)
        images = try? object.decode([Entry].self, forKey: .images)
    }
}

extension JSONDocument.Entry: Decodable {
    init(from decoder: any Decoder) {
        // The errors say that the form is another one, which is what is asked here.
        if let object = try? decoder.container(keyedBy: MovieFields.Field.self) {
            var values: [MovieFields.Field: MovieFields.Value] = [:]
            for field in object.allKeys { values[field] = MovieFields.Value(field, of: object) }
            self = .object(values)
        } else if let text = try? decoder.singleValueContainer().decode(String.self) {
            self = .text(text)
        } else {
            self = .other
        }
    }
}

extension MovieFields.Value {
    /// Nil for null. Only the forms that the field may have are tried, since each failure costs an error.
    fileprivate init?(_ field: MovieFields.Field, of object: KeyedDecodingContainer<MovieFields.Field>) {
        // An error here says that the value has another form, and the checks of the film say that better.
        if (try? object.decodeNil(forKey: field)) == true { return nil }
        switch field {
        case .year, .minutes, .score:
            self = (try? object.decode(Double.self, forKey: field)).map(Self.number) ?? .other
        case .genres:
            self = (try? object.decode([String].self, forKey: field)).map(Self.texts) ?? .other
        case .id:
            self =
                (try? object.decode(String.self, forKey: field)).map(Self.text)
                ?? (try? object.decode(Double.self, forKey: field)).map(Self.number) ?? .other
        case .title, .originalTitle, .director, .country, .overview, .poster, .url, .sha256:
            self = (try? object.decode(String.self, forKey: field)).map(Self.text) ?? .other
        }
    }
}
