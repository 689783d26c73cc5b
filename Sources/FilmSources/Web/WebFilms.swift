import Films
import FoundationEssentials
import LazyImages

/// The films at an address: of a catalogue or a feed in one or more pages, or of a film service that is used by REST. Each
/// page links to the next at the same server: in its Link field (RFC 8288), or in a feed by its element `link` (RFC 5005,
/// section 3).
package struct WebFilms: FilmProvider {
    /// The address as typed.
    private let text: String
    /// Nil for an invalid address, which reading reports.
    private let url: URL?
    /// The film service, if the address is one's list of films, or its root.
    private let service: FilmsAddress?

    package init(_ text: String) {
        self.text = text
        // Ignored: reading reports it.
        url = try? URL(typed: text)
        service = url.flatMap { FilmsAddress(catalogue: $0) }
    }

    /// The most pages and bytes of a catalogue.
    package static let maximumPages = 10_000
    private static let maximumBytes = 512 << 20

    // Hides credentials in an address. An invalid one is shown as typed.
    package var name: String { url?.displayText ?? text }

    package var abilities: FilmAbilities {
        FilmAbilities().with {
            ($0.isRemote, $0.searches) = (true, service?.isWhole == true)
            $0.serving = .afterImport(of: text)
            guard service != nil, let url else {
                let advice = "name a service with --catalogue http://HOST:PORT/films, or a library with "
                $0.writing = .refused(
                    "\(name): this is a file, not a film service; \(advice)--catalogue films.db")
                return
            }
            $0.writing = .service(url)
        }
    }

    package func readPages(
        _ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws {
        if let service, service.isWhole {
            if let words = selection.words {
                _ = try await read(service.pages(searching: words), ifThere: true, access, take)
                return
            }
            let best = selection.first.flatMap { $0.order == .score ? service.top($0.count) : nil }
            for url in [best, service.isNamed ? service.pages() : nil].compactMap(\.self)
            where try await read(url, ifThere: true, access, take) { return }
        }
        do {
            _ = try await read(try URL(typed: text), ifThere: false, access, take)
        } catch let error as CatalogueError {
            throw await JellyfinSource.fault(at: text, access) ?? error
        }
    }

    package func film(_ id: String, _ access: any FilmAccess) async throws -> FoundFilm? {
        guard let service, service.isWhole else { return nil }
        let url = service.film(id)
        guard let answer = try await answer(to: url, ifThere: true, access) else { return nil }
        do {
            let film = try FilmDocument(json: try JSONText(parsing: answer.bytes))
            return FoundFilm(try film.movie(), base: answer.base)
        } catch {
            throw FilmFault("\(url.displayText): the answer is not a film: \(error)")
        }
    }

    /// Reads the page at an address and all pages after it.
    /// - Parameter ifThere: whether an address without a page is no error.
    /// - Returns: whether there was a page.
    private func read(
        _ start: URL, ifThere: Bool, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws -> Bool {
        var visited: Set<String> = [CacheKey(url: start).text]
        var (url, bytes) = (start, 0)
        while let answer = try await answer(to: url, ifThere: ifThere && url == start, access) {
            let next = try following(answer, visited, access)
            let page = CataloguePage(
                answer.bytes, base: answer.base, confirmed: answer.confirmed, isLast: next == nil)
            guard try await take(page), let next else { return true }
            bytes += answer.bytes.count
            guard visited.count <= Self.maximumPages, bytes <= Self.maximumBytes else {
                throw FilmFault("\(url.displayText): the catalogue is too large; name a smaller one")
            }
            guard visited.insert(CacheKey(url: next).text).inserted else {
                throw FilmFault("\(next.displayText): the links of the catalogue's pages form a loop")
            }
            url = next
        }
        return false
    }

    /// - Returns: nil if there is no such page, or if it is not cached while offline, and that is no error.
    private func answer(
        to url: URL, ifThere: Bool, _ access: any FilmAccess
    ) async throws -> FilmAnswer? {
        do {
            return try await access.answer(to: url, [:])
        } catch ImageLoadingError.httpStatus(_, status: 404) where ifThere {
            return nil
        } catch ImageLoadingError.notCached where ifThere {
            return nil
        }
    }

    /// The page that an answer links to, by its field before its content; nil for the last one.
    ///
    /// The link of a feed that leads to a page already read, or to another server, ends the reading: a service that
    /// hands out one page of a feed hands out its link too.
    private func following(
        _ answer: FilmAnswer, _ visited: Set<String>, _ access: any FilmAccess
    ) throws -> URL? {
        let page = answer.base.url
        guard let target = answer.next else {
            guard let target = Catalogue.nextPage(in: answer.bytes) else { return nil }
            let url = try URL(typed: target, relativeTo: page)
            guard SecurityPolicy.haveSameOrigin(url, page) else {
                access.notice(
                    "\(page.displayText): the feed goes on at another server, \(url.displayText); "
                        + "name that address to read it")
                return nil
            }
            return visited.contains(CacheKey(url: url).text) ? nil : url
        }
        let url = try URL(typed: target.isEmpty ? page.absoluteString : target, relativeTo: page)
        guard SecurityPolicy.haveSameOrigin(url, page) else {
            throw FilmFault(
                "\(page.displayText): the next page is on another server, \(url.displayText); "
                    + "name that one with --catalogue if you trust it")
        }
        return url
    }
}
