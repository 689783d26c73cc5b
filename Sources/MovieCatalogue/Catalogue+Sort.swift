extension Catalogue {
    /// The orders a list of films comes in.
    public enum Sort: String, CaseIterable, Sendable {
        /// Best first; films without a score come last.
        case score
        /// Oldest first.
        case year
        /// By title without its leading article, case and accents aside.
        case title
    }

    /// The films in an order that is always the same: what is equal comes by title, then by id.
    public func sorted(by order: Sort) -> [Movie] {
        let keyed = movies.map { (movie: $0, title: FoldedText.sortKey($0.title)) }
        return keyed.sorted { first, second in
            switch order {
            case .score where first.movie.score != second.movie.score:
                // No score is less than any score.
                (first.movie.score ?? -1) > (second.movie.score ?? -1)
            case .year where first.movie.year != second.movie.year: first.movie.year < second.movie.year
            case .score, .year, .title: (first.title, first.movie.id) < (second.title, second.movie.id)
            }
        }.map(\.movie)
    }
}
