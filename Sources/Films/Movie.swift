import Hashing
import SystemSupport

/// A film of a catalogue. Encodes as an object without nil properties.
public struct Movie: Sendable, Hashable, Identifiable, Encodable {
    /// The values of the members, by their numbers. An array: a list copies films often, and each has few values.
    private var values = [FilmMember.Value?](repeating: nil, count: FilmMember.allCases.count)

    /// The unique id within the catalogue; never empty.
    public package(set) var id: String {
        get { text(.id) ?? "" }
        set { self[.id] = .text(newValue) }
    }
    /// The title shown to people; never empty.
    public var title: String { text(.title) ?? "" }
    /// The title in the film's language, if different.
    public var originalTitle: String? { text(.originalTitle) }
    /// The year of the first showing, if known.
    public var year: Int? { whole(.year) }
    /// The director or directors, as one line.
    public var director: String? { text(.director) }
    /// The country or countries of production, as one line.
    public var country: String? { text(.country) }
    /// The running time in minutes.
    public var minutes: Int? { whole(.minutes) }
    /// Genres in the catalogue's order; may be empty.
    public var genres: [String] { texts(.genres) }
    /// A few sentences about the film.
    public var overview: String? { text(.overview) }
    /// The catalogue's score, 0 to 10.
    public var score: Double? { number(.score) }
    /// The poster's address as written: relative to the catalogue, or absolute. Nil without a poster.
    public var poster: String? { text(.poster) }
    /// The line that advertises it.
    public var tagline: String? { text(.tagline) }
    /// The names of actors, the leading ones first; may be empty.
    public var cast: [String] { texts(.cast) }
    /// The series of films that it belongs to.
    public var collection: String? { text(.collection) }
    /// The address of a trailer.
    public var trailer: String? { text(.trailer) }
    /// What can be played of it, if that is a choice: its versions, or the episodes of a series. Known of folders only.
    public package(set) var parts: [FilmPart] = []
    /// The film itself, a file or address as written: relative to the catalogue, or absolute. Nil if unknown.
    public var media: String? { text(.media) }
    /// A web page about the film, an address as written: relative to the catalogue, or absolute. Nil if unknown.
    public var page: String? { text(.page) }
    /// The mean of the votes, 0 to 10; nil without votes.
    public var rating: Double? { number(.rating) }
    /// The number of votes.
    public var votes: Int { whole(.votes) ?? 0 }
    /// When the film was added to its library: RFC 3339, UTC.
    public var createdAt: String? { text(.createdAt) }
    /// When it last changed: RFC 3339, UTC.
    public var updatedAt: String? { text(.updatedAt) }

    /// The range of scores and votes.
    public static let scores: ClosedRange<Double> = 0...10

    /// The number of a series' episodes, where only its own page has them; nil if they are in `parts`.
    package var unreadEpisodes: Int?

    /// Whether it is a series, whose parts are its episodes.
    public var isSeries: Bool { episodeCount != nil }

    /// The director; of a series without one `3 episodes`.
    package var maker: String? {
        director ?? episodeCount.map { $0 == 1 ? "1 episode" : "\($0) episodes" }
    }

    /// The number of a series' episodes; nil for a film.
    package var episodeCount: Int? {
        unreadEpisodes ?? (parts.first?.season == nil ? nil : parts.count)
    }

    /// The rating if there are votes, otherwise the score. Lists are sorted by it.
    public var rankingScore: Double? { votes > 0 ? rating ?? score : score }

    /// Encodes all members except nil; `genres` always.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FilmMember.self)
        for member in FilmMember.allCases {
            switch self[member] {
            case .text(let text): try container.encode(text, forKey: member)
            case .whole(let number): try container.encode(number, forKey: member)
            case .number(let number): try container.encode(number, forKey: member)
            case .texts(let texts): try container.encode(texts, forKey: member)
            case nil where member == .genres: try container.encode(genres, forKey: member)
            case nil: break
            }
        }
    }

    /// The value of a member; nil if the film has none, or none but an empty list. Set values of its type only.
    public package(set) subscript(member: FilmMember) -> FilmMember.Value? {
        get { values[member.rawValue] }
        set { values[member.rawValue] = newValue == .texts([]) ? nil : newValue }
    }

    private func whole(_ member: FilmMember) -> Int? {
        if case .whole(let number) = self[member] { number } else { nil }
    }

    private func number(_ member: FilmMember) -> Double? {
        if case .number(let number) = self[member] { number } else { nil }
    }

    private func texts(_ member: FilmMember) -> [String] {
        if case .texts(let texts) = self[member] { texts } else { [] }
    }

    /// The value of a member as a line of text; nil if the film has none.
    public func text(_ member: FilmMember) -> String? {
        switch self[member] {
        case .text(let text): text
        case .whole(let number): "\(number)"
        case .number(let number): "\(number)"
        case .texts(let texts): texts.joined(separator: ", ")
        case nil: nil
        }
    }
}

