import MovieCatalogue

/// A film in `list --json` and `show --json`: all facts of the catalogue, and the state of its poster. `JSONHelp` lists
/// its members.
struct FilmRecord: Encodable {
    let movie: Movie
    /// The poster's whole address; nil keeps the catalogue's.
    let poster: String?
    /// Whether the poster is cached, if that was looked up.
    var isCached: Bool?
    /// The result of the poster's fetch, if it was fetched.
    var fetch: FetchRecord?

    private enum CodingKeys: String, CodingKey {
        case poster
        case isCached = "cached"
        case fetch
    }

    func encode(to encoder: any Encoder) throws {
        try movie.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(poster, forKey: .poster)
        try container.encodeIfPresent(isCached, forKey: .isCached)
        try container.encodeIfPresent(fetch, forKey: .fetch)
    }
}
