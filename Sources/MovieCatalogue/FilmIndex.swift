/// Finds films while a person types. Every word must occur in titles, director, year, country or genres or, from three
/// letters on, in the overview; case and accents are ignored. All text is folded once into one buffer, so that each
/// keystroke only scans it.
public struct FilmIndex: Sendable {
    /// The ends of a film's folded texts. They begin at the end of the previous film's.
    private struct Ends {
        /// The end of title and original title.
        var titles: Int
        /// The end of the other short texts.
        var facts: Int
        /// The end of the overview, the last text.
        var overview: Int
    }

    /// The folded texts of all films, concatenated, in UTF-8.
    private var texts: [UInt8] = []
    private var films: [Ends] = []

    /// Creates an index; results are indices into `movies`.
    public init(_ movies: [Movie]) {
        films.reserveCapacity(movies.count)
        for movie in movies {
            var ends = Ends(titles: 0, facts: 0, overview: 0)
            for field in FilterWords.Field.allCases {
                if let text = field.text(of: movie) {
                    texts.append(UInt8(ascii: " "))
                    FoldedText.append(text, to: &texts)
                }
                switch field {
                case .title, .originalTitle: ends.titles = texts.count
                case .director, .year, .country, .genres: ends.facts = texts.count
                case .overview: ends.overview = texts.count
                }
            }
            films.append(ends)
        }
    }

    /// The indices of the matching films, in order; all films if there are no words.
    public func matches(_ words: FilterWords) -> [Int] {
        let inOverview = words.words.map(FilterWords.isForOverview)
        return films(in: words, among: films.indices) { ends, word in
            inOverview[word] ? ends.overview : ends.facts
        }
    }

    /// The matches that have every word in a title.
    public func titleMatches(_ words: FilterWords, among matches: [Int]) -> [Int] {
        films(in: words, among: matches) { ends, _ in ends.titles }
    }

    /// The candidates whose texts contain every word before the end given for that word.
    private func films(
        in words: FilterWords, among candidates: some Sequence<Int>, upTo end: (Ends, Int) -> Int
    ) -> [Int] {
        let words = words.words
        let texts = texts.span
        var matches: [Int] = []
        for film in candidates {
            let start = film == 0 ? 0 : films[film - 1].overview
            var hasAll = true
            for (number, word) in words.enumerated() where hasAll {
                hasAll = Self.holds(texts, in: start..<end(films[film], number), word.span)
            }
            if hasAll { matches.append(film) }
        }
        return matches
    }

    /// Whether a part of the texts contains a word. A byte comparison suffices: in UTF-8 no character begins within
    /// another.
    private static func holds(_ texts: Span<UInt8>, in range: Range<Int>, _ word: Span<UInt8>) -> Bool {
        guard word.count > 0 else { return true }
        let first = word[0]
        let last = range.upperBound - word.count
        var start = range.lowerBound
        while start <= last {
            if texts[start] == first {
                var length = 1
                while length < word.count, texts[start + length] == word[length] { length += 1 }
                if length == word.count { return true }
            }
            start += 1
        }
        return false
    }
}