/// Something that can be played of a film: one of its versions, or an episode of a series.
public struct FilmPart: Sendable, Hashable, Encodable {
    private enum CodingKeys: CodingKey { case season, number, title, media }

    /// The season, from 1; 0 for specials, nil for a version.
    public let season: Int?
    /// The episode's number in its season; nil for a version, and where it is unknown.
    public let number: Int?
    /// `4K`, or the title of an episode.
    public let title: String
    /// Its address, as that of the film's `media`.
    public let media: String

    /// Whether its source says that the person has seen it.
    package let isSeen: Bool
    /// Its id at the films' server; nil in other sources.
    package let id: String?

    package init(
        season: Int? = nil, number: Int? = nil, title: String, media: String, isSeen: Bool = false,
        id: String? = nil
    ) {
        (self.season, self.number, self.title, self.media) = (season, number, title, media)
        (self.isSeen, self.id) = (isSeen, id)
    }
}

/// The members of a film, in their order: the schema. JSON, XML, SOAP and the forms of the service, the options of `add`
/// and `edit`, `help json` and the search all read it. A new member needs a case, its definition, and a property of
/// `Movie`.
public enum FilmMember: Int, CaseIterable, Sendable {
    case id, title, originalTitle, year, director, country, minutes, genres, overview, score, poster, media
    case page, tagline, cast, collection, trailer, rating, votes, createdAt, updatedAt

    /// A value of a member.
    public enum Value: Sendable, Hashable {
        case text(String)
        case whole(Int)
        case number(Double)
        case texts([String])
    }

    /// The type of a member.
    public enum Kind: Sendable {
        /// A line of text that every film has.
        case required
        /// A line of text.
        case text
        /// A text of several lines.
        case paragraphs
        /// The path or the URL of a file, relative to the catalogue or absolute.
        case address
        case whole(ClosedRange<Int>)
        case number(ClosedRange<Double>)
        /// A list of texts. In XML each is an element with the given name.
        case texts(element: String)

        /// Whether a number is in the range; false for a member that is no number.
        package func contains(_ number: Double) -> Bool {
            switch self {
            case .whole(let range): (Double(range.lowerBound)...Double(range.upperBound)).contains(number)
            case .number(let range): range.contains(number)
            case .required, .text, .paragraphs, .address, .texts: false
            }
        }
    }

    /// Who sets a member, and what becomes of a wrong value.
    public enum Rule: Sendable {
        /// A wrong value is an error in the film.
        case checked
        /// Other catalogues use the name differently: a wrong value is ignored.
        case lenient
        /// The library sets it. A wrong value is ignored.
        case library
    }

    /// Where typed words find the member.
    public enum Search: Sendable {
        case nowhere
        /// Only in the list of the browser.
        case browser
        case everywhere
    }

    /// An option of the command line that sets the member.
    public struct CommandOption: Sendable {
        /// Without the hyphens.
        public let name: String
        /// The placeholder of its value.
        public let value: String
        /// One line.
        public let help: String
        /// Whether most films are given it. Help lists such options first.
        public let isUsual: Bool

        fileprivate init(_ name: String, _ value: String, _ help: String, isUsual: Bool = false) {
            (self.name, self.value, self.help, self.isUsual) = (name, value, help, isUsual)
        }
    }

