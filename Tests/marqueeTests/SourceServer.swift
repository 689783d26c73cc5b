import FoundationEssentials
import HTTPSemantics
import SystemSupport
import TestSupport

/// A scripted Jellyfin or TMDB: pages of films, posters, and what goes wrong with them.
final class SourceServer: Sendable {
    /// What the server does in place of an answer with films.
    enum Fault: Sendable {
        case none
        /// Answers every request so.
        case answer(String)
        /// Answers the first request with this, and later ones as usual.
        case first(String)
        /// Redirects each request to another place, as a proxy does, with its whole target.
        case redirect(String)
        /// Redirects each request to a page for signing in, with the target as a parameter.
        case signIn(String)
        /// Sends half of each page.
        case halfPage
        /// Takes no marks.
        case refusedMarks
        /// Has lost this page of a list of TMDB.
        case missingPage(Int)
    }

    /// How the server is set up.
    struct Configuration: Sendable {
        /// The most films of a page, whatever is asked for.
        var pageSize = 200
        /// The total that a page says; nil for the number of films.
        var total: Int?
        /// Whether the token is a user's, and not an API key.
        var hasUser = true
        /// Where the pictures of TMDB are; nil for this server.
        var pictures: String?
    }

    private struct State {
        var fault = Fault.none
        var films = 3
        var configuration = Configuration()
        /// The films with a mark, by the mark's route.
        var marks: [String: Set<String>] = [:]
    }

    private let state: Lock<State>
    private let origins = Lock<[ScriptedOrigin]>([])
    let token: String

    /// - Parameters:
    ///   - films: how many films there are.
    ///   - token: the token that requests must have; empty for none.
    init(films: Int = 3, token: String = "") throws {
        state = Lock(State(films: films))
        self.token = token
        let origin = try ScriptedOrigin([
            .forever([.reply { [weak self] head, _ in self?.answer(head) ?? [] }])
        ])
        origins.withLock { $0 = [origin] }
    }

    var origin: ScriptedOrigin { origins.withLock { $0[0] } }
    var place: String { "127.0.0.1:\(origin.url().port ?? 0)" }
    var jellyfin: String { "jellyfin+http://\(place)" }
    func tmdb(_ list: String) -> String { "tmdb+http://\(place)/3:\(list)" }

    /// The changes of marks, in order: `POST /UserPlayedItems/f1`.
    var changes: [String] {
        origin.heads.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
            .filter { $0.contains(" /User") }
    }

    /// The films that the server has marked, by the mark's route, such as `UserPlayedItems`.
    func marked(_ route: String) -> Set<String> { state.withLock { $0.marks[route] ?? [] } }
    func mark(_ route: String, _ film: String) {
        state.withLock { _ = $0.marks[route, default: []].insert(film) }
    }

    /// The requests' targets, in order.
    var targets: [String] { origin.heads.map { String($0.split(separator: " ")[1]) } }

    func fail(_ fault: Fault) { state.withLock { $0.fault = fault } }

    func configure(_ change: (inout Configuration) -> Void) { state.withLock { change(&$0.configuration) } }

    private func answer(_ head: String) -> [UInt8] {
        let (fault, films) = state.withLock { state in
            defer { if case .first = state.fault { state.fault = .none } }
            return (state.fault, state.films)
        }
        switch fault {
        case .answer(let text), .first(let text): return Array(text.utf8)
        case .none, .redirect, .signIn, .halfPage, .refusedMarks, .missingPage: break
        }
        let target = String(head.split(separator: " ")[1])
        var location: String?
        if case .redirect(let place) = fault { location = "http://\(place)\(target)" }
        if case .signIn(let place) = fault {
            location = "http://\(place)/login?to=\(PercentEncoding.encoded(target))"
        }
        if let location {
            return Array(
                FilmServer.response("302 Found", fields: "Location: \(location)\r\n").utf8)
        }
        guard let url = URL(string: "http://server" + target) else { return [] }
        guard isAuthorized(head, url) else { return Array(FilmServer.response("401 Unauthorized").utf8) }
        if url.path().hasSuffix("/Images/Primary") || url.path().hasPrefix("/t/p/") {
            let picture = SampleImages.png
            return Array(
                "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nAge: 99999999\r\nCache-Control: max-age=31536000\r\n"
                    .utf8) + Array("Content-Length: \(picture.count)\r\n\r\n".utf8) + picture
        }
        if url.path().hasPrefix("/User"), url.path() != "/UserViews" {
            if case .refusedMarks = fault { return Array(FilmServer.response("404 Not Found").utf8) }
            let parts = url.path().split(separator: "/").map(String.init)
            state.withLock { state in
                if head.hasPrefix("POST ") {
                    state.marks[parts[0], default: []].insert(parts[1])
                } else {
                    state.marks[parts[0]]?.remove(parts[1])
                }
            }
            return Array(FilmServer.response("200 OK", "{}").utf8)
        }
        var body = content(url, films)
        if case .halfPage = fault { body = String(body.prefix(body.count / 2)) }
        if case .missingPage(let page) = fault, target.contains("page=\(page)") { body = "" }
        return Array(FilmServer.response(body.isEmpty ? "404 Not Found" : "200 OK", body).utf8)
    }

