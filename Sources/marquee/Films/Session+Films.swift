import FilmLibrary
import FoundationEssentials
import LazyImages
import MovieCatalogue

extension Session {
    /// The service of the catalogue, for changes.
    /// - Parameter wire: REST or SOAP. Default: SOAP if the catalogue's address is the SOAP one.
    /// - Throws: `Failure` for a catalogue that cannot be changed.
    func filmClient(_ wire: FilmWire?) throws -> FilmClient {
        if settings.isOffline { throw UsageError("leave out --offline: changes go to the service at once") }
        let url: URL
        var library: FilmLibrary?
        switch source {
        case .url(let text): url = try URL(typed: text).withOwnLoopback
        case .library(let path):
            library = try FilmLibrary(path: path, access: .writing)
            url = try URL(typed: LibraryTransport.base(path))
        case .sample:
            throw Failure(
                "the sample is read-only; make a library with marquee import \(SampleCatalogue.word) films.db, "
                    + "and name it with --catalogue films.db")
        case .file, .folder, .missing:
            throw Failure(
                "\(source.name): a catalogue file is read-only; make a library with "
                    + "marquee import \(source.name) films.db, and name it with --catalogue films.db")
        }
        guard var address = FilmsAddress(catalogue: url) else {
            throw Failure(
                "\(source.name): this is a file, not a film service; "
                    + "name a service with --catalogue http://HOST:PORT/films, or a library with --catalogue films.db"
            )
        }
        if let wire { address.isSoap = wire == .soap }
        let opened = writing().makeLoader(keepsFiles: false, acceptsAnyContent: true, writing: library)
        return FilmClient(
            address, opened, fields: library == nil ? settings.fields : HeaderFields(),
            library: library == nil ? nil : source.name)
    }

    /// Opens the service of the catalogue, calls `body`, and closes the service.
    func withFilms(
        _ wire: FilmWire? = nil, _ body: (FilmClient) async throws -> ExitStatus
    ) async throws -> ExitStatus {
        let client = try filmClient(wire)
        let result: Result<ExitStatus, any Error>
        do {
            result = .success(try await body(client))
        } catch {
            result = .failure(error)
        }
        await client.close()
        return try result.get()
    }

    /// The film that `text` names in a service: by id, else by title.
    /// - Throws: `Failure` with the candidates if there are several or none.
    func film(_ text: String, of client: FilmClient) async throws -> FilmClient.Film {
        if FilmID.fault(text) == nil, let film = try await client.film(text) { return film }
        guard let (movie, _) = try await search(text, client.address, client.opened) else {
            throw Failure(
                "\(client.address.films.displayText): no film service answers; "
                    + "name one with --catalogue http://HOST:PORT/films")
        }
        guard let film = try await client.film(movie.id) else {
            throw Failure("\(movie.title) has just been removed", code: "no-such-film")
        }
        return film
    }
}
