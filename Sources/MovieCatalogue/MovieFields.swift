/// What a catalogue says of one film, before it is known to be right. JSON and XML both come to this, so that
/// both are checked by one set of rules and named alike in errors.
struct MovieFields {
    enum Field: String, CaseIterable, CodingKey {
        case id, title, originalTitle, year, director, country, minutes, genres, overview, score, poster
        case media
        /// What a library adds.
        case rating, votes
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        /// What an image of a manifest has instead.
        case url, sha256

        /// Its place among all fields.
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
            }
        }
    }

    enum Value: Equatable, Sendable {
        case text(String)
        case number(Double)
        case texts([String])
        /// A form that the field does not have.
        case other
    }

    /// The values of one film by field: a small dictionary whose lookups cost nothing, since a catalogue may have a hundred
    /// thousand films.
    struct Values: Sendable {
        private var slots = [Value?](repeating: nil, count: Field.allCases.count)

        subscript(field: Field) -> Value? {
            get { slots[field.slot] }
            set { slots[field.slot] = newValue }
        }
    }

    /// Its place among the films, from 1; nil for a film that comes alone.
    let position: Int?
    /// The line it begins on, from 1, if that is known.
    let line: Int?
    var values = Values()

    /// How errors call it: its place, and its title or id where it has one.
    var label: String {
        let label = position.map { "film \($0)" } ?? "the film"
        if case .text(let title) = values[.title] { return "\(label) (\"\(title)\")" }
        if case .text(let id) = values[.id] { return "\(label) (\"\(id)\")" }
        return label
    }

    /// Years of films are after the invention; the bound keeps a slip of the finger from becoming a year.
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
            poster: try text(.poster), media: ownText(.media), rating: rating, votes: votes,
            createdAt: ownText(.createdAt), updatedAt: ownText(.updatedAt))
    }

    /// What is wrong with each field; a film that comes alone may lack its id.
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

    /// Rating and votes where both are right. Catalogues that are no library's use these names for other things.
    private var votes: (rating: Double?, votes: Int) {
        guard case .number(let rating) = values[.rating], Movie.scores.contains(rating),
            case .number(let number) = values[.votes], let votes = Int(exactly: number), votes > 0
        else { return (nil, 0) }
        return (rating, votes)
    }

    /// The text of a field that other catalogues may use for something else, which is ignored.
    private func ownText(_ field: Field) -> String? {
        guard case .text(let text) = values[field], !text.trimmed.isEmpty else { return nil }
        return text.trimmed
    }

    /// The text of a field; nil where it is absent or blank.
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
        // Catalogues that come out of databases count their films.
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
    /// A `<movie>` element. Text may be laid out over lines; children it does not know are ignored.
    init(_ element: XMLElement, position: Int) {
        self.init(position: position, line: element.line)
        for field in Field.allCases where field != .id {
            guard let child = element.child(field.rawValue) else { continue }
            let text = child.text.collapsed
            switch field {
            case .genres:
                values[field] = .texts(child.children.filter { $0.name == "genre" }.map(\.text.collapsed))
            case .year, .minutes, .score, .rating, .votes:
                // An empty element says no more than an absent one.
                if !text.isEmpty { values[field] = Double(text).map(Value.number) ?? .other }
            default: values[field] = child.children.isEmpty ? .text(text) : .other
            }
        }
        values[.id] = (element.attributes["id"] ?? element.child("id")?.text).map { .text($0.trimmed) }
    }
}
