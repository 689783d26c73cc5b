import FoundationEssentials
import HTTPSemantics
import LazyImages
import MovieCatalogue

extension Session {
    /// The film that `text` names, and the base URL of its poster. A service is first asked for the one film.
    func find(_ text: String) async throws -> (movie: Movie, base: BaseURL) {
        if case .url(let name) = source, let address = FilmsAddress(catalogue: try URL(typed: name)),
            address.isWhole || address.isSoap
        {
            let found = try await withLoader(reading: text) { opened -> (movie: Movie, base: BaseURL)? in
                if FilmID.fault(text) == nil, let film = try await one(text, address, opened) {
                    return film
                }
                return try await search(text, address, opened)
            }
            if let found { return found }
        }
        let open = try await catalogue(for: text)
        return (try film(text, in: open.catalogue), open.base)
    }

    /// The film with an id; nil if there is none.
    private func one(
        _ id: String, _ address: FilmsAddress, _ opened: OpenLoader
    ) async throws -> (movie: Movie, base: BaseURL)? {
        if address.isSoap {
            guard let film = try await soap(address, opened).film(id) else { return nil }
            return (try film.document.movie(), BaseURL(address.soap))
        }
        let url = address.film(id)
        guard let page = try await CataloguePages.readIfThere(url, opened, self)?.pages.first else {
            return nil
        }
        do throws(CatalogueError) {
            return (try FilmDocument(json: try JSONText(parsing: page.bytes)).movie(), page.base)
        } catch {
            throw Failure("\(url.displayText): the answer is not a film: \(error)")
        }
    }

    /// The film that a title names, from the service's search; nil without a service. If the search finds none, all
    /// films are read, to suggest similar names.
    func search(
        _ text: String, _ address: FilmsAddress, _ opened: OpenLoader
    ) async throws -> (movie: Movie, base: BaseURL)? {
        guard let found = try await pages(address, searching: text, opened) else { return nil }
        var pages = found
        do {
            var open = try pages.catalogue()
            if case .none = open.catalogue.match(text) {
                pages = try await self.pages(address, searching: nil, opened) ?? found
                open = try pages.catalogue()
            }
            return (try film(text, in: open.catalogue), open.base)
        } catch let error as CatalogueError {
            throw Failure("\(address.films.displayText): \(error)")
        }
    }

    private func pages(
        _ address: FilmsAddress, searching text: String?, _ opened: OpenLoader
    ) async throws -> CataloguePages? {
        if address.isSoap { return try await soap(address, opened).pages(searching: text) }
        return try await CataloguePages.readIfThere(address.pages(searching: text), opened, self)
    }

    /// The caller for a service in SOAP.
    func soap(_ address: FilmsAddress, _ opened: OpenLoader) throws -> SoapCaller {
        if settings.isOffline {
            throw UsageError("leave out --offline: answers in SOAP are not cached")
        }
        return SoapCaller(
            url: address.soap, uploader: Uploader(opened.loader),
            fields: LibraryTransport.serves(address.soap) ? HeaderFields() : settings.fields,
            name: address.soap.displayText)
    }

    /// Opens a loader for catalogues, calls `body`, and closes the loader.
    func withLoader<Value: Sendable>(
        reading name: String, _ body: (OpenLoader) async throws -> Value
    ) async throws -> Value {
        let opened = makeLoader(keepsFiles: false, acceptsAnyContent: true)
        let work = output.progress.begin {
            JobProgress(label: name, bytes: opened.loader.downloader.activity.traffic)
        }
        defer { output.progress.end(work) }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(opened))
        } catch {
            result = .failure(error)
        }
        await opened.close()
        return try result.get()
    }
}
