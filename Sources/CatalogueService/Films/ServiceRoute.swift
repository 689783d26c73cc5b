import HTTPSemantics
import HTTPServer
import PictureServer

/// The resource that a path of the service names.
///
///     /films  /  /movies.json              the list; / and /movies.json only if the library is served at the root
///     /films/top3  /films/top/10           the best films
///     /films/{id}
///     /films/{id}/poster
///     /films/{id}/poster/w342              a picture of the poster
///     /films/{id}/ratings/{rater}
///     /soap                                the service in SOAP 1.1
///     /openapi.json                        the description of the service
///     /add  /films/{id}/edit              the forms; also /rate and /remove
///     /login                               the page that asks for a token
///     /films/style/{version}.css          the stylesheet; beside it icon.svg
///     /image/{signature}/{recipe}/{source} a picture of any source
///     /metrics  /sources/{source}          the operators' endpoints, for tokens with the role admin
///     anything else                        a file of a served folder
enum ServiceRoute: Hashable, Sendable {
    /// The service as a whole, only for OPTIONS.
    case service
    case list
    case top(Int)
    case film(String)
    case poster(of: String)
    /// A picture of the poster by a recipe.
    case picture(String, of: String)
    case rating(of: String, by: String)
    case soap
    /// The description in OpenAPI.
    case description
    case form(PageForm)
    case login
    /// A file that the pages need.
    case style(String)
    /// A picture of any source.
    case image
    /// An endpoint for operators.
    case operations
    /// Any other path: a file of a folder.
    case file

    /// The most films of a ranking. More are read page by page.
    static let maximumTop = 10_000

    /// What is at the path.
    var resource: ServiceResource {
        switch self {
        case .service: .init(label: .other)
        case .list: .init(label: .films, writes: ["POST"], isKept: true)
        case .top: .init(label: .top, isKept: true)
        case .film: .init(label: .film, writes: ["PUT", "PATCH", "DELETE"], isKept: true)
        case .poster: .init(label: .poster, writes: ["PUT", "DELETE"], hasFilms: false, isKept: true)
        case .picture: .init(label: .picture, hasFilms: false)
        case .rating:
            .init(label: .rating, writes: ["PUT", "DELETE"], role: .rate, reads: FilmFormat.ofPrograms)
        case .soap: .init(label: .soap, writes: ["POST"], hasFilms: false, isKept: true)
        case .form(let form):
            .init(
                label: .form, writes: ["POST"], role: form.isVote ? .rate : .write, reads: [.html],
                answers: [.html])
        case .login: .init(label: .form, writes: ["POST"], reads: [.html], answers: [.html])
        case .description: .init(label: .other, hasFilms: false, isKept: true)
        case .style: .init(label: .style, hasFilms: false, isKept: true)
        case .image: .init(label: .picture, hasFilms: false)
        case .operations, .file: .init(label: .other, hasFilms: false)
        }
    }

    /// The role that a method needs. Reading needs one only of a private service.
    func role(_ method: String) -> Role { resource.writes.contains(method) ? resource.role : .read }

    /// The methods of the resource, in the order of Allow.
    func methods(isWritable: Bool) -> [String] {
        // A SOAP message that only reads is sent by POST too.
        ["GET", "HEAD", "OPTIONS"] + (isWritable || self == .soap ? resource.writes : [])
    }
}

/// A row of the table of resources.
struct ServiceResource {
    /// The route's label in the metrics.
    let label: HTTPRoute
    /// The methods that change it.
    var writes: [String] = []
    /// Who may use them.
    var role = Role.write
    /// The formats of answers to reads and to writes. HTML is only for reading; forms are for writing.
    var reads = FilmFormat.allCases
    var answers = FilmFormat.ofPrograms
    /// Whether answers have films, in the format that the client wants.
    var hasFilms = true
    /// Whether the answer to a read is kept in memory.
    var isKept = false
}

extension ServiceRoute {
    /// Reads the segments of a path, and the format of its ending.
    static func parse(
        _ segments: [String], _ configuration: FilmServiceConfiguration
    ) -> (route: ServiceRoute, ending: FilmFormat?) {
        if PictureServer.serves(segments) { return (.image, nil) }
        if configuration.takesTokens, configuration.operations?.serves(segments) == true {
            return (.operations, nil)
        }
        guard let first = segments.first else { return (.service, nil) }
        if segments.count == 1 {
            let (name, ending) = FilmFormat.split(first)
            if name == "films" { return (.list, ending) }
            if first == "soap" { return (.soap, nil) }
            if first == "openapi.json" { return (.description, nil) }
            if first == "add" { return (.form(.add), .html) }
            if first == "login" { return (.login, .html) }
            if first.isEmpty || name == "index" && ending == .html { return (.list, ending) }
            return name == "movies" && ending != nil ? (.list, ending) : (.file, nil)
        }
        let id = segments[1]
        guard first == "films", !id.isEmpty else { return (.file, nil) }
        switch segments.count {
        case 2:
            let (name, ending) = FilmFormat.split(id)
            return (name == "top3" ? .top(3) : .film(name), ending)
        case 3 where id == "top":
            let (name, ending) = FilmFormat.split(segments[2])
            guard name.utf8.allSatisfy(\.isDigit), let count = Int(name),
                (1...maximumTop).contains(count)
            else { return (.file, nil) }
            return (.top(count), ending)
        case 3 where segments[2] == "poster": return (.poster(of: id), nil)
        case 3:
            if let change = PageForm.Change(rawValue: segments[2]) {
                return (.form(.change(change, of: id)), .html)
            }
            let isStyle = id == "style" && (segments[2].hasSuffix(".css") || segments[2] == Icon.name)
            return (isStyle ? .style(segments[2]) : .file, nil)
        case 4 where segments[2] == "poster": return (.picture(segments[3], of: id), nil)
        case 4 where segments[2] == "ratings":
            var (name, ending) = FilmFormat.split(segments[3])
            // A vote has no HTML page.
            if ending == .html { (name, ending) = (segments[3], nil) }
            return FilmOperations.isRater(name) ? (.rating(of: id, by: name), ending) : (.file, nil)
        default: return (.file, nil)
        }
    }

    /// Whether a path of a served folder is for its films. `/` is a file, but for a client that prefers a page.
    static func isInFolder(_ segments: [String], _ head: RequestHead) -> Bool {
        if isOfFilms(segments) { return true }
        let ending: FilmFormat? = segments == ["index.html"] ? .html : nil
        return (segments == [""] || ending != nil) && head.isRead
            && FilmFormat.negotiated(ending, head.fields) == .html
    }

    /// Whether a path is below `films`, or that of SOAP or of the description.
    static func isOfFilms(_ segments: [String]) -> Bool {
        segments.first.map { FilmFormat.split($0).name } == "films" || segments == ["soap"]
            || segments == ["openapi.json"]
    }
}