    /// What the schema says of a member.
    public struct Definition: Sendable {
        /// The name in JSON and XML.
        public let name: String
        /// The type.
        public let kind: Kind
        /// Who sets the member.
        public var rule = Rule.checked
        /// The name for people.
        public let label: String
        /// What a form says after the label.
        public var hint: String?
        /// The member's place in the forms of the service; nil if they do not have it.
        public var form: Int?
        /// The option of `add` and `edit`; nil if they do not set the member.
        public var option: CommandOption?
        /// Where typed words find the member.
        public var search = Search.nowhere
        /// Whether pages list it among the facts of a film.
        public var isFact = false
        /// The line of `help json`.
        public var help = ""
    }

    /// In the order of the cases.
    private static let definitions = [
        Definition(name: "id", kind: .required, label: "Id", help: "the film's id in its catalogue"),
        Definition(
            name: "title", kind: .required, label: "Title", form: 1,
            option: CommandOption("title", "T", "the title", isUsual: true), search: .everywhere),
        Definition(
            name: "originalTitle", kind: .text, label: "Original title", form: 2,
            option: CommandOption("original-title", "T", "the title in the film's own language"),
            search: .everywhere, help: "if it differs"),
        Definition(
            name: "year", kind: .whole(FilmMember.years), label: "Year", form: 3,
            option: CommandOption("year", "Y", "the year of the first showing", isUsual: true),
            search: .everywhere, isFact: true),
        Definition(
            name: "director", kind: .text, label: "Director", form: 5,
            option: CommandOption("director", "D", "the director", isUsual: true), search: .everywhere,
            isFact: true),
        Definition(
            name: "country", kind: .text, label: "Country", form: 6,
            option: CommandOption("country", "C", "the country of production"), search: .browser,
            isFact: true),
        Definition(
            name: "minutes", kind: .whole(1...100_000), label: "Minutes", form: 4,
            option: CommandOption("minutes", "N", "the length in minutes"), isFact: true),
        Definition(
            name: "genres", kind: .texts(element: "genre"), label: "Genres",
            hint: "separated by commas", form: 7,
            option: CommandOption("genre", "G", "a genre; give the option once for each"),
            search: .everywhere, help: "an array"),
        Definition(
            name: "overview", kind: .paragraphs, label: "Overview", form: 9,
            option: CommandOption("overview", "TEXT", "a few sentences about it"), search: .browser),
        Definition(
            name: "score", kind: .number(Movie.scores), label: "Score", hint: "0 to 10", form: 8,
            option: CommandOption("score", "0-10", "the catalogue's own score"), help: "0 to 10"),
        Definition(
            name: "poster", kind: .address, label: "Poster",
            option: CommandOption("poster", "FILE|URL", "the poster: a picture file, or its address"),
            help: "its address; after a change, the one that the service gives"),
        Definition(
            name: "media", kind: .address, rule: .lenient, label: "Media",
            option: CommandOption("media", "FILE|URL", "the film's file, which the browser plays"),
            help: "the film's file or address, as in the catalogue"),
        Definition(
            name: "page", kind: .address, rule: .lenient, label: "Page",
            help: "a web page about it, as in the catalogue"),
        Definition(
            name: "tagline", kind: .text, rule: .lenient, label: "Tagline", isFact: true,
            help: "the line that advertises it"),
        Definition(
            name: "cast", kind: .texts(element: "actor"), rule: .lenient, label: "Cast", search: .browser,
            isFact: true, help: "an array of names"),
        Definition(
            name: "collection", kind: .text, rule: .lenient, label: "Part of", isFact: true,
            help: "the series of films that it belongs to"),
        Definition(
            name: "trailer", kind: .address, rule: .lenient, label: "Trailer", isFact: true,
            help: "the address of its trailer"),
        Definition(
            name: "rating", kind: .number(Movie.scores), rule: .library, label: "Rating",
            help: "the mean of the votes, if there are any"),
        Definition(
            name: "votes", kind: .whole(1...Int.max), rule: .library, label: "Votes",
            help: "the number of votes"),
        Definition(
            name: "created_at", kind: .text, rule: .library, label: "Created at",
            help: "when it was added to its library: RFC 3339, UTC"),
        Definition(
            name: "updated_at", kind: .text, rule: .library, label: "Updated at",
            help: "when it was last changed"),
    ]

    /// The years after the invention of film; the bounds catch typing errors.
    static let years = 1800...9999

