extension Catalogue {
    /// The sort orders of a list of films.
    public enum Sort: String, CaseIterable, Sendable {
        /// Highest first: by rating if there are votes, otherwise by score. Films without either come last.
        case score
        /// Oldest first; films without a year come last.
        case year
        /// By title without its leading article, ignoring case and accents.
        case title
    }

    /// The films in a stable order: equal films are sorted by title, then by id.
    public func sorted(by order: Sort) -> [Movie] { numbers(by: order).map { movies[$0] } }

    /// The first films of `sorted(by:)`.
    public func first(_ count: Int, by order: Sort) -> [Movie] {
        numbers(first: count, by: order).map { movies[$0] }
    }

    /// The indices of the films, sorted.
    public func numbers(by order: Sort) -> [Int] { sorted(Array(movies.indices), by: order) }

    /// The first indices. Compares titles only for films that can be among them.
    private func numbers(first count: Int, by order: Sort) -> [Int] {
        guard order != .title, count > 0, count < movies.count else {
            return Array(numbers(by: order).prefix(count))
        }
        let ranks = movies.map { rank(of: $0, by: order) }
        let last = ranks.sorted()[count - 1]
        return Array(sorted(movies.indices.filter { ranks[$0] <= last }, by: order).prefix(count))
    }

    private func sorted(_ numbers: [Int], by order: Sort) -> [Int] {
        let keys = numbers.map { number in
            (
                rank: rank(of: movies[number], by: order), title: FoldedText.sortKey(movies[number].title),
                number: number
            )
        }
        return keys.indices.sorted { first, second in
            let (first, second) = (keys[first], keys[second])
            if first.rank != second.rank { return first.rank < second.rank }
            if first.title != second.title { return first.title < second.title }
            return movies[first.number].id < movies[second.number].id
        }.map { keys[$0].number }
    }

    /// The primary sort key; lowest first.
    private func rank(of movie: Movie, by order: Sort) -> Double {
        switch order {
        // Films without a score come after those with score 0.
        case .score: -(movie.rankingScore ?? -1)
        case .year: movie.year.map(Double.init) ?? .infinity
        case .title: 0
        }
    }
}
