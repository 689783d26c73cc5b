import FilmLibrary
import FoundationEssentials
import LazyImages
import MovieCatalogue

extension Session {
    /// The service whose films a command changes.
    /// - Parameter wire: how it is asked. Default: in SOAP where the catalogue's address is that of SOAP.
    /// - Throws: `Failure` for a catalogue that cannot be changed.
    func filmClient(_ wire: FilmWire?) throws -> FilmClient {
        if settings.isOffline { throw UsageError("leave out --offline: changes go to the service at once") }
        let url: URL
        var library: FilmLibrary?
        switch source {
        case .url(let text): url = try URL(typed: text)
        case .library(let path):
            library = try FilmLibrary(path: path, access: .writing)
            url = try URL(typed: LibraryTransport.base(path))
        case .sample, .file, .missing:
            throw Failure(
                "\(source.name): a catalogue in a file is read only; make a library with "
                    + "marquee import \(source.name) films.db, and name it with --catalogue films.db")
        }
        guard var address = FilmsAddress(catalogue: url) else {
            throw Failure(
                "\(source.name): it names a file and no film service; "
                    + "name a service with --catalogue http://HOST:PORT/films, or a library with --catalogue films.db"
            )
        }
        if let wire { address.isSoap = wire == .soap }
        let opened = makeLoader(keepsFiles: false, acceptsAnyContent: true, writing: library)
        return FilmClient(
            address, opened, fields: library == nil ? settings.fields : HTTPFields(),
            library: library == nil ? nil : source.name)
    }

    /// Does something with the service whose films a command changes, and closes what it opened.
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

    /// The film of a service that `text` names: by its id, else by what its title holds.
    /// - Throws: `Failure` with the candidates when there are several or none.
    func film(_ text: String, of client: FilmClient) async throws -> FilmClient.Film {
        if FilmID.fault(text) == nil, let film = try await client.film(text) { return film }
        guard let (movie, _) = try await search(text, client.address, client.opened) else {
            throw Failure(
                "\(client.address.films.displayText): there is no film service; "
                    + "name one with --catalogue http://HOST:PORT/films")
        }
        guard let film = try await client.film(movie.id) else {
            throw Failure("\(movie.title) has just been removed", code: "no-such-film")
        }
        return film
    }
}