    private func isAuthorized(_ head: String, _ url: URL) -> Bool {
        // Both servers hand out pictures to everybody.
        let open = ["/System/Info/Public", "/t/p/", "/Images/Primary"]
        if token.isEmpty || open.contains(where: { url.path().contains($0) }) { return true }
        let fields = ["mediabrowser token=\"\(token)\"", "bearer \(token)"].map {
            "authorization: \($0.lowercased())"
        }
        return fields.contains { head.lowercased().contains($0) }
            || url.query()?.contains("api_key=\(token)") == true
    }

    private func content(_ url: URL, _ films: Int) -> String {
        let configuration = state.withLock { $0.configuration }
        let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        func text(_ name: String) -> String? { items.first { $0.name == name }?.value }
        func parameter(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
        let hasUser = configuration.hasUser || text("userId") != nil
        switch url.path() {
        case "/", "/web/": return "<!DOCTYPE html><html><title>Jellyfin</title></html>"
        // A server has no views without a user.
        case "/UserViews":
            return hasUser ? #"{"Items":[{"Name":"Films","Id":"l1"},{"Name":"Kids","Id":"l2"}]}"# : ""
        case "/Library/VirtualFolders":
            return #"[{"Name":"Films","ItemId":"l1"},{"Name":"Kids","ItemId":"l2"}]"#
        case "/System/Info/Public": return #"{"ProductName":"Jellyfin Server","Version":"10.10.3"}"#
        case "/Items":
            let start = parameter("StartIndex") ?? 0
            let marks = state.withLock { $0.marks }
            // The second library has the first film alone.
            let films = text("ParentId") == "l2" ? min(films, 1) : films
            let items = (start..<max(start, min(films, start + configuration.pageSize))).map { number in
                let isPlayed = marks["UserPlayedItems"]?.contains("f\(number)") == true
                let isFavourite = marks["UserFavoriteItems"]?.contains("f\(number)") == true
                let marks =
                    hasUser ? #""UserData":{"Played":\#(isPlayed),"IsFavorite":\#(isFavourite)},"# : ""
                // Every third film has no poster.
                return
                    #"{"Id":"f\#(number)","Name":"Film \#(number)","ProductionYear":\#(1920 + number % 100),"Genres":["Horror"],"#
                    + marks
                    + #""ProviderIds":{"Imdb":"tt\#(number)"},"People":[{"Name":"Anna Director","Type":"Director"}],"#
                    + #""ImageTags":{\#(number % 3 == 2 ? "" : "\"Primary\":\"t\(number)\"")}}"#
            }
            return
                #"{"Items":[\#(items.joined(separator: ","))],"TotalRecordCount":\#(configuration.total ?? films),"StartIndex":\#(start)}"#
        case "/3/configuration":
            return #"{"images":{"secure_base_url":"http://\#(configuration.pictures ?? place)/t/p/"}}"#
        case "/3/genre/movie/list": return #"{"genres":[{"id":27,"name":"Horror"}]}"#
        case "/3/movie/popular", "/3/search/movie":
            let page = parameter("page") ?? 1
            let films = (page * 20 - 20..<min(films, page * 20)).map { number in
                #"{"id":\#(number),"title":"Film \#(number)","original_title":"Film \#(number)","poster_path":"/p\#(number).jpg","#
                    + #""release_date":"1922-02-16","genre_ids":[27],"vote_average":7.5,"vote_count":10}"#
            }
            return
                #"{"page":\#(page),"results":[\#(films.joined(separator: ","))],"total_pages":\#((self.state.withLock { $0.films } + 19) / 20)}"#
        case let path where path.hasPrefix("/3/movie/"):
            return #"""
                {"id":\#(path.split(separator: "/").last ?? "0"),"title":"Film","runtime":94,
                 "credits":{"crew":[{"job":"Director","name":"Anna Director"}]}}
                """#
        default: return ""
        }
    }
}
