package import Films
package import FoundationEssentials
package import HTTPSemantics
import LazyImages

/// The films of a Jellyfin server, versions 10.9 to 12:
///
///     jellyfin+https://nas:8920
///     jellyfin+https://example.org/jellyfin?userId=8f2c…&library=Films
///
/// A page of `/Items`, shortened:
///
///     {"Items": [{"Id": "a1b2…", "Name": "Nosferatu", "OriginalTitle": "Nosferatu, eine Symphonie des Grauens",
///       "ProductionYear": 1922, "RunTimeTicks": 56400000000, "CommunityRating": 7.7, "Genres": ["Horror"],
///       "Overview": "…", "People": [{"Name": "F. W. Murnau", "Type": "Director"}], "ProviderIds": {"Imdb": "tt0013442"},
///       "ImageTags": {"Primary": "9d0e…"}}], "TotalRecordCount": 36, "StartIndex": 0}
///
/// Every version takes the header field `Authorization: MediaBrowser Token="…"`. `X-Emby-Token` and `api_key` are refused
/// from version 12 on.
package struct JellyfinSource: FilmServer {
    package let address: URL
    /// Whose marks the films have; nil for those of the token's user.
    private let user: String?
    /// The name of the library whose films are read; nil for all films.
    private let library: String?

    private static let prefix = "jellyfin+"
    /// The films of a page.
    static let pageSize = 200
    /// The most pages: 200,000 films.
    private static let maximumPages = 1_000

    package static let example = "jellyfin+https://HOST"

    package init?(name: String) throws(FilmFault) {
        let word = name.lowercased()
        guard word.hasPrefix(Self.prefix) || word.hasPrefix("jellyfin:") else { return nil }
        let text = String(name.dropFirst(Self.prefix.count))
        guard word.hasPrefix(Self.prefix), var parts = URLComponents(string: text),
            ["http", "https"].contains(parts.scheme?.lowercased()),
            let host = parts.host, !host.isEmpty
        else {
            throw .invalidName("a Jellyfin server has an address such as jellyfin+https://nas:8920")
        }
        guard parts.user == nil, parts.password == nil else {
            throw .invalidName(
                "the address of a Jellyfin server has no user; set MARQUEE_CREDENTIALS to "
                    + "\"\(host) Bearer TOKEN\"")
        }
        let items = (parts.queryItems ?? []).map { (name: $0.name.lowercased(), value: $0.value) }
        user = items.first { $0.name == "userid" }?.value
        library = items.first { $0.name == "library" }?.value
        guard items.allSatisfy({ ["userid", "library"].contains($0.name) }), parts.fragment == nil else {
            throw .invalidName("the address of a Jellyfin server has no parameters but userId and library")
        }
        (parts.query, parts.queryItems) = (nil, nil)
        while parts.path.hasSuffix("/") { parts.path.removeLast() }
        // The address of its web pages, as a browser shows it.
        if parts.path.hasSuffix("/web") { parts.path.removeLast(4) }
        guard let url = parts.url else { throw .invalidName("\(text): this is not an address") }
        address = url
    }

    package var name: String { Self.prefix + address.absoluteString }

    package var abilities: FilmAbilities { FilmAbilities().with { $0.isRemote = true } }

    package var account: String { user.map { "\(name)?userId=\($0)" } ?? name }

    package func authorize(_ url: inout URL, _ fields: inout HeaderFields, with token: String) {
        let quoted = token.filter { $0 != "\"" && $0 != "\\" }
        fields["Authorization"] = "MediaBrowser Token=\"\(quoted)\""
    }

    /// The parameter that names the user, if one is named.
    private var userItems: [URLQueryItem] { user.map { [URLQueryItem(name: "userId", value: $0)] } ?? [] }

    /// The address of the page that begins with a film's number, from 0.
    /// - Parameter parent: the parameter that names the library.
    func page(from start: Int, in parent: [URLQueryItem] = []) -> URL {
        let fields = "Overview,Genres,People,ProviderIds,OriginalTitle,ProductionLocations,RecursiveItemCount"
        return url(
            "/Items",
            Self.films + [
                URLQueryItem(name: "Fields", value: fields), URLQueryItem(name: "SortBy", value: "SortName"),
                URLQueryItem(name: "StartIndex", value: "\(start)"),
                URLQueryItem(name: "Limit", value: "\(Self.pageSize)"),
            ] + userItems + parent)
    }

    /// The parameters that ask for films and series.
    private static let films = [
        URLQueryItem(name: "IncludeItemTypes", value: "Movie,Series"),
        URLQueryItem(name: "Recursive", value: "true"),
    ]

    package func readPages(
        _ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws {
        let parent = try await parent(access)
        var start = 0
        var seen: Set<String> = []
        for number in 1...Self.maximumPages {
            let answer = try await answer(to: page(from: start, in: parent), access)
            var (page, entries, total) = try Self.page(answer.node, from: start, of: address)
            page.confirmed = answer.confirmed
            let hasMarks = page.films.contains { $0.marks != FilmMarks() }
            if start == 0, user == nil, !hasMarks, !page.films.isEmpty {
                access.notice("\(name): the token names no user, so there are no marks; add ?userId=ID")
            }
            let before = seen.count
            for film in page.films { seen.insert(film.movie.id) }
            start += entries
            // Some servers say 0 where they have not counted. A proxy may send fewer films than asked for: then only an
            // empty page is the end.
            if let count = total, count < seen.count { total = nil }
            let isWhole = start >= (total ?? .max)
            // A server that does not know StartIndex sends the same page for ever.
            let repeats = seen.count == before
            page.isLast = isWhole || entries == 0 || repeats || number == Self.maximumPages
            if page.isLast, !isWhole || repeats && !page.films.isEmpty, let total, total > seen.count {
                page.problems.append(.incomplete(films: seen.count, total: total))
            }
            if try await !take(page) || page.isLast { return }
        }
    }

    /// The parameter that limits the films to those of the library; none for all films.
    private func parent(_ access: any FilmAccess) async throws -> [URLQueryItem] {
        guard let library else { return [] }
        var views: JSONNode?
        do {
            views = try await answer(to: url("/UserViews", userItems), access).node["Items"]
        } catch let error where user == nil && (error as? ImageLoadingError)?.isRetryable != true {
            // An API key has no user, and so no user's views.
            views = try await answer(to: url("/Library/VirtualFolders"), access).node
        }
        let libraries = views?.elements ?? []
        let wanted = FoldedText.fold(library)
        let found = libraries.first { $0["Name"]?.string.map(FoldedText.fold) == wanted }
        if let id = (found?["Id"] ?? found?["ItemId"])?.string {
            return [URLQueryItem(name: "ParentId", value: id)]
        }
        let names = libraries.compactMap { $0["Name"]?.string }.joined(separator: ", ")
        throw FilmFault("there is no library \"\(library)\"; there are \(names)", code: "no-such-library")
    }

    /// The films of a page.
    /// - Parameter start: the number of its first film, from 0.
    /// - Returns: the page; how many entries it has, films or not; and how many films there are in all, if that is said.
    static func page(
        _ root: JSONNode, from start: Int, of server: URL
    ) throws(CatalogueError) -> (page: CataloguePage, entries: Int, total: Int?) {
        // Some routes of some versions answer with the array alone.
        guard let items = root.kind == .array ? root : root["Items"], items.kind == .array else {
            throw .wrongShape(expected: "an object with an array \"Items\"", line: nil)
        }
        let entries = items.elements
        let page = CataloguePage(entries, after: start, base: BaseURL(server)) {
            item, position throws(CatalogueError) in
            try film(item, position: position, of: server)
        }
        return (page, entries.count, root["TotalRecordCount"]?.whole)
    }

    private static func film(
        _ item: JSONNode, position: Int, of server: URL
    ) throws(CatalogueError) -> SourceFilm {
        var values = MovieFields.Values()
        var (id, tag): (String?, String?)
        let isSeries = item["Type"]?.string == "Series"
        var ids: [String: String] = [:]
        var marks = FilmMarks()
        item.forEachMember { name, value in
            switch name {
            case "Id": id = value.string
            case "Name": values.set(.title, value.string)
            case "OriginalTitle": values.set(.originalTitle, value.string)
            case "ProductionYear": values.set(.year, value.whole)
            case "RunTimeTicks":
                values.set(.minutes, value.number.map { ($0 / ticksOfMinute).rounded() })
            case "CommunityRating": values.set(.score, tenths: value.number)
            case "Overview": values.set(.overview, value.string.map(HTMLText.plain))
            case "Genres": values.set(.genres, value.elements.compactMap(\.string))
            case "ProductionLocations": values.set(.country, line: value.elements.compactMap(\.string))
            case "People":
                let directors = value.elements.filter { $0["Type"]?.string == "Director" }
                values.set(.director, line: directors.compactMap { $0["Name"]?.string })
            case "ProviderIds":
                value.forEachMember { name, id in
                    ids[name.lowercased()] = id.string.flatMap { $0.isEmpty ? nil : $0 }
                }
            case "ImageTags": tag = value["Primary"]?.string
            case "UserData":
                value.forEachMember { name, value in
                    if let mark = marksByName[name] { marks[mark] = value.flag == true ? 1 : 0 }
                }
            default: break
            }
        }
        values.set(.id, id)
        if let id, FilmID.fault(id) == nil {
            let address = server.absoluteString
            let escaped = PercentEncoding.encoded(id)
            if !isSeries { values.set(.media, video(id, of: server)) }
            if let tag, !tag.isEmpty {
                let poster =
                    "\(address)/Items/\(escaped)/Images/Primary?tag=\(PercentEncoding.encoded(tag))"
                    + "&maxWidth=\(FilmServers.widths.last ?? 0)&quality=90&format=Webp"
                values.set(.poster, poster)
            }
            values.set(.page, "\(address)/web/#/details?id=\(escaped)")
        }
        var film = try SourceFilm(values, ids: ids, marks: marks, position: position)
        if isSeries { film.movie.unreadEpisodes = item["RecursiveItemCount"]?.whole ?? 0 }
        return film
    }

    /// The address of a video. Needs no token in any version so far (jellyfin/jellyfin issue 13984), so a player gets none.
    private static func video(_ id: String, of server: URL) -> String {
        "\(server.absoluteString)/Videos/\(PercentEncoding.encoded(id))/stream?static=true"
    }

    /// Adds the episodes of a series, but those that are missing on the server. Specials come last.
    package func complete(_ film: Movie, _ access: any FilmAccess) async throws -> Movie? {
        guard film.unreadEpisodes != nil else { return nil }
        let missing = URLQueryItem(name: "isMissing", value: "false")
        let items = userItems + [missing, URLQueryItem(name: "enableUserData", value: "true")]
        let root = try await answer(to: url("/Shows/\(film.id)/Episodes", items), access).node
        let episodes = (root["Items"] ?? root).elements.compactMap { item -> FilmPart? in
            guard let id = item["Id"]?.string, FilmID.fault(id) == nil,
                item["LocationType"]?.string != "Virtual"
            else { return nil }
            return FilmPart(
                season: item["ParentIndexNumber"]?.whole ?? 1, number: item["IndexNumber"]?.whole,
                title: item["Name"]?.string ?? "", media: Self.video(id, of: address),
                isSeen: item["UserData"]?["Played"]?.flag == true, id: id)
        }
        var whole = film
        whole.unreadEpisodes = nil
        whole.parts = episodes.filter { $0.season != 0 } + episodes.filter { $0.season == 0 }
        whole[.media] = whole.parts.first.map { .text($0.media) }
        return whole
    }

    /// The marks of the user: played and favourite.
    package func request(
        toSet mark: FilmMark, _ isSet: Bool, of film: String
    ) -> (method: RequestMethod, url: URL)? {
        let routes: [FilmMark: String] = [.seen: "/UserPlayedItems/", .favourite: "/UserFavoriteItems/"]
        guard FilmID.fault(film) == nil, let route = routes[mark] else { return nil }
        return (isSet ? .post : .delete, url(route + film, userItems))
    }

    private static let marksByName: [String: FilmMark] = ["Played": .seen, "IsFavorite": .favourite]
    /// A tick is 100 ns.
    private static let ticksOfMinute = 600_000_000.0

    package func check(_ access: any FilmAccess) async throws -> String {
        let system = try await answer(to: url("/System/Info/Public"), access).node
        let product = system["ProductName"]?.string ?? "a server"
        let version = system["Version"]?.string ?? "of unknown version"
        let parent = try await parent(access)
        _ = try await answer(
            to: url("/Items", Self.films + [URLQueryItem(name: "Limit", value: "1")] + parent), access)
        return "\(product) \(version)"
    }

    /// Why an address is no list of films: it is a Jellyfin's. Nil if there is no Jellyfin.
    static func fault(at address: String, _ access: any FilmAccess) async -> (any Error)? {
        // Ignored: a server of another kind need not answer.
        guard let server = try? JellyfinSource(name: prefix + address),
            let system = try? await server.answer(to: server.url("/System/Info/Public"), access).node,
            system["ProductName"]?.string?.hasPrefix("Jellyfin") == true
        else { return nil }
        return FilmFault.invalidName("\(address): this is a Jellyfin server; write \(server.name)")
    }

    // MARK: Posters

    package static func poster(_ address: URL, atLeast width: Int) -> URL? {
        guard isPoster(address), var parts = URLComponents(url: address, resolvingAgainstBaseURL: true) else {
            return nil
        }
        parts.queryItems = parts.queryItems?.map { item in
            item.name == "maxWidth"
                ? URLQueryItem(name: item.name, value: "\(FilmServers.width(atLeast: width))") : item
        }
        return parts.url
    }

    /// A picture's tag changes with the picture. The server's Age counts from the change of its file, so that a picture
    /// older than a year would arrive stale.
    package static func isImmutable(_ poster: URL) -> Bool {
        isPoster(poster) && (poster.query()?.contains("tag=") ?? false)
    }

    private static func isPoster(_ address: URL) -> Bool {
        let path = address.path(percentEncoded: true)
        return path.hasSuffix("/Images/Primary") && path.contains("/Items/")
    }
}
