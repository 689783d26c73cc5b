/// A film of a catalogue. Encodes as an object without nil properties.
public struct Movie: Sendable, Hashable, Identifiable, Encodable {
    /// The unique id within the catalogue; never empty.
    public let id: String
    /// The title shown to people; never empty.
    public let title: String
    /// The title in the film's language, if different.
    public let originalTitle: String?
    /// The year of the first showing, if known.
    public let year: Int?
    /// The director or directors, as one line.
    public let director: String?
    /// The country or countries of production, as one line.
    public let country: String?
    /// The running time in minutes.
    public let minutes: Int?
    /// Genres in the catalogue's order; may be empty.
    public let genres: [String]
    /// A few sentences about the film.
    public let overview: String?
    /// The catalogue's score, 0 to 10.
    public let score: Double?
    /// The poster's address as written: relative to the catalogue, or absolute. Nil without a poster.
    public let poster: String?
    /// The film itself, a file or address as written: relative to the catalogue, or absolute. Nil if unknown.
    public let media: String?
    /// A web page about the film, an address as written: relative to the catalogue, or absolute. Nil if unknown.
    public let page: String?
    /// The mean of the votes, 0 to 10; nil without votes.
    public let rating: Double?
    /// The number of votes.
    public let votes: Int
    /// When the film was added to its library: RFC 3339, UTC.
    public let createdAt: String?
    /// When it last changed: RFC 3339, UTC.
    public let updatedAt: String?

    /// The range of scores and votes.
    public static let scores: ClosedRange<Double> = 0...10

    /// The rating if there are votes, otherwise the score. Lists are sorted by it.
    public var rankingScore: Double? { votes > 0 ? rating ?? score : score }

    /// Creates a film without checking it.
    public init(
        id: String, title: String, originalTitle: String? = nil, year: Int? = nil, director: String? = nil,
        country: String? = nil, minutes: Int? = nil, genres: [String] = [], overview: String? = nil,
        score: Double? = nil, poster: String? = nil, media: String? = nil, page: String? = nil,
        rating: Double? = nil, votes: Int = 0,
        createdAt: String? = nil, updatedAt: String? = nil
    ) {
        self.id = id
        self.title = title
        self.originalTitle = originalTitle
        self.year = year
        self.director = director
        self.country = country
        self.minutes = minutes
        self.genres = genres
        self.overview = overview
        self.score = score
        self.poster = poster
        self.media = media
        self.page = page
        self.rating = rating
        self.votes = votes
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }

    private enum CodingKeys: String, CodingKey {
        case id, title, originalTitle, year, director, country, minutes, genres, overview, score, poster
        case media, page, rating, votes
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// Encodes all properties except nil; `genres` always.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(title, forKey: .title)
        try container.encodeIfPresent(originalTitle, forKey: .originalTitle)
        try container.encodeIfPresent(year, forKey: .year)
        try container.encodeIfPresent(director, forKey: .director)
        try container.encodeIfPresent(country, forKey: .country)
        try container.encodeIfPresent(minutes, forKey: .minutes)
        try container.encode(genres, forKey: .genres)
        try container.encodeIfPresent(overview, forKey: .overview)
        try container.encodeIfPresent(score, forKey: .score)
        try container.encodeIfPresent(poster, forKey: .poster)
        try container.encodeIfPresent(media, forKey: .media)
        try container.encodeIfPresent(page, forKey: .page)
        try container.encodeIfPresent(rating, forKey: .rating)
        if votes > 0 { try container.encode(votes, forKey: .votes) }
        try container.encodeIfPresent(createdAt, forKey: .createdAt)
        try container.encodeIfPresent(updatedAt, forKey: .updatedAt)
    }
}