    /// What the schema says of the member.
    public var definition: Definition { Self.definitions[rawValue] }

    /// The type of the member.
    public var kind: Kind { Self.kinds[rawValue] }
    private static let kinds = definitions.map(\.kind)

    /// The name in JSON and XML.
    public var name: String { Self.names[rawValue] }
    private static let names = definitions.map(\.name)

    private static let named = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })

    /// The member with a name in JSON and XML; nil if there is none.
    public init?(named name: String) {
        guard let member = Self.named[name] else { return nil }
        self = member
    }

    /// Whether its values are numbers.
    public var isNumber: Bool {
        switch kind {
        case .whole, .number: true
        case .required, .text, .paragraphs, .address, .texts: false
        }
    }

    /// The name of the elements of its list in XML; nil for a member that is not a list.
    public var listElement: String? {
        if case .texts(let element) = kind { element } else { nil }
    }

    /// Whether it has several lines.
    var isLong: Bool { if case .paragraphs = kind { true } else { false } }

    /// Whether people read it, and programs do not.
    var isProse: Bool {
        switch kind {
        case .required, .text, .paragraphs, .texts: definition.rule == .checked && self != .id
        case .address, .whole, .number: false
        }
    }

    /// The members of a film's form, in its order.
    public static let form = allCases.filter { $0.definition.form != nil }
        .sorted { $0.definition.form ?? 0 < $1.definition.form ?? 0 }

    /// The members whose values are checked, in the order of their errors: single texts first.
    static let checked: [Self] = {
        let checked = allCases.filter { $0.definition.rule == .checked }
        let texts = checked.filter { !$0.isNumber && $0.listElement == nil }
        return texts + checked.filter { !texts.contains($0) }
    }()

    /// The facts of a film for people.
    public static let facts = allCases.filter(\.definition.isFact)

    /// The addresses of files and pages.
    public static let addresses = allCases.filter {
        if case .address = $0.definition.kind { true } else { false }
    }

    /// The members that typed words search in the browser, the most significant first.
    public static let searched = allCases.filter { $0.definition.search != .nowhere }

    /// The members that typed words search everywhere.
    package static let indexed = allCases.filter { $0.definition.search == .everywhere }
}

extension FilmMember: CodingKey {
    /// The name in JSON.
    public var stringValue: String { name }
    /// Nil: members have names only.
    public var intValue: Int? { nil }
    /// The member with a name in JSON.
    public init?(stringValue: String) { self.init(named: stringValue) }
    /// Nil: members have names only.
    public init?(intValue: Int) { nil }
}

extension Movie {
    /// A film without any other member. Nothing is checked.
    package init(id: String, title: String) { (self[.id], self[.title]) = (.text(id), .text(title)) }

    /// Changes the texts that people read.
    func mapTexts(_ change: (String) -> String) -> Movie {
        var movie = self
        for member in FilmMember.allCases where member.isProse {
            switch self[member] {
            case .text(let text): movie[member] = .text(change(text))
            case .texts(let texts): movie[member] = .texts(texts.map(change))
            case .whole, .number, nil: break
            }
        }
        return movie
    }
}

