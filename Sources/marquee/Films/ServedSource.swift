import FilmSources
import Films
import LazyImages
import SystemSupport

/// The films of a source as a library in memory, which a service hands out. They are read again from time to time.
struct ServedSource: Sendable {
    let library: FilmLibrary
    private let session: Session

    /// How old the films may get.
    private static let interval = Duration.seconds(600)

    /// Reads the films, or those that were cached if the server does not answer.
    init(_ session: Session) async throws {
        self.session = session
        library = try FilmLibrary(inMemoryFor: session.provider.name)
        try await read()
    }

    /// Reads the films again after each interval, until the task is cancelled.
    func keepCurrent() -> Task<Void, Never> {
        Task { [self] in
            while true {
                do { try await Task.sleep(for: Self.interval) } catch { return }
                do {
                    try await read()
                } catch {
                    session.output.failure("\(ImageLoadingError.advised(error)); the films stay as they were")
                }
            }
        }
    }

    private func read() async throws {
        let films = try await session.catalogue(orCached: true)
        session.reportOutage(of: films)
        let movies = films.catalogue.movies
        try await BlockingThreads(count: 1, name: "marquee-films").run({
            Failure($0, doing: "reading the films")
        }) { [library] () throws in try replace(library, by: movies) }
    }

    /// Changes what differs, so that entity tags of other films stay.
    private func replace(_ library: FilmLibrary, by movies: [Movie]) throws {
        try library.importFilms { importing in
            for movie in movies where FilmID.fault(movie.id) == nil {
                var document = SourceFilm(movie, ids: [:]).document
                document["id"] = nil
                _ = try importing.add(document, id: movie.id, poster: nil, replaces: true)
            }
        }
        let present = Set(movies.map(\.id))
        var gone: [String] = []
        try library.forEach { film throws(FilmLibraryError) in
            if !present.contains(film.id) { gone.append(film.id) }
            return true
        }
        for id in gone { _ = try library.remove(id) { _ in } }
    }
}
