import FoundationEssentials
import MovieCatalogue

/// The films of a catalogue, ready to browse. Making it takes long for many films, so the browser's thread does not do
/// it.
struct FilmSet: Sendable {
    /// How a refresh changed a film.
    enum Change: Sendable { case new, changed }

    let catalogue: Catalogue
    /// The base URL of the posters.
    let base: BaseURL
    /// The index for the filter. It is made early, or the filter's first key would wait for it.
    let index: FilmIndex
    /// The numbers of each director's films, the oldest first.
    let byDirector: [String: [Int]]
    /// How the refresh changed films, by the film's number.
    private(set) var changes: [Int: Change] = [:]
    /// The number of films that the refresh removed.
    private(set) var removed = 0

    /// No films.
    init() {
        self.init(
            OpenCatalogue(catalogue: Catalogue(name: nil, movies: []), base: BaseURL(URL(filePath: "/"))))
    }

    /// - Parameter shown: the films that a refresh replaces; nil for the first reading.
    init(_ open: OpenCatalogue, replacing shown: Catalogue? = nil) {
        catalogue = open.catalogue
        base = open.base
        index = FilmIndex(catalogue.movies)
        let movies = catalogue.movies
        byDirector = movies.indices.sorted { (movies[$0].year ?? .max, $0) < (movies[$1].year ?? .max, $1) }
            .reduce(into: [:]) { films, number in
                if let director = movies[number].director { films[director, default: []].append(number) }
            }
        guard let shown else { return }
        var old = Dictionary(shown.movies.map { ($0.id, $0) }) { first, _ in first }
        for (number, movie) in catalogue.movies.enumerated() {
            guard let before = old.removeValue(forKey: movie.id) else {
                changes[number] = .new
                continue
            }
            if before != movie { changes[number] = .changed }
        }
        removed = old.count
    }

    /// The same set without changes, for a refresh of an incomplete list: which films are new is unknown.
    var unmarked: FilmSet {
        var films = self
        films.changes = [:]
        films.removed = 0
        return films
    }

    /// `Refreshed: 2 new (+), 1 changed (~), 1 gone`.
    var summary: String {
        let counts = [
            (changes.values.count { $0 == .new }, "new (+)"),
            (changes.values.count { $0 == .changed }, "changed (~)"), (removed, "gone"),
        ]
        let parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return "Refreshed: " + (parts.isEmpty ? "nothing has changed" : parts.joined(separator: ", "))
    }
}
