import SystemSupport

/// A film of a catalogue. Encodes as an object without nil properties.
public struct Movie: Sendable, Hashable, Identifiable, Encodable {
    /// The unique id within the catalogue; never empty.
    public let id: String
    /// The title shown to people; never empty.
    public let title: String
    /// The title in the film's language, if different.
    public let originalTitle: String?
    /// The year of the first showing, if known.
    public let year: Int?
    /// The director or directors, as one line.
    public let director: String?
    /// The country or countries of production, as one line.
    public let country: String?
    /// The running time in minutes.
    public let minutes: Int?
    /// Genres in the catalogue's order; may be empty.
    public let genres: [String]
    /// A few sentences about the film.
    public let overview: String?
    /// The catalogue's score, 0 to 10.
    public let score: Double?
    /// The poster's address as written: relative to the catalogue, or absolute. Nil without a poster.
    public let poster: String?
    /// The film itself, a file or address as written: relative to the catalogue, or absolute. Nil if unknown.
    public let media: String?
    /// A web page about the film, an address as written: relative to the catalogue, or absolute. Nil if unknown.
    public let page: String?
    /// The mean of the votes, 0 to 10; nil without votes.
    public let rating: Double?
    /// The number of votes.
    public let votes: Int
    /// When the film was added to its library: RFC 3339, UTC.
    public let createdAt: String?
    /// When it last changed: RFC 3339, UTC.
    public let updatedAt: String?

    /// The range of scores and votes.
    public static let scores: ClosedRange<Double> = 0...10

    /// The rating if there are votes, otherwise the score. Lists are sorted by it.
    public var rankingScore: Double? { votes > 0 ? rating ?? score : score }

    /// Creates a film without checking it.
    public init(
        id: String, title: String, originalTitle: String? = nil, year: Int? = nil, director: String? = nil,
        country: String? = nil, minutes: Int? = nil, genres: [String] = [], overview: String? = nil,
        score: Double? = nil, poster: String? = nil, media: String? = nil, page: String? = nil,
        rating: Double? = nil, votes: Int = 0,
        createdAt: String? = nil, updatedAt: String? = nil
    ) {
        self.id = id
        self.title = title
        self.originalTitle = originalTitle
        self.year = year
        self.director = director
        self.country = country
        self.minutes = minutes
        self.genres = genres
        self.overview = overview
        self.score = score
        self.poster = poster
        self.media = media
        self.page = page
        self.rating = rating
        self.votes = votes
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }

    private enum CodingKeys: String, CodingKey {
        case id, title, originalTitle, year, director, country, minutes, genres, overview, score, poster
        case media, page, rating, votes
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// Encodes all properties except nil; `genres` always.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(title, forKey: .title)
        try container.encodeIfPresent(originalTitle, forKey: .originalTitle)
        try container.encodeIfPresent(year, forKey: .year)
        try container.encodeIfPresent(director, forKey: .director)
        try container.encodeIfPresent(country, forKey: .country)
        try container.encodeIfPresent(minutes, forKey: .minutes)
        try container.encode(genres, forKey: .genres)
        try container.encodeIfPresent(overview, forKey: .overview)
        try container.encodeIfPresent(score, forKey: .score)
        try container.encodeIfPresent(poster, forKey: .poster)
        try container.encodeIfPresent(media, forKey: .media)
        try container.encodeIfPresent(page, forKey: .page)
        try container.encodeIfPresent(rating, forKey: .rating)
        if votes > 0 { try container.encode(votes, forKey: .votes) }
        try container.encodeIfPresent(createdAt, forKey: .createdAt)
        try container.encodeIfPresent(updatedAt, forKey: .updatedAt)
    }
}

/// The unchecked members of a film. JSON and XML both produce it, so that one set of rules checks both and errors read
/// alike.
struct MovieFields {
    enum Field: String, CaseIterable, CodingKey {
        case id, title, originalTitle, year, director, country, minutes, genres, overview, score, poster
        case media, page
        /// Members that a library adds.
        case rating, votes
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        /// Members of an image in a manifest.
        case url, sha256

        /// Its index in `Values`.
        fileprivate var slot: Int {
            switch self {
            case .id: 0
            case .title: 1
            case .originalTitle: 2
            case .year: 3
            case .director: 4
            case .country: 5
            case .minutes: 6
            case .genres: 7
            case .overview: 8
            case .score: 9
            case .poster: 10
            case .url: 11
            case .sha256: 12
            case .rating: 13
            case .votes: 14
            case .createdAt: 15
            case .updatedAt: 16
            case .media: 17
            case .page: 18
            }
        }
    }

