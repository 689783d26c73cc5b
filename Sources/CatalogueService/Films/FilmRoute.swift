/// What a path of the service names.
///
///     /films  /  /movies.json              the list; the last two only where the library is served at the root
///     /films/top3  /films/top/10           the best
///     /films/{id}
///     /films/{id}/poster
///     /films/{id}/poster/w342              the poster at a size
///     /films/{id}/ratings/{rater}
///     /soap                                all of it in SOAP 1.1
///     /add  /films/{id}/edit              the forms of the pages; also /rate and /remove
///     /films/style/{version}.css          the pages' stylesheet, and beside it icon.svg
enum FilmRoute: Hashable, Sendable {
    /// The service as a whole, which only OPTIONS asks about.
    case service
    case list
    case top(Int)
    case film(String)
    case poster(of: String)
    /// A poster at a size, by a recipe.
    case picture(String, of: String)
    case rating(of: String, by: String)
    case soap
    case form(PageForm)
    /// A file that the pages need, by its name.
    case style(String)

    /// More films than these are asked for by pages.
    static let maximumTop = 10_000

    /// The methods it has, in the order of Allow.
    func methods(isWritable: Bool) -> [String] {
        let reads = ["GET", "HEAD", "OPTIONS"]
        // A message that reads comes by POST too.
        if self == .soap { return reads + ["POST"] }
        guard isWritable else { return reads }
        return switch self {
        case .service, .top, .picture, .soap, .style: reads
        case .list, .form: reads + ["POST"]
        case .film: reads + ["PUT", "PATCH", "DELETE"]
        case .poster, .rating: reads + ["PUT", "DELETE"]
        }
    }

    /// The formats that its answers have. Pages are read; what writes them are forms.
    func formats(isRead: Bool) -> [FilmFormat] {
        switch self {
        case .form: [.html]
        case .rating: [.json, .xml]
        default: isRead ? FilmFormat.allCases : [.json, .xml]
        }
    }
}
