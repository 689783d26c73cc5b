/// The words typed to filter films. Each must occur somewhere in a film; case and accents are ignored.
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

    /// Folded, in UTF-8.
    let words: [[UInt8]]

    /// Splits a text into words.
    public init(_ text: String) {
        words = FoldedText.fold(text).split(separator: " ").map { Array($0.utf8) }
    }

    /// Whether there are no words, so that every film matches.
    public var isEmpty: Bool { words.isEmpty }

    /// The ranges of the words in the text of a field, or in a part of it: whole characters, in order, not touching.
    public func ranges(in text: String, of field: Field) -> [Range<String.Index>] {
        words.isEmpty ? [] : FoldedText.ranges(of: words(in: field), in: text)
    }

    /// The words that occur in neither title.
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
                words(in: field).contains(word)
                    && field.text(of: movie).map { !FoldedText.ranges(of: [word], in: $0).isEmpty } == true
            }
            if let field, !fields.contains(field) { fields.append(field) }
        }
        return fields
    }

    /// The words that are searched in a field.
    private func words(in field: Field) -> [[UInt8]] {
        field == .overview ? words.filter(Self.isForOverview) : words
    }

    /// Whether a word is searched in overviews.
    static func isForOverview(_ word: [UInt8]) -> Bool {
        String(decoding: word, as: UTF8.self).count >= shortestInOverview
    }
}
