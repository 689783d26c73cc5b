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

    /// The same films with whole addresses for their posters, and for the films themselves.
    public func resolvingAddresses(against base: URL) -> Catalogue {
        func whole(_ address: String?) -> String? {
            address.flatMap { URL(string: $0, relativeTo: base)?.absoluteString } ?? address
        }
        let movies = movies.map { movie in
            movie.poster == nil && movie.media == nil
                ? movie : movie.with(poster: whole(movie.poster), media: whole(movie.media))
        }
        return Catalogue(name: name, movies: movies, problems: problems)
    }
}

extension Movie {
    /// The same film with other addresses.
    fileprivate func with(poster: String?, media: String?) -> Movie {
        Movie(
            id: id, title: title, originalTitle: originalTitle, year: year, director: director,
            country: country, minutes: minutes, genres: genres, overview: overview, score: score,
            poster: poster, media: media, rating: rating, votes: votes, createdAt: createdAt,
            updatedAt: updatedAt)
    }
}
