internal import SystemSupport

/// The JSON of a catalogue or a manifest. Its films or images are found first and read one by one, so that an error in
/// one names its entry and the others stay.
package struct JSONDocument: Sendable {
    /// One film or image.
    enum Entry: Sendable {
        case text(String)
        /// An object, reduced to the members of films and images. Null counts as absent.
        case object(MovieFields.Values)
        case other

        var isFilm: Bool {
            if case .object(let values) = self { values.url == nil && values[.title] != nil } else { false }
        }
    }

    /// The member `name` of an object, if it is a string.
    let name: String?
    /// The array `movies` of an object.
    let movies: JSONEntries?
    /// The array `images` of an object.
    let images: JSONEntries?
    /// The document, if it is an array.
    let elements: JSONEntries?

    /// - Parameters:
    ///   - bytes: UTF-8.
    ///   - start: where the document begins, after a byte order mark.
    /// - Throws: `.malformedJSON`, but not for a number or a string that is wrong in itself: that is a fault of its
    ///   member. `.tooLarge` for more values than `maximumValues`.
    init(parsing bytes: [UInt8], from start: Int = 0, maximumValues: Int = .max) throws(CatalogueError) {
        var grammar = JSONGrammar(
            bytes, in: start..<bytes.count, checksScalars: false, maximumValues: maximumValues)
        func entries(_ grammar: inout JSONGrammar) throws(CatalogueError) -> JSONEntries {
            var ranges: [Range<Int>] = []
            try grammar.elements { range throws(CatalogueError) in ranges.append(range) }
            return JSONEntries(bytes: bytes, ranges: ranges)
        }
        var name: String?
        var (movies, images, elements): (JSONEntries?, JSONEntries?, JSONEntries?)
        var found: Set<String> = []
        switch grammar.next {
        case .array: elements = try entries(&grammar)
        case .object:
            try grammar.members { key, grammar throws(CatalogueError) in
                let key = JSONText.unquoted(bytes[key])
                // The first of two members with one name counts.
                let isFirst = Self.names.contains(key) && found.insert(key).inserted
                switch (key, grammar.next) {
                case ("movies", .array) where isFirst: movies = try entries(&grammar)
                case ("images", .array) where isFirst: images = try entries(&grammar)
                case ("name", .string) where isFirst:
                    name = MovieFields.Value.text(bytes, in: try grammar.value())
                default: try grammar.value()
                }
            }
        default: try grammar.value()
        }
        try grammar.finish()
        (self.name, self.movies, self.images, self.elements) = (name, movies, images, elements)
    }

    private static let names: Set = ["name", "movies", "images"]
}

/// The films or images of an array, each as its range in the document.
struct JSONEntries: Sendable {
    let bytes: [UInt8]
    let ranges: [Range<Int>]

    /// The entries read by one thread at a time: some 100 KB of films.
    private static let pieceCount = 256
    /// The pieces read at once: enough for all processors, and few enough that the results stay small beside the document.
    private static let piecesAtATime = 16

    /// Reads the entries, a few pieces at a time, and calls `body` with each, in order.
    func forEach<Failure: Error>(_ body: (JSONDocument.Entry) throws(Failure) -> Void) throws(Failure) {
        let pieces = (ranges.count + Self.pieceCount - 1) / Self.pieceCount
        try Parallel.forEach(pieces, atATime: Self.piecesAtATime) { piece in
            let start = piece * Self.pieceCount
            return ranges[start..<min(start + Self.pieceCount, ranges.count)].map {
                JSONDocument.Entry(bytes, in: $0)
            }
        } body: { entries throws(Failure) in
            for entry in entries { try body(entry) }
        }
    }

    /// All entries.
    var all: [JSONDocument.Entry] {
        var all: [JSONDocument.Entry] = []
        forEach { all.append($0) }
        return all
    }
}

extension JSONDocument.Entry {
    /// - Parameter range: a value that the grammar has accepted.
    fileprivate init(_ bytes: [UInt8], in range: Range<Int>) {
        var grammar = JSONGrammar(bytes, in: range, checksScalars: false)
        switch grammar.next {
        case .object:
            var values = MovieFields.Values()
            // Ignored: the grammar has accepted the object before.
            try? grammar.members { key, grammar throws(CatalogueError) in
                let kind = grammar.next
                let value = try grammar.value()
                if let member = FilmMember(named: key.lowerBound + 1..<key.upperBound - 1, in: bytes) {
                    return values.set(member, kind, bytes, in: value)
                }
                // Another name, or one with escapes.
                let name = JSONText.unquoted(bytes[key])
                if let member = FilmMember(named: name) {
                    values.set(member, kind, bytes, in: value)
                } else if name == "url", values.url == nil {
                    values.url = MovieFields.Value(text: kind, bytes, in: value)
                } else if name == "sha256", values.sha256 == nil {
                    values.sha256 = MovieFields.Value(text: kind, bytes, in: value)
                }
            }
            self = .object(values)
        case .string: self = MovieFields.Value.text(bytes, in: range).map(Self.text) ?? .other
        default: self = .other
        }
    }
}

extension MovieFields.Values {
    /// Sets a member, unless it came before.
    fileprivate mutating func set(
        _ member: FilmMember, _ kind: JSONGrammar.Kind, _ bytes: [UInt8], in range: Range<Int>
    ) {
        if self[member] == nil { self[member] = MovieFields.Value(member, kind, bytes, in: range) }
    }
}

extension MovieFields.Value {
    /// Nil for null. `other` for a value of the wrong type, or a number or string that is wrong in itself.
    fileprivate init?(
        _ member: FilmMember, _ kind: JSONGrammar.Kind, _ bytes: [UInt8], in range: Range<Int>
    ) {
        if kind == .null { return nil }
        if member.isNumber || member == .id && kind == .number {
            self = Self.number(bytes, in: range).map(Self.number) ?? .other
        } else if member.listElement != nil {
            self = kind == .array ? Self.texts(bytes, in: range).map(Self.texts) ?? .other : .other
        } else {
            self = Self.text(bytes, in: range).map(Self.text) ?? .other
        }
    }

    /// The same for a member that is a text.
    fileprivate init?(text kind: JSONGrammar.Kind, _ bytes: [UInt8], in range: Range<Int>) {
        if kind == .null { return nil }
        self = Self.text(bytes, in: range).map(Self.text) ?? .other
    }

    /// The text of a string; nil for another value, and for a string that is wrong in itself.
    fileprivate static func text(_ bytes: [UInt8], in range: Range<Int>) -> String? {
        isRight(bytes, in: range, .string) ? JSONText.unquoted(bytes[range]) : nil
    }

    private static func number(_ bytes: [UInt8], in range: Range<Int>) -> Double? {
        guard isRight(bytes, in: range, .number) else { return nil }
        return Double(String(decoding: bytes[range], as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
    }

    /// The texts of an array; nil if one of its elements is not a string.
    private static func texts(_ bytes: [UInt8], in range: Range<Int>) -> [String]? {
        var grammar = JSONGrammar(bytes, in: range, checksScalars: false)
        var texts: [String?] = []
        // Ignored: the grammar has accepted the array before.
        try? grammar.elements { element throws(CatalogueError) in texts.append(text(bytes, in: element)) }
        return texts.contains(nil) ? nil : texts.compactMap(\.self)
    }

    private static func isRight(_ bytes: [UInt8], in range: Range<Int>, _ kind: JSONGrammar.Kind) -> Bool {
        var grammar = JSONGrammar(bytes, in: range)
        // Ignored: a wrong value is a fault of its film, which the checks of the film report.
        return grammar.next == kind && (try? grammar.only()) != nil
    }
}
