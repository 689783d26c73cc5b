/// What a few typed words name in a catalogue.
public enum MovieMatch: Sendable, Hashable {
    /// Exactly one film.
    case one(Movie)
    /// More than one, in the catalogue's order: say which.
    case several([Movie])
    /// None; at most five that are spelt alike, nearest first.
    case none(suggestions: [Movie])
}

extension Catalogue {
    /// Finds the film that `text` names: the one with this id, else the one with this title or original title,
    /// else the one whose title or original title contains it; case, accents and doubled spaces aside.
    public func match(_ text: String) -> MovieMatch {
        if let movie = movies.first(where: { $0.id == text }) { return .one(movie) }
        let wanted = FoldedText.fold(text)
        guard !wanted.isEmpty else { return .none(suggestions: []) }
        let titles = movies.map { movie in
            (movie: movie, titles: [movie.title, movie.originalTitle].compactMap { $0.map(FoldedText.fold) })
        }
        let exact = titles.filter { $0.titles.contains(wanted) }
        let found = exact.isEmpty ? titles.filter { $0.titles.contains { $0.contains(wanted) } } : exact
        if found.count > 1 { return .several(found.map(\.movie)) }
        if let only = found.first { return .one(only.movie) }
        let words = wanted.split(separator: " ").count
        let suggestions = Suggestions.nearest(to: wanted, among: titles, count: 5) { film in
            [FoldedText.fold(film.movie.id)[...]] + film.titles.flatMap { runs(of: words, in: $0) }
        }
        return .none(suggestions: suggestions.map(\.movie))
    }

    /// The whole title and every run of `count` words in it, since people type a part of a title.
    private func runs(of count: Int, in title: String) -> [Substring] {
        let words = title.split(separator: " ")
        guard words.count > count else { return [title[...]] }
        return [title[...]]
            + zip(words, words.dropFirst(count - 1)).map { title[$0.startIndex..<$1.endIndex] }
    }
}
