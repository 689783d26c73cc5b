/// What a person can note about a film.
package enum FilmMark: String, Sendable, Hashable, CaseIterable {
    case seen, favourite
    case toWatch = "to-watch"
    /// The person's own rating.
    case rating
}

/// A person's marks of one film.
package struct FilmMarks: Sendable, Equatable {
    private var values: [FilmMark: Int] = [:]

    /// No marks.
    package init() {}

    /// A mark's value: 1 to 10 for a rating, 1 for any other mark, 0 for none. An unset mark differs from one that nobody
    /// has ever set: see `isKnown`.
    package subscript(_ mark: FilmMark) -> Int {
        get { values[mark] ?? 0 }
        set { values[mark] = newValue }
    }

    /// Whether somebody has set or unset the mark.
    package func isKnown(_ mark: FilmMark) -> Bool { values[mark] != nil }

    package var isSeen: Bool { self[.seen] > 0 }
    package var isFavourite: Bool { self[.favourite] > 0 }
    package var isToWatch: Bool { self[.toWatch] > 0 }
    /// The person's own rating, 1 to 10; nil for none.
    package var rating: Int? { self[.rating] > 0 ? self[.rating] : nil }

    /// What marks are stored under: title and year, because one film is in many libraries. Where a library has several
    /// films with the same ones, `exact` has the film's id too.
    package static func keys(of movie: Movie) -> (usual: String, exact: String) {
        let usual = FilmID.make(title: movie.title, year: movie.year)
        return (usual, usual + " " + movie.id)
    }

    /// What the marks of an episode are stored under: `fantomas-1913 s1e2`.
    package static func key(of episode: FilmPart, in series: Movie) -> String {
        let number = episode.number.map { "e\($0)" } ?? " " + episode.title
        return keys(of: series).usual + " s\(episode.season ?? 0)" + number
    }
}