    enum Value: Equatable, Sendable {
        case text(String)
        case number(Double)
        case texts([String])
        /// A value of the wrong type.
        case other
    }

    /// The values of a film by field. An array instead of a dictionary: a catalogue may have a hundred thousand films.
    struct Values: Sendable {
        private var slots = [Value?](repeating: nil, count: Field.allCases.count)

        subscript(field: Field) -> Value? {
            get { slots[field.slot] }
            set { slots[field.slot] = newValue }
        }
    }

    /// The position in the catalogue, from 1; nil for a single film.
    let position: Int?
    /// The line where the film begins, from 1, if known.
    let line: Int?
    var values = Values()

    /// The name in errors: the position, and the title or id if present.
    var label: String {
        let label = position.map { "film \($0)" } ?? "the film"
        if case .text(let title) = values[.title] { return "\(label) (\"\(title)\")" }
        if case .text(let id) = values[.id] { return "\(label) (\"\(id)\")" }
        return label
    }

    /// The years after the invention of film; the bounds catch typing errors.
    static let years: ClosedRange<Double> = 1800...9999
    private static let runningTimes: ClosedRange<Double> = 1...100_000

    func movie() throws(CatalogueError) -> Movie {
        let (rating, votes) = self.votes
        return Movie(
            id: try required(.id), title: try required(.title), originalTitle: try text(.originalTitle),
            year: try whole(.year, in: Self.years), director: try text(.director),
            country: try text(.country),
            minutes: try whole(.minutes, in: Self.runningTimes), genres: try texts(.genres),
            overview: try text(.overview), score: try number(.score, in: Movie.scores),
            poster: try text(.poster), media: lenientText(.media), page: lenientText(.page),
            rating: rating, votes: votes, createdAt: lenientText(.createdAt),
            updatedAt: lenientText(.updatedAt))
    }

    /// The errors of all fields. A single film may lack its id.
    func problems() -> [FieldProblem] {
        var problems: [FieldProblem] = []
        func check(_ field: Field, _ read: (Field) throws(CatalogueError) -> Void) {
            do throws(CatalogueError) {
                try read(field)
            } catch {
                let detail =
                    if case .wrongType(_, _, let expected, _) = error { "must be \(expected)" } else {
                        "is missing; every film needs one"
                    }
                problems.append(FieldProblem(member: field.rawValue, detail: detail))
            }
        }
        if values[.id] != nil {
            check(.id) { field throws(CatalogueError) in
                if let fault = FilmID.fault(try required(field)) { throw wrong(field, fault) }
            }
        }
        check(.title) { field throws(CatalogueError) in _ = try required(field) }
        for field in [Field.originalTitle, .director, .country, .overview, .poster] {
            check(field) { field throws(CatalogueError) in _ = try text(field) }
        }
        check(.year) { field throws(CatalogueError) in _ = try whole(field, in: Self.years) }
        check(.minutes) { field throws(CatalogueError) in _ = try whole(field, in: Self.runningTimes) }
        check(.genres) { field throws(CatalogueError) in _ = try texts(field) }
        check(.score) { field throws(CatalogueError) in _ = try number(field, in: Movie.scores) }
        return problems
    }

    /// Rating and votes if both are valid. Other catalogues use these names differently.
    private var votes: (rating: Double?, votes: Int) {
        guard case .number(let rating) = values[.rating], Movie.scores.contains(rating),
            case .number(let number) = values[.votes], let votes = Int(exactly: number), votes > 0
        else { return (nil, 0) }
        return (rating, votes)
    }

    /// The text of a field that other catalogues use differently; wrong types are ignored.
    private func lenientText(_ field: Field) -> String? {
        guard case .text(let text) = values[field], !text.trimmed.isEmpty else { return nil }
        return text.trimmed
    }

    /// The text of a field; nil if it is absent or blank.
    func text(_ field: Field) throws(CatalogueError) -> String? {
        switch values[field] {
        case nil: return nil
        case .text(let text):
            let trimmed = text.trimmed
            return trimmed.isEmpty ? nil : trimmed
        case .number, .texts, .other: throw wrong(field, "text")
        }
    }

    private func required(_ field: Field) throws(CatalogueError) -> String {
        // Catalogues exported from databases have numbers as ids.
        if field == .id, case .number(let number) = values[.id], let whole = Int(exactly: number) {
            return String(whole)
        }
        guard let text = try text(field) else { throw missing(field) }
        return text
    }

