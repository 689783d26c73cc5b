public import FoundationEssentials

extension Catalogue {
    /// Joins this page and the following ones. A film that moved between pages during the reading keeps its first
    /// position.
    public func appending(_ pages: [Catalogue]) -> Catalogue {
        if pages.isEmpty { return self }
        var identifiers = Set(movies.map(\.id))
        let more = pages.flatMap(\.movies).filter { identifiers.insert($0.id).inserted }
        return Catalogue(
            name: name, movies: movies + more, problems: problems + pages.flatMap(\.problems))
    }

    /// Makes the URLs of posters, films and pages absolute.
    public func resolvingAddresses(against base: URL) -> Catalogue {
        func whole(_ address: String?) -> String? {
            address.flatMap { URL(string: $0, relativeTo: base)?.absoluteString } ?? address
        }
        let movies = movies.map { movie in
            movie.poster == nil && movie.media == nil && movie.page == nil
                ? movie
                : movie.with(poster: whole(movie.poster), media: whole(movie.media), page: whole(movie.page))
        }
        return Catalogue(name: name, movies: movies, problems: problems)
    }

    /// Makes the URLs of the films' web pages absolute.
    public func resolvingPages(against base: URL) -> Catalogue {
        let movies = movies.map { movie in
            guard let page = movie.page, let whole = URL(string: page, relativeTo: base)?.absoluteString,
                whole != page
            else { return movie }
            return movie.with(poster: movie.poster, media: movie.media, page: whole)
        }
        return Catalogue(name: name, movies: movies, problems: problems)
    }

    /// Changes the texts that people read: the name, titles, directors, countries, genres and overviews.
    package func mapTexts(_ change: (String) -> String) -> Catalogue {
        let movies = movies.map { movie in
            Movie(
                id: movie.id, title: change(movie.title), originalTitle: movie.originalTitle.map(change),
                year: movie.year, director: movie.director.map(change), country: movie.country.map(change),
                minutes: movie.minutes, genres: movie.genres.map(change),
                overview: movie.overview.map(change),
                score: movie.score, poster: movie.poster, media: movie.media, rating: movie.rating,
                votes: movie.votes, createdAt: movie.createdAt, updatedAt: movie.updatedAt)
        }
        return Catalogue(name: name.map(change), movies: movies, problems: problems)
    }
}

extension Movie {
    /// A copy with other URLs.
    fileprivate func with(poster: String?, media: String?, page: String?) -> Movie {
        Movie(
            id: id, title: title, originalTitle: originalTitle, year: year, director: director,
            country: country, minutes: minutes, genres: genres, overview: overview, score: score,
            poster: poster, media: media, page: page, rating: rating, votes: votes, createdAt: createdAt,
            updatedAt: updatedAt)
    }
}
