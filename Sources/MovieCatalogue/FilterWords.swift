/// What a person types to find films. Every word must stand somewhere in a film; case and accents do not count.
public struct FilterWords: Sendable, Hashable {
    /// The parts of a film that are searched, the most telling first.
    public enum Field: String, CaseIterable, Sendable {
        case title
        case originalTitle = "original title"
        case director, year, country, genres, overview

        /// What it says of a film; nil where that says nothing.
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

    /// Letters of a word that is looked for in overviews too: a shorter one stands in most of them.
    static let shortestInOverview = 3

    /// Folded, in UTF-8.
    let words: [[UInt8]]

    /// The words of a text.
    public init(_ text: String) {
        words = FoldedText.fold(text).split(separator: " ").map { Array($0.utf8) }
    }

    /// Whether there are none: every film matches.
    public var isEmpty: Bool { words.isEmpty }

    /// Where the words stand in what a field says, or in a part of it: whole characters, in order, apart from one another.
    public func ranges(in text: String, of field: Field) -> [Range<String.Index>] {
        words.isEmpty ? [] : FoldedText.ranges(of: words(in: field), in: text)
    }

    /// The words that neither title has.
    public func missing(fromTitlesOf movie: Movie) -> FilterWords {
        let titles = [Field.title, .originalTitle].compactMap { $0.text(of: movie) }
        return FilterWords(
            words: words.filter { word in
                titles.allSatisfy { FoldedText.ranges(of: [word], in: $0).isEmpty }
            })
    }

    private init(words: [[UInt8]]) { self.words = words }

    /// The fields that these words stand in, the most telling of each, and each field once.
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

    /// The words that are looked for in a field.
    private func words(in field: Field) -> [[UInt8]] {
        field == .overview ? words.filter(Self.isForOverview) : words
    }

    /// Whether a word is looked for in overviews.
    static func isForOverview(_ word: [UInt8]) -> Bool {
        String(decoding: word, as: UTF8.self).count >= shortestInOverview
    }
}
