/// Finds films while a person types. Every word must occur in titles, director, year, country or genres or, from three
/// letters on, in the overview, and every condition must hold; case and accents are ignored. All text is folded once into
/// one buffer, so that each keystroke only scans it.
public struct FilmIndex: Sendable {
    /// The films that match, as indices.
    public struct Hits: Sendable, Hashable {
        /// The films in groups, the best first; each group in the catalogue's order.
        public let groups: [[Int]]
        /// Whether no film has the words. The films then have titles of similar spelling, the nearest first.
        public let areSimilar: Bool

        init(_ groups: [[Int]], areSimilar: Bool = false) {
            self.groups = groups.filter { !$0.isEmpty }
            self.areSimilar = areSimilar
        }
    }

    /// The ends of a film's folded texts. They begin at the end of the previous film's.
    private struct Ends {
        /// The end of title and original title.
        var titles = 0
        var director = 0
        var country = 0
        /// The end of the last short text.
        var genres = 0
        /// The end of the overview, the last text.
        var overview = 0
    }

    /// The shortest words whose spelling may be wrong, in characters together: shorter ones resemble too much.
    private static let shortestMistyped = 3

    private let movies: [Movie]
    /// The folded texts of all films, concatenated, in UTF-8.
    private var texts: [UInt8] = []
    private var films: [Ends] = []

    /// Creates an index; results are indices into `movies`.
    public init(_ movies: [Movie]) {
        self.movies = movies
        films.reserveCapacity(movies.count)
        for movie in movies {
            var ends = Ends()
            for field in FilterWords.Field.allCases {
                if let text = field.text(of: movie) {
                    texts.append(UInt8(ascii: " "))
                    FoldedText.append(text, to: &texts)
                }
                switch field {
                case .title, .originalTitle: ends.titles = texts.count
                case .director: ends.director = texts.count
                case .year: break
                case .country: ends.country = texts.count
                case .genres: ends.genres = texts.count
                case .overview: ends.overview = texts.count
                }
            }
            films.append(ends)
        }
    }

    /// The best matches: first films with exactly this title, then films with the words in a title, then others. If no
    /// film has the words, the film with this id; otherwise at most five films whose titles `Catalogue.match` would
    /// suggest. The conditions hold for all of them.
    public func hits(_ words: FilterWords) -> Hits {
        let name = words.name
        let found = matchesOfText(words)
        if name.isEmpty { return Hits([meeting(words, among: found)]) }
        guard found.isEmpty else {
            let matches = meeting(words, among: found)
            let titles = titleMatches(words, among: matches)
            let exact = titles.filter { number in
                [movies[number].title, movies[number].originalTitle].contains { title in
                    title.map(FoldedText.fold) == name
                }
            }
            return Hits([exact, Self.others(titles, than: exact), Self.others(matches, than: titles)])
        }
        let candidates = meeting(words, among: films.indices)
        if let film = candidates.first(where: { movies[$0].id == name }) { return Hits([[film]]) }
        guard name.count >= Self.shortestMistyped else { return Hits([]) }
        let similar = Suggestions.films(like: name, among: candidates.map { ($0, movies[$0]) })
        return Hits(similar.map { [$0] }, areSimilar: !similar.isEmpty)
    }

    /// The elements of `all`, which is in order, without those of a part of it.
    private static func others(_ all: [Int], than part: [Int]) -> [Int] {
        let part = Set(part)
        return part.isEmpty ? all : all.filter { !part.contains($0) }
    }

    /// The indices of the matching films, in order; all films if nothing is required. No spelling is forgiven.
    public func matches(_ words: FilterWords) -> [Int] { meeting(words, among: matchesOfText(words)) }

    /// The matches that have every word in a title.
    public func titleMatches(_ words: FilterWords, among matches: [Int]) -> [Int] {
        films(in: words.words, among: matches) { start, ends, _ in start..<ends.titles }
    }

    /// The films that have the words which are not conditions on other fields.
    private func matchesOfText(_ words: FilterWords) -> [Int] {
        let inOverview = words.words.map(FilterWords.isForOverview)
        let found = films(in: words.words, among: films.indices) { start, ends, word in
            start..<(inOverview[word] ? ends.overview : ends.genres)
        }
        if words.titleWords.isEmpty { return found }
        return films(in: words.titleWords, among: found) { start, ends, _ in start..<ends.titles }
    }

    /// The candidates for which the conditions hold.
    private func meeting(_ words: FilterWords, among candidates: some Sequence<Int>) -> [Int] {
        let conditions = words.conditions
        return films(in: conditions.map(\.word), among: candidates) { start, ends, word in
            switch conditions[word].field {
            case .title, .originalTitle: start..<ends.titles
            case .director: ends.titles..<ends.director
            case .year, .country: ends.director..<ends.country
            case .genres: ends.country..<ends.genres
            case .overview: ends.genres..<ends.overview
            }
        }.filter { film in
            words.years.allSatisfy { years in movies[film].year.map(years.contains) ?? false }
        }
    }

    /// The candidates whose texts contain every word in the range given for that word.
    /// - Parameter range: takes the start and the ends of a film's texts and the word's index.
    private func films(
        in words: [[UInt8]], among candidates: some Sequence<Int>, _ range: (Int, Ends, Int) -> Range<Int>
    ) -> [Int] {
        if words.isEmpty { return Array(candidates) }
        let texts = texts.span
        var matches: [Int] = []
        for film in candidates {
            let start = film == 0 ? 0 : films[film - 1].overview
            var hasAll = true
            for (number, word) in words.enumerated() where hasAll {
                hasAll = Self.holds(texts, in: range(start, films[film], number), word.span)
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
