/// The words typed to filter films; case and accents are ignored. Each must occur somewhere in a film. A word behind the
/// name of a field must occur in that field, up to the next name; the years are a year or a range:
///
///     metropolis
///     moon director: méliès year: 1902
///     genre:horror year: 1920..1929 title: golem
///
/// Everything must hold.
public struct FilterWords: Sendable, Hashable {
    /// The searched fields of a film, most significant first.
    public enum Field: String, CaseIterable, Sendable {
        case title
        case originalTitle = "original title"
        case director, year, country, genres, overview

        /// The text of the field; nil if it is empty.
        public func text(of movie: Movie) -> String? {
            switch self {
            case .title: movie.title
            case .originalTitle: movie.originalTitle
            case .director: movie.director
            case .year: movie.year.map(String.init)
            case .country: movie.country
            case .genres: movie.genres.isEmpty ? nil : movie.genres.joined(separator: ", ")
            case .overview: movie.overview
            }
        }
    }

    /// The fewest letters of a word that is searched in overviews: most overviews contain shorter ones.
    static let shortestInOverview = 3

    /// A word that one field must have.
    struct Condition: Sendable, Hashable {
        let field: Field
        let word: [UInt8]
    }

    /// The names of fields in a text, each followed by a colon.
    private static let names: [Substring: Field] = [
        "title": .title, "director": .director, "genre": .genres, "year": .year,
    ]

    /// The words that any field may have. Folded, in UTF-8.
    let words: [[UInt8]]
    /// The words that a title or an original title must have.
    private(set) var titleWords: [[UInt8]] = []
    /// The words that other fields must have.
    private(set) var conditions: [Condition] = []
    /// The ranges that must all contain the year.
    private(set) var years: [ClosedRange<Int>] = []
    /// Why a year is not used; nil if nothing is wrong.
    public private(set) var problem: FieldProblem?

    /// Splits a text into words and fields. A field without words is not used.
    public init(_ text: String) {
        var words: [[UInt8]] = []
        var values: [(field: Field, text: String)] = []
        for word in FoldedText.fold(text).split(separator: " ") {
            if let colon = word.firstIndex(of: ":"), let field = Self.names[word[..<colon]] {
                values.append((field, String(word[colon...].dropFirst())))
            } else if let last = values.indices.last {
                values[last].text += " " + word
            } else {
                words.append(Array(word.utf8))
            }
        }
        self.words = words
        for value in values where value.text.contains(where: { $0 != " " }) {
            require(value.text, in: value.field)
        }
    }

    /// Adds a condition: the field must have every word of `text`. `title` means either title. The text of `year` is
    /// `1927`, `1920..1929`, `1920..` or `..1929`, with years from 1800 to 9999; `problem` says what is wrong with another.
    public mutating func require(_ text: String, in field: Field) {
        let words = FoldedText.fold(text).split(separator: " ")
        switch field {
        case .year:
            let typed = words.joined()
            if let range = Self.years(typed) {
                years.append(range)
            } else {
                problem = FieldProblem(
                    member: Field.year.rawValue,
                    detail: "needs 1927, 1920..1929, 1920.. or ..1929, not \"\(typed)\"")
            }
        case .title, .originalTitle: titleWords += words.map { Array($0.utf8) }
        case .director, .country, .genres, .overview:
            conditions += words.map { Condition(field: field, word: Array($0.utf8)) }
        }
    }

    /// The years of a text; nil if it is not a year or a range in order.
    private static func years(_ text: String) -> ClosedRange<Int>? {
        let all = Int(MovieFields.years.lowerBound)...Int(MovieFields.years.upperBound)
        func year(_ text: Substring, else bound: Int) -> Int? {
            if text.isEmpty { return bound }
            guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let year = Int(text) else { return nil }
            return all.contains(year) ? year : nil
        }
        guard !text.isEmpty, text != ".." else { return nil }
        guard let dots = text.firstRange(of: "..") else { return year(text[...], else: 0).map { $0...$0 } }
        guard let first = year(text[..<dots.lowerBound], else: all.lowerBound),
            let last = year(text[dots.upperBound...], else: all.upperBound), first <= last
        else { return nil }
        return first...last
    }

    /// Whether nothing is required, so that every film matches.
    public var isEmpty: Bool { words.isEmpty && titleWords.isEmpty && conditions.isEmpty && years.isEmpty }

    /// The words that may name a film: those of no field, and those of titles. Folded.
    var name: String {
        (words + titleWords).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }

    /// The ranges of the words in the text of a field, or in a part of it: whole characters, in order, not touching.
    public func ranges(in text: String, of field: Field) -> [Range<String.Index>] {
        isEmpty ? [] : FoldedText.ranges(of: words(in: field), in: text)
    }

    /// The words of no field that occur in neither title.
    public func missing(fromTitlesOf movie: Movie) -> FilterWords {
        let titles = [Field.title, .originalTitle].compactMap { $0.text(of: movie) }
        return FilterWords(
            words: words.filter { word in
                titles.allSatisfy { FoldedText.ranges(of: [word], in: $0).isEmpty }
            })
    }

    private init(words: [[UInt8]]) { self.words = words }

    /// For each word the most significant field that contains it, without repetitions.
    public func fields(of movie: Movie) -> [Field] {
        var fields: [Field] = []
        for word in words {
            let field = Field.allCases.first { field in
                (field != .overview || Self.isForOverview(word))
                    && field.text(of: movie).map { !FoldedText.ranges(of: [word], in: $0).isEmpty } == true
            }
            if let field, !fields.contains(field) { fields.append(field) }
        }
        return fields
    }

    /// The words that are searched in a field.
    private func words(in field: Field) -> [[UInt8]] {
        let any = field == .overview ? words.filter(Self.isForOverview) : words
        if [.title, .originalTitle].contains(field) { return any + titleWords }
        return any + conditions.filter { $0.field == field }.map(\.word)
    }

    /// Whether a word is searched in overviews.
    static func isForOverview(_ word: [UInt8]) -> Bool {
        String(decoding: word, as: UTF8.self).count >= shortestInOverview
    }
}
