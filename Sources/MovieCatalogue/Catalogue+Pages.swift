public import FoundationEssentials

extension Catalogue {
    /// The films of this page and of those that follow it. A film that moved from page to page while they were read stands
    /// where it was first.
    public func appending(_ pages: [Catalogue]) -> Catalogue {
        if pages.isEmpty { return self }
        var identifiers = Set(movies.map(\.id))
        let more = pages.flatMap(\.movies).filter { identifiers.insert($0.id).inserted }
        return Catalogue(
            name: name, movies: movies + more, problems: problems + pages.flatMap(\.problems))
    }

    /// The same films with whole addresses for their posters.
    public func resolvingPosters(against base: URL) -> Catalogue {
        let movies = movies.map { movie in
            guard let poster = movie.poster, let url = URL(string: poster, relativeTo: base) else {
                return movie
            }
            return movie.with(poster: url.absoluteString)
        }
        return Catalogue(name: name, movies: movies, problems: problems)
    }
}

extension Movie {
    /// The same film with another address for its poster.
    fileprivate func with(poster: String) -> Movie {
        Movie(
            id: id, title: title, originalTitle: originalTitle, year: year, director: director,
            country: country, minutes: minutes, genres: genres, overview: overview, score: score,
            poster: poster, rating: rating, votes: votes, createdAt: createdAt, updatedAt: updatedAt)
    }
}