/// The unchecked members of a film. JSON and XML both produce it, so that one set of rules checks both and errors read
/// alike.
package struct MovieFields {
    package enum Value: Equatable, Sendable {
        case text(String)
        case number(Double)
        case texts([String])
        /// A value of the wrong type.
        case other
    }

    /// The values of a film by member. An array instead of a dictionary: a catalogue may have a hundred thousand films.
    package struct Values: Sendable {
        private var slots = [Value?](repeating: nil, count: FilmMember.allCases.count)

        /// No values.
        package init() {}

        package subscript(member: FilmMember) -> Value? {
            get { slots[member.rawValue] }
            set { slots[member.rawValue] = newValue }
        }

        /// The checked film.
        /// - Parameters:
        ///   - position: its position in its list, from 1, for errors.
        ///   - line: the line where it begins, from 1, if known.
        package func movie(position: Int, line: Int? = nil) throws(CatalogueError) -> Movie {
            try MovieFields(position: position, line: line, values: self).movie()
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

    func movie() throws(CatalogueError) -> Movie {
        var movie = Movie(id: "", title: "")
        for member in FilmMember.allCases {
            if let value = try value(member) { movie[member] = value }
        }
        // Each needs the other: other catalogues use these names differently.
        if movie.rating == nil || movie.votes == 0 { (movie[.rating], movie[.votes]) = (nil, nil) }
        return movie
    }

    /// The errors of all members, those of texts first. A single film may lack its id.
    func problems() -> [FieldProblem] {
        var problems: [FieldProblem] = []
        for member in FilmMember.checked {
            if member == .id, values[.id] == nil { continue }
            do throws(CatalogueError) {
                let value = try value(member)
                if member == .id, case .text(let id) = value, let fault = FilmID.fault(id) {
                    throw wrong(member, fault)
                }
            } catch {
                let detail =
                    if case .wrongType(_, _, let expected, _) = error { "must be \(expected)" } else {
                        "is missing; every film needs one"
                    }
                problems.append(FieldProblem(member: member.name, detail: detail))
            }
        }
        return problems
    }

    /// The checked value of a member; nil if it is absent or blank, or wrong where that is ignored.
    func value(_ member: FilmMember) throws(CatalogueError) -> FilmMember.Value? {
        guard let value = values[member] else {
            if case .required = member.kind { throw missing(member) }
            return nil
        }
        do throws(CatalogueError) {
            return try checked(value, member, member.kind)
        } catch {
            // Ignored: the film can do without.
            if member.definition.rule == .checked { throw error }
            return nil
        }
    }

    private func checked(
        _ value: Value, _ member: FilmMember, _ kind: FilmMember.Kind
    ) throws(CatalogueError) -> FilmMember.Value? {
        switch (kind, value) {
        case (.required, .text(let text)):
            let text = text.trimmed
            if text.isEmpty { throw missing(member) }
            return .text(text)
        // Catalogues exported from databases have numbers as ids.
        case (.required, .number(let number)):
            guard member == .id, let whole = Int(exactly: number) else { throw wrong(member, "text") }
            return .text(String(whole))
        case (.text, .text(let text)), (.paragraphs, .text(let text)), (.address, .text(let text)):
            let text = text.trimmed
            return text.isEmpty ? nil : .text(text)
        case (.required, _), (.text, _), (.paragraphs, _), (.address, _): throw wrong(member, "text")
        case (.whole, .number(let number)) where member.kind.contains(number):
            guard let whole = Int(exactly: number) else { throw wrong(member, "a whole number") }
            return .whole(whole)
        case (.whole(let range), _):
            throw wrong(member, "a number from \(range.lowerBound) to \(range.upperBound)")
        case (.number, .number(let number)) where member.kind.contains(number):
            return .number(number)
        case (.number(let range), _):
            throw wrong(member, "a number from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
        case (.texts, .texts(let texts)): return .texts(texts.map(\.trimmed).filter { !$0.isEmpty })
        case (.texts, _): throw wrong(member, "a list of texts")
        }
    }

    private func missing(_ member: FilmMember) -> CatalogueError {
        .missingField(movie: label, field: member.name, line: line)
    }

    private func wrong(_ member: FilmMember, _ expected: String) -> CatalogueError {
        .wrongType(movie: label, field: member.name, expected: expected, line: line)
    }
}

extension MovieFields {
    /// Reads a `<movie>` element. Text may span lines; unknown children are ignored, and all but the first with a name.
    init(_ element: XMLElement, position: Int) {
        self.init(position: position, line: element.line)
        var isRead = [Bool](repeating: false, count: FilmMember.allCases.count)
        for child in element.children where element.owns(child) {
            guard let member = FilmMember(named: child.localName), !isRead[member.rawValue] else { continue }
            isRead[member.rawValue] = true
            let text = child.collapsedText
            if let item = member.listElement {
                values[member] = .texts(child.children.filter { $0.name == item }.map(\.collapsedText))
            } else if member.isNumber {
                // An empty element counts as absent.
                if !text.isEmpty { values[member] = Double(text).map(Value.number) ?? .other }
            } else if member == .id {
                values[member] = .text(child.text.trimmed)
            } else {
                values[member] = child.children.isEmpty ? .text(text) : .other
            }
        }
        if let id = element.attributes["id"] { values[.id] = .text(id.trimmed) }
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
