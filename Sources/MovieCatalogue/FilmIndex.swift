/// Films found by what a person types: every word must stand somewhere in titles, director, year, country or genres, or,
/// from three letters on, in the overview; case and accents aside. The texts are folded once, into one piece of memory, so
/// that each letter typed costs a scan of that and no more.
public struct FilmIndex: Sendable {
    /// Where the folded texts of a film end. They begin where those of the film before end.
    private struct Ends {
        /// Of title and original title.
        var titles: Int
        /// Of the other short ones.
        var facts: Int
        /// Of the overview, and so of all.
        var overview: Int
    }

    /// The folded texts of all films, in UTF-8, one after the other.
    private var texts: [UInt8] = []
    private var films: [Ends] = []

    /// An index of these films; its numbers are theirs.
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

    /// The numbers of the films that match, in order; all of them without words.
    public func matches(_ words: FilterWords) -> [Int] {
        let inOverview = words.words.map(FilterWords.isForOverview)
        return films(in: words, among: films.indices) { ends, word in
            inOverview[word] ? ends.overview : ends.facts
        }
    }

    /// Those of some matches that have every word in a title.
    public func titleMatches(_ words: FilterWords, among matches: [Int]) -> [Int] {
        films(in: words, among: matches) { ends, _ in ends.titles }
    }

    /// Those of some films in whose texts, up to an end that is given for each word, every word stands.
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

    /// Whether a word stands in a part of the texts. UTF-8 is compared byte by byte: no character begins within another.
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
