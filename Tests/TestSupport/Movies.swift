package import Films

extension Movie {
    /// A film with these members. Nothing is checked.
    package init(
        id: String, title: String, originalTitle: String? = nil, year: Int? = nil, director: String? = nil,
        country: String? = nil, minutes: Int? = nil, genres: [String] = [], overview: String? = nil,
        score: Double? = nil, poster: String? = nil, media: String? = nil, page: String? = nil,
        rating: Double? = nil, votes: Int? = nil, createdAt: String? = nil, updatedAt: String? = nil
    ) {
        self.init(id: id, title: title)
        self[.originalTitle] = originalTitle.map { .text($0) }
        self[.year] = year.map { .whole($0) }
        self[.director] = director.map { .text($0) }
        self[.country] = country.map { .text($0) }
        self[.minutes] = minutes.map { .whole($0) }
        self[.genres] = .texts(genres)
        self[.overview] = overview.map { .text($0) }
        self[.score] = score.map { .number($0) }
        self[.poster] = poster.map { .text($0) }
        self[.media] = media.map { .text($0) }
        self[.page] = page.map { .text($0) }
        self[.rating] = rating.map { .number($0) }
        self[.votes] = votes.map { .whole($0) }
        self[.createdAt] = createdAt.map { .text($0) }
        self[.updatedAt] = updatedAt.map { .text($0) }
    }
}
