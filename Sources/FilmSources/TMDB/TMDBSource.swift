package import Films
package import FoundationEssentials
package import HTTPSemantics
import LazyImages

/// Lists of The Movie Database, by version 3 of its interface:
///
///     tmdb:popular        tmdb:top-rated        tmdb:search?q=Nosferatu        tmdb:discover?with_genres=27
///
/// Further parameters such as `language=de-DE` go to the server as they are. `tmdb+https://HOST/3:popular` names another
/// server with that interface. A page, shortened:
///
///     {"page": 1, "results": [{"id": 653, "title": "Nosferatu", "original_title": "Nosferatu, eine Symphonie des Grauens",
///       "release_date": "1922-02-16", "poster_path": "/zv7J….jpg", "genre_ids": [27], "vote_average": 7.7,
///       "vote_count": 1900, "overview": "…"}], "total_pages": 500, "total_results": 10000}
///
/// Genres have names in a list of their own. Director, length and countries are only in a film's own page.
package struct TMDBSource: FilmServer {
    package let address: URL
    package let name: String
    /// The list's path below the server's, such as `/movie/popular`.
    private let list: String
    private let parameters: [URLQueryItem]

    package var abilities: FilmAbilities {
        FilmAbilities().with {
            ($0.isRemote, $0.isEndless, $0.searches) = (true, true, true)
            $0.attribution = "This product uses the TMDB API but is not endorsed or certified by TMDB."
        }
    }

    private static let standardServer = "https://api.themoviedb.org/3"
    private static let standardPictures = "https://image.tmdb.org/t/p/"
    /// The lists by the name that a person types.
    private static let lists = [
        "popular": "/movie/popular", "top-rated": "/movie/top_rated", "search": "/search/movie",
        "discover": "/discover/movie",
    ]
    /// The last page that the server gives out, whatever `total_pages` says.
    private static let lastPage = 500

    package static let example = "tmdb:popular"

    package init?(name: String) throws(FilmFault) {
        let isStandard = name.lowercased().hasPrefix("tmdb:")
        guard isStandard || name.lowercased().hasPrefix("tmdb+") else { return nil }
        let usage = "name a list of TMDB: tmdb:popular, tmdb:top-rated or tmdb:search?q=TITLE"
        // The list follows the last colon before the parameters.
        let end = name.firstIndex(of: "?") ?? name.endIndex
        guard let colon = name[..<end].lastIndex(of: ":") else { throw .invalidName(usage) }
        let server = isStandard ? Self.standardServer : String(name[..<colon].dropFirst("tmdb+".count))
        let word = name[name.index(after: colon)..<end].lowercased().replacing("_", with: "-")
        guard let list = Self.lists[word], let parts = URLComponents(string: server),
            ["http", "https"].contains(parts.scheme?.lowercased()), parts.host?.isEmpty == false,
            parts.user == nil, parts.query == nil, let address = parts.url
        else { throw .invalidName(usage) }
        let form: FormFields
        do {
            form = try FormFields(parsing: name[end...].dropFirst().utf8)
        } catch {
            throw .invalidName("\(name): the parameters are not percent-encoded UTF-8")
        }
        let items = form.fields.map {
            URLQueryItem(name: $0.name == "q" ? "query" : $0.name, value: $0.value)
        }
        guard !items.contains(where: { $0.name == "api_key" }) else {
            throw .invalidName(
                "the name of a list has no api_key; set MARQUEE_CREDENTIALS to \"\(parts.host ?? "") Bearer KEY\""
            )
        }
        if word == "search", items.first(where: { $0.name == "query" })?.value?.trimmed.isEmpty ?? true {
            throw .invalidName("a search in TMDB needs words: tmdb:search?q=TITLE")
        }
        (self.list, self.address, parameters) = (list, address, items.filter { $0.name != "page" })
        self.name = name
    }

    /// A token of version 4 goes into a field. A key of version 3 is only taken as a parameter: it is added last, when
    /// cache key and messages have their address already.
    package func authorize(_ url: inout URL, _ fields: inout HeaderFields, with token: String) {
        let isKey = token.utf8.count == 32 && token.allSatisfy { $0.isASCII && $0.isHexDigit }
        guard isKey, var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            fields["Authorization"] = "Bearer " + token
            return
        }
        parts.queryItems = (parts.queryItems ?? []) + [URLQueryItem(name: "api_key", value: token)]
        url = parts.url ?? url
    }

    /// The parameters that choose a language.
    private var language: [URLQueryItem] { parameters.filter { $0.name == "language" } }

    /// The address of a page, from 1.
    /// - Parameter words: what its films have instead of those of the list.
    func page(_ number: Int, searching words: String? = nil) -> URL {
        let items = words.map { [URLQueryItem(name: "query", value: $0)] + language } ?? parameters
        let list = words == nil ? list : Self.lists["search"] ?? list
        return url(list, items + [URLQueryItem(name: "page", value: "\(number)")])
    }

    package func readPages(
        _ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws {
        let first = selection.pages.lowerBound
        guard first < Self.lastPage, selection.words?.trimmed.isEmpty != true else { return }
        let words = try await words(access)
        var position = 0
        for number in first + 1...Self.lastPage {
            let answer = try await answer(to: page(number, searching: selection.words), access)
            var (page, entries, pages) = try Self.page(answer.node, from: position, words, of: address)
            position += entries
            page.confirmed = answer.confirmed
            page.isLast = entries == 0 || number >= min(pages ?? .max, Self.lastPage)
            if try await !take(page) || page.isLast { return }
        }
    }

    /// What the pages leave to other lists.
    struct Words: Sendable {
        /// Where the addresses of pictures begin.
        var pictures = TMDBSource.standardPictures
        /// The genres' names by their ids.
        var genres: [Int: String] = [:]
    }

    /// Reads the address of the pictures and the names of the genres, at once.
    private func words(_ access: any FilmAccess) async throws -> Words {
        async let configuration = answer(to: url("/configuration"), access)
        async let genres = answer(to: url("/genre/movie/list", language), access)
        var words = Words()
        if let base = try await configuration.node["images"]?["secure_base_url"]?.string,
            URL(string: base)?.host()?.isEmpty == false
        {
            words.pictures = base.hasSuffix("/") ? base : base + "/"
        }
        for genre in try await genres.node["genres"]?.elements ?? [] {
            if let id = genre["id"]?.whole { words.genres[id] = genre["name"]?.string }
        }
        return words
    }

    /// The films of a page.
    /// - Parameter position: how many films came before it.
    /// - Returns: the page; how many entries it has; and how many pages there are, if that is said.
    static func page(
        _ root: JSONNode, from position: Int, _ words: Words, of server: URL
    ) throws(CatalogueError) -> (page: CataloguePage, entries: Int, pages: Int?) {
        guard let results = root["results"], results.kind == .array else {
            throw .wrongShape(expected: "an object with an array \"results\"", line: nil)
        }
        let entries = results.elements
        let page = CataloguePage(entries, after: position, base: BaseURL(server)) {
            result, position throws(CatalogueError) in
            try film(result, position: position, words)
        }
        return (page, entries.count, root["total_pages"]?.whole)
    }

    private static func film(
        _ result: JSONNode, position: Int, _ words: Words
    ) throws(CatalogueError) -> SourceFilm {
        var values = MovieFields.Values()
        var (id, votes): (Int?, Int?)
        var mean: Double?
        var ids: [String: String] = [:]
        result.forEachMember { name, value in
            switch name {
            case "id": id = value.whole
            case "title": values.set(.title, value.string)
            case "original_title": values.set(.originalTitle, value.string)
            case "release_date": values.set(.year, value.string.flatMap { Int($0.prefix(4)) })
            case "overview": values.set(.overview, value.string)
            case "poster_path":
                if let path = value.string, path.hasPrefix("/"), !path.contains("..") {
                    let width = FilmServers.widths.last ?? 0
                    values.set(.poster, "\(words.pictures)w\(width)\(PercentEncoding.visible(path))")
                }
            case "genre_ids":
                values.set(.genres, value.elements.compactMap { $0.whole.flatMap { words.genres[$0] } })
            case "genres": values.set(.genres, value.elements.compactMap { $0["name"]?.string })
            case "vote_average": mean = value.number
            case "vote_count": votes = value.whole
            case "runtime": values.set(.minutes, value.whole)
            case "production_countries":
                values.set(.country, line: value.elements.compactMap { $0["name"]?.string })
            case "credits":
                let directors =
                    value["crew"]?.elements.filter { $0["job"]?.string == "Director" }
                    .compactMap { $0["name"]?.string } ?? []
                values.set(.director, line: directors)
            case "imdb_id": ids["imdb"] = value.string.flatMap { $0.isEmpty ? nil : $0 }
            default: break
            }
        }
        if let mean, let votes, votes > 0 {
            values.set(.rating, tenths: mean)
            values.set(.votes, votes)
        }
        if let id {
            ids["tmdb"] = "\(id)"
            values.set(.id, "\(id)")
            values.set(.page, "https://www.themoviedb.org/movie/\(id)")
        }
        return try SourceFilm(values, ids: ids, position: position)
    }

    package func complete(_ film: Movie, _ access: any FilmAccess) async throws -> Movie? {
        guard Int(film.id) != nil else { return nil }
        let address = url(
            "/movie/\(film.id)", language + [URLQueryItem(name: "append_to_response", value: "credits")])
        let whole = try Self.film(try await answer(to: address, access).node, position: 1, Words()).movie
        var film = film
        for member in FilmMember.allCases where film[member] == nil || film[member] == .texts([]) {
            film[member] = whole[member]
        }
        return film
    }

    package func check(_ access: any FilmAccess) async throws -> String {
        _ = try await answer(to: url("/configuration"), access)
        return "TMDB"
    }

    // MARK: Posters

    /// Replaces the size in `/t/p/w780/zv7J….jpg`.
    package static func poster(_ address: URL, atLeast width: Int) -> URL? {
        guard var parts = URLComponents(url: address, resolvingAgainstBaseURL: true) else { return nil }
        var segments = parts.percentEncodedPath.split(separator: "/", omittingEmptySubsequences: false)
        guard segments.count == 5, segments[0].isEmpty, segments[1] == "t", segments[2] == "p",
            segments[3] == "original" || segments[3].hasPrefix("w") && Int(segments[3].dropFirst()) != nil
        else { return nil }
        segments[3] = "w\(FilmServers.width(atLeast: width))"
        parts.percentEncodedPath = segments.joined(separator: "/")
        return parts.url
    }

    /// The path of a picture changes with the picture.
    package static func isImmutable(_ poster: URL) -> Bool { poster.host() == "image.tmdb.org" }
}
