import MovieCatalogue

/// A film as `list --json` and `show --json` give it: all that the catalogue says, and what is known of its poster.
/// `JSONHelp` has its members.
struct FilmRecord: Encodable {
    let movie: Movie
    /// The poster's whole address; nil leaves it as the catalogue has it.
    let poster: String?
    /// Whether the poster is in the cache, where that was looked up.
    var isCached: Bool?
    /// What became of the poster, where it was fetched.
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
