import MovieCatalogue

/// What a film's page tells besides the film's own facts.
struct FilmContext {
    /// How a refresh changed the film; nil if it did not.
    var change: FilmSet.Change?
    /// Why its poster failed; nil if it did not.
    var failure: PosterFailure?
    /// Some other films by its director, and how many there are in all.
    var sameDirector: (films: [Movie], count: Int) = ([], 0)
    /// Its neighbours in the present order; nil at the ends, and where the list shows them.
    var previous: Movie?
    var next: Movie?
    /// Whether Enter plays the film, if it can be played.
    var isPlayedByEnter = false
    /// What the filter looks for.
    var words = FilterWords("")

    init(failure: PosterFailure? = nil) { self.failure = failure }
}
