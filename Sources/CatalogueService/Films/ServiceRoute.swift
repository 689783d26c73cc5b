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
///     /add  /films/{id}/edit              the forms; also /rate and /remove
///     /login                               the page that asks for a token
///     /films/style/{version}.css          the stylesheet; beside it icon.svg
///     /image/{signature}/{recipe}/{source} a picture of any source
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
    case form(PageForm)
    case login
    /// A file that the pages need.
    case style(String)
    /// A picture of any source.
    case image
    /// Any other path: a file of a folder.
    case file

    /// The most films of a ranking. More are read page by page.
    fileprivate static let maximumTop = 10_000

    /// The methods of the resource, in the order of Allow.
    func methods(isWritable: Bool) -> [String] {
        let reads = ["GET", "HEAD", "OPTIONS"]
        // A SOAP message that only reads is sent by POST too.
        if self == .soap { return reads + ["POST"] }
        guard isWritable else { return reads }
        return switch self {
        case .service, .top, .picture, .soap, .style, .image, .file: reads
        case .list, .form, .login: reads + ["POST"]
        case .film: reads + ["PUT", "PATCH", "DELETE"]
        case .poster, .rating: reads + ["PUT", "DELETE"]
        }
    }

    /// The route's label in the metrics.
    var label: HTTPRoute {
        switch self {
        case .service, .image, .file: .other
        case .list: .films
        case .top: .top
        case .film: .film
        case .poster: .poster
        case .picture: .picture
        case .rating: .rating
        case .soap: .soap
        case .form, .login: .form
        case .style: .style
        }
    }

    /// The formats of the resource's answers. HTML is only for reading; forms are for writing.
    func formats(isRead: Bool) -> [FilmFormat] {
        switch self {
        case .form, .login: [.html]
        case .rating: FilmFormat.ofPrograms
        default: isRead ? FilmFormat.allCases : FilmFormat.ofPrograms
        }
    }

    /// Whether answers have films, in the format that the client wants.
    var hasFilms: Bool {
        switch self {
        case .poster, .picture, .soap, .style, .image, .file: false
        default: true
        }
    }
}

extension ServiceRoute {
    /// Reads the segments of a path, and the format of its ending.
    static func parse(_ segments: [String]) -> (route: ServiceRoute, ending: FilmFormat?) {
        if PictureServer.serves(segments) { return (.image, nil) }
        guard let first = segments.first else { return (.service, nil) }
        if segments.count == 1 {
            let (name, ending) = FilmFormat.split(first)
            if name == "films" { return (.list, ending) }
            if first == "soap" { return (.soap, nil) }
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
                (1...ServiceRoute.maximumTop).contains(count)
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

    /// Whether a path is below `films`, or that of SOAP.
    static func isOfFilms(_ segments: [String]) -> Bool {
        segments.first.map { FilmFormat.split($0).name } == "films" || segments == ["soap"]
    }
}
