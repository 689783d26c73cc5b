import HTTPServer

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
enum FilmRoute: Hashable, Sendable {
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

    /// The most films of a ranking. More are read page by page.
    static let maximumTop = 10_000

    /// The methods of the resource, in the order of Allow.
    func methods(isWritable: Bool) -> [String] {
        let reads = ["GET", "HEAD", "OPTIONS"]
        // A SOAP message that only reads is sent by POST too.
        if self == .soap { return reads + ["POST"] }
        guard isWritable else { return reads }
        return switch self {
        case .service, .top, .picture, .soap, .style: reads
        case .list, .form, .login: reads + ["POST"]
        case .film: reads + ["PUT", "PATCH", "DELETE"]
        case .poster, .rating: reads + ["PUT", "DELETE"]
        }
    }

    /// The route's label in the metrics.
    var label: HTTPRoute {
        switch self {
        case .service: .other
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
        case .rating: [.json, .xml]
        default: isRead ? FilmFormat.allCases : [.json, .xml]
        }
    }
}
