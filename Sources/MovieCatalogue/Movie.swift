/// One film of a catalogue. Encoded, it is an object with the names of its properties; what is nil is left out.
public struct Movie: Sendable, Hashable, Identifiable, Encodable {
    /// What names the film within its catalogue; never empty, and no two films share one.
    public let id: String
    /// The title a reader knows; never empty.
    public let title: String
    /// The title in the language of the film, where it differs.
    public let originalTitle: String?
    /// The year of the first showing.
    public let year: Int
    /// Who directed, as one line; several names are separated as the catalogue separates them.
    public let director: String
    /// The country or countries of production, as one line.
    public let country: String?
    /// The running time in minutes.
    public let minutes: Int?
    /// Genres in the catalogue's order; empty when it names none.
    public let genres: [String]
    /// A few sentences about the film.
    public let overview: String?
    /// The catalogue's score, 0 to 10.
    public let score: Double?
    /// The poster's address as written: relative to the catalogue, or absolute. Nil for an entry without one.
    public let poster: String?

    /// Makes a film from its facts; nothing is checked.
    public init(
        id: String, title: String, originalTitle: String? = nil, year: Int, director: String,
        country: String? = nil, minutes: Int? = nil, genres: [String] = [], overview: String? = nil,
        score: Double? = nil, poster: String? = nil
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
    }
}