    private func texts(_ field: Field) throws(CatalogueError) -> [String] {
        switch values[field] {
        case nil: return []
        case .texts(let texts): return texts.map(\.trimmed).filter { !$0.isEmpty }
        case .text, .number, .other: throw wrong(field, "a list of texts")
        }
    }

    private func number(_ field: Field, in range: ClosedRange<Double>) throws(CatalogueError) -> Double? {
        switch values[field] {
        case nil: return nil
        case .number(let number) where range.contains(number): return number
        case .number, .text, .texts, .other:
            throw wrong(field, "a number from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
        }
    }

    private func whole(_ field: Field, in range: ClosedRange<Double>) throws(CatalogueError) -> Int? {
        guard let number = try number(field, in: range) else { return nil }
        guard let whole = Int(exactly: number) else { throw wrong(field, "a whole number") }
        return whole
    }

    private func missing(_ field: Field) -> CatalogueError {
        .missingField(movie: label, field: field.rawValue, line: line)
    }

    private func wrong(_ field: Field, _ expected: String) -> CatalogueError {
        .wrongType(movie: label, field: field.rawValue, expected: expected, line: line)
    }
}

extension MovieFields {
    /// Reads a `<movie>` element. Text may span lines; unknown children are ignored.
    init(_ element: XMLElement, position: Int) {
        self.init(position: position, line: element.line)
        for field in Field.allCases where field != .id {
            guard let child = element.child(field.rawValue) else { continue }
            let text = child.text.collapsed
            switch field {
            case .genres:
                values[field] = .texts(child.children.filter { $0.name == "genre" }.map(\.text.collapsed))
            case .year, .minutes, .score, .rating, .votes:
                // An empty element counts as absent.
                if !text.isEmpty { values[field] = Double(text).map(Value.number) ?? .other }
            default: values[field] = child.children.isEmpty ? .text(text) : .other
            }
        }
        values[.id] = (element.attributes["id"] ?? element.child("id")?.text).map { .text($0.trimmed) }
    }
}

/// The ids of films in a library. Each is a path segment of the service.
public enum FilmID {
    /// The most bytes of an id in UTF-8.
    public static let maximumBytes = 200

    /// Names that the service uses, or that mean folders.
    private static let reserved: Set<String> = [".", "..", "top", "top3"]
    /// Suffixes that select a format.
    private static let endings = [".json", ".xml", ".html"]
    /// The most bytes that `make` takes from a title.
    private static let maximumTitleBytes = 100

    /// What the id must be instead, to follow "must be"; nil for a valid id.
    public static func fault(_ id: String) -> String? {
        if id.isEmpty || id.utf8.count > maximumBytes { return "1 to \(maximumBytes) bytes of UTF-8" }
        if id.contains("/") { return "without /" }
        if id.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "without control characters"
        }
        if reserved.contains(id) { return "another name: the service uses \"\(id)\" itself" }
        let lowercased = id.lowercased()
        if let ending = endings.first(where: lowercased.hasSuffix) { return "without \(ending) at the end" }
        return nil
    }

    /// Makes an id from title and year: `el-camino-2019`. Removes case and accents and replaces other characters by
    /// hyphens.
    public static func make(title: String, year: Int?) -> String {
        var name = ""
        for character in FoldedText.fold(title) {
            if character.isLetter || character.isNumber {
                guard name.utf8.count + character.utf8.count <= maximumTitleBytes else { break }
                name.append(character)
            } else if character != "'", !name.isEmpty, !name.hasSuffix("-") {
                name.append("-")
            }
        }
        if name.hasSuffix("-") { name.removeLast() }
        if name.isEmpty { name = "film" }
        if let year { name += "-\(year)" }
        return fault(name) == nil ? name : name + "-film"
    }

    /// Makes an id from title, year and an id that a library cannot have, such as an address:
    /// `faust-1926-2dlz5hmpx9kmw`. Equal ids give equal ones. The end is the FNV-1a hash (64 bits) of the id.
    public static func make(title: String, year: Int?, from written: String) -> String {
        make(title: title, year: year) + "-" + String(written.utf8.fnv1a, radix: 36)
    }

    /// Makes a random id, different from all others.
    public static func random() -> String {
        String(UInt128.random(in: .min ... .max), radix: 36)
    }
}

/// An error in one member of a film.
public struct FieldProblem: Sendable, Hashable {
    /// The member's name.
    public let member: String
    /// The rest of a sentence that begins with the name: "must be text".
    public let detail: String

    /// Creates a problem.
    public init(member: String, detail: String) {
        self.member = member
        self.detail = detail
    }
}
