extension Catalogue {
    /// The orders a list of films comes in.
    public enum Sort: String, CaseIterable, Sendable {
        /// Best first, by the rating where there are votes; films without a score come last.
        case score
        /// Oldest first; films without a year come last.
        case year
        /// By title without its leading article, case and accents aside.
        case title
    }

    /// The films in an order that is always the same: what is equal comes by title, then by id.
    public func sorted(by order: Sort) -> [Movie] { numbers(by: order).map { movies[$0] } }

    /// The first films of an order, as `sorted(by:)` has them.
    public func first(_ count: Int, by order: Sort) -> [Movie] {
        numbers(first: count, by: order).map { movies[$0] }
    }

    /// The numbers of the films, from 0 in the catalogue's order, in another order.
    public func numbers(by order: Sort) -> [Int] { sorted(Array(movies.indices), by: order) }

    /// The first of these. Titles are looked at only of films that may be among them.
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

    /// What an order goes by before the title, the lowest first.
    private func rank(of movie: Movie, by order: Sort) -> Double {
        switch order {
        // No score is less than any score.
        case .score: -(movie.standing ?? -1)
        case .year: movie.year.map(Double.init) ?? .infinity
        case .title: 0
        }
    }
}
