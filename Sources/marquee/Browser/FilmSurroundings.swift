import MovieCatalogue

/// What a film's page tells beside what the film says of itself.
struct FilmSurroundings {
    /// What a refresh found of the film; nil if nothing.
    var change: FilmSet.Change?
    /// Why its poster could not be had; nil if it could.
    var failure: PosterFailure?
    /// Some other films by its director, and how many there are.
    var sameDirector: (films: [Movie], count: Int) = ([], 0)
    /// Its neighbours in the present order; nil at the ends, and where the list shows them.
    var previous: Movie?
    var next: Movie?
    /// Whether Enter plays it, where it can be played.
    var isPlayedByEnter = false
    /// What the filter looks for.
    var words = FilterWords("")

    init(failure: PosterFailure? = nil) { self.failure = failure }
}
