import FilmSources
import HTTPSemantics
import HTTPServer

/// What pages offer a request's sender.
enum PageAccess: Sendable, Hashable {
    /// Films to look at: the library is not writable.
    case reading
    /// A link to the login page.
    case login
    /// Forms, and a button to sign out for a sender with a session.
    case forms(isSignedIn: Bool)

    var showsForms: Bool { if case .forms = self { true } else { false } }

    /// The part of a page's entity tag, and of a kept answer's key, that tells the accesses apart.
    var tag: String {
        switch self {
        case .reading: ""
        case .login: ".login"
        case .forms(isSignedIn: false): ".forms"
        case .forms(isSignedIn: true): ".forms.session"
        }
    }
}

/// A parsed request: its target, its method, and the format of the answer.
struct FilmCall: Sendable {
    let head: RequestHead
    let peer: Peer
    var target: FilmTarget
    /// The format of an answer with films. JSON for other content.
    let format: FilmFormat
    /// The name of the sender in logs, if it may write; nil if not.
    let writer: String?
    /// The sender's session; nil if there is none.
    let session: WriteAccess.Session?
    /// What pages offer the sender.
    let access: PageAccess
    /// How the answer's text is coded.
    let coding: ContentCoding

    var fields: HeaderFields { head.fields }
    var method: String { head.method }
    var isRead: Bool { head.isRead }

    /// Reads a head.
    /// - Throws: when the target is malformed or not served, the target does not have the method, or the client accepts
    ///   none of the formats.
    init(
        _ head: RequestHead, _ peer: Peer, _ target: RequestTarget, _ configuration: FilmServiceConfiguration,
        writer: String? = nil, session: WriteAccess.Session? = nil
    ) throws(FilmRefusal) {
        guard let target = FilmTarget(target, isRoot: configuration.isRoot) else {
            throw .nothingHere
        }
        let methods = target.route.methods(isWritable: configuration.isWritable)
        guard methods.contains(head.method) else {
            let isReadOnly = target.route.methods(isWritable: true).contains(head.method)
            throw .methodNotAllowed(head.method, isReadOnly: isReadOnly, allowed: methods)
        }
        self.head = head
        self.peer = peer
        self.target = target
        self.writer = writer
        self.session = session
        access =
            if !configuration.isWritable {
                .reading
            } else if writer == nil {
                .login
            } else {
                .forms(isSignedIn: !configuration.writers.trustsLocal)
            }
        coding = .negotiated(head.fields)
        let offers = target.route.formats(isRead: head.isRead)
        guard
            let format = FilmFormat.negotiated(target.ending, head.fields, among: offers)
                ?? Self.formatWithoutContent(head, target)
        else {
            let types = offers.map(\.mediaType).joined(separator: ", ")
            throw FilmRefusal(.notAcceptable, "available only as \(types)")
        }
        self.format = format
        // In a folder, `/` is a file. Only its page is served here.
        guard !target.isRoot || configuration.isRoot || format == .html else { throw .nothingHere }
    }

    /// The format if the answer has no film, so that Accept does not matter.
    private static func formatWithoutContent(_ head: RequestHead, _ target: FilmTarget)
        -> FilmFormat?
    {
        if ["DELETE", "OPTIONS"].contains(head.method) { return .json }
        return switch target.route {
        case .poster, .picture, .soap, .style: .json
        default: nil
        }
    }

    /// Whether the answer to a read is kept.
    var isKept: Bool {
        switch target.route {
        case .list, .top, .film, .poster, .soap, .style: true
        case .service, .picture, .rating, .form, .login: false
        }
    }

    /// Whether the request needs a body.
    var needsBody: Bool { ["POST", "PUT", "PATCH"].contains(method) }

    /// The strong entity tag of a revision in the answer's format and coding. Each has its own.
    func entityTag(_ revision: some CustomStringConvertible) -> String {
        guard format == .html else { return coding.entityTag(Self.entityTag(revision, format)) }
        // A page also changes with the program that writes it.
        let tag = "\"\(revision).html.\(Stylesheet.version)\(access.tag)\""
        return coding.entityTag(tag)
    }

    /// Checks the conditions of a write (RFC 9110 section 13). Those of a read are checked where its answer is sent.
    /// - Parameter film: the present film; nil if there is none. Its tags of every format and coding count.
    static func checkConditions(_ fields: HeaderFields, on film: StoredFilm?) throws(FilmError) {
        let tags = film.map { film in
            FilmFormat.allCases.flatMap { ContentCoding.entityTags(entityTag(film.revision, $0)) }
        }
        try checkConditions(fields, tags: tags)
    }

    /// The same for this request.
    func checkConditions(on film: StoredFilm?) throws(FilmError) {
        try Self.checkConditions(fields, on: film)
    }

    /// Checks the conditions of a write on a resource with these entity tags; nil if it does not exist.
    static func checkConditions(_ fields: HeaderFields, tags: [String]?) throws(FilmError) {
        let conditions = Preconditions(
            fields, isRead: false, entityTag: tags?.first, equivalentTags: tags ?? [])
        if conditions.outcome != .proceed { throw failedCondition(fields, isThere: tags != nil) }
    }

    /// Names the failed condition.
    static func failedCondition(_ fields: HeaderFields, isThere: Bool) -> FilmError {
        .conditionFailed(
            !isThere
                ? "If-Match needs a film that exists"
                : fields["if-match"] == nil
                    ? "it exists already, which If-None-Match excludes"
                    : "it has changed since; get it again and repeat the change")
    }

    static func entityTag(_ revision: some CustomStringConvertible, _ format: FilmFormat) -> String {
        "\"\(revision).\(format.rawValue)\""
    }

    /// An answer in the format that the client wants.
    func response(
        _ body: [UInt8], status: HTTPStatus = .ok, fields: HeaderFields = HeaderFields()
    ) -> HTTPResponse {
        var response = HTTPResponse(status: status, fields: fields, body: .bytes(body))
        response.fields.append(.init(name: "Content-Type", value: format.mediaType))
        response.fields.append(.init(name: "Vary", value: "Accept"))
        // A page with forms is for its writer alone.
        let isOwn = format == .html && access.showsForms
        response.fields.append(.init(name: "Cache-Control", value: isOwn ? Page.ownCacheControl : "no-cache"))
        if format == .html { response.fields.replace(with: Page.protection) }
        return coding.applied(to: response)
    }
}

/// A parsed request target.
struct FilmTarget: Sendable {
    let route: FilmRoute
    /// The format of the path's ending.
    let ending: FilmFormat?
    let query: FormFields
    /// The relative path from the target's folder to the root: empty, `../` or more. It makes addresses relative, so
    /// that they are right behind a proxy that serves another path.
    var toRoot: String
    /// Whether it is `/`, which is a file in a folder.
    let isRoot: Bool

    /// Reads a target; nil if nothing is served there.
    /// - Parameter isRoot: whether the library is served at the root too.
    init?(_ target: RequestTarget, isRoot: Bool) {
        guard let (route, ending) = Self.route(target.segments, isRoot: isRoot) else { return nil }
        self.route = route
        self.ending = ending
        query = target.query
        toRoot = String(repeating: "../", count: max(0, target.segments.count - 1))
        self.isRoot = route == .list && !target.segments[0].hasPrefix("films")
    }

    private static func route(_ segments: [String], isRoot: Bool) -> (FilmRoute, FilmFormat?)? {
        guard let first = segments.first else { return (.service, nil) }
        if segments.count == 1 {
            let (name, ending) = FilmFormat.split(first)
            if name == "films" { return (.list, ending) }
            if first == "soap" { return (.soap, nil) }
            if first == "add" { return (.form(.add), .html) }
            if first == "login" { return (.login, .html) }
            if first.isEmpty || name == "index" && ending == .html { return (.list, ending) }
            return isRoot && name == "movies" && ending != nil ? (.list, ending) : nil
        }
        let id = segments[1]
        guard first == "films", !id.isEmpty else { return nil }
        switch segments.count {
        case 2:
            let (name, ending) = FilmFormat.split(id)
            return (name == "top3" ? .top(3) : .film(name), ending)
        case 3 where id == "top":
            let (name, ending) = FilmFormat.split(segments[2])
            guard name.utf8.allSatisfy(\.isDigit), let count = Int(name),
                (1...FilmRoute.maximumTop).contains(count)
            else { return nil }
            return (.top(count), ending)
        case 3 where segments[2] == "poster": return (.poster(of: id), nil)
        case 3:
            if let change = PageForm.Change(rawValue: segments[2]) {
                return (.form(.change(change, of: id)), .html)
            }
            guard id == "style", segments[2].hasSuffix(".css") || segments[2] == Icon.name else {
                return nil
            }
            return (.style(segments[2]), nil)
        case 4 where segments[2] == "poster": return (.picture(segments[3], of: id), nil)
        case 4 where segments[2] == "ratings":
            var (name, ending) = FilmFormat.split(segments[3])
            // A vote has no HTML page.
            if ending == .html { (name, ending) = (segments[3], nil) }
            return FilmOperations.isRater(name) ? (.rating(of: id, by: name), ending) : nil
        default: return nil
        }
    }

    /// Whether a path names a film's poster.
    static func isPoster(_ segments: [String]) -> Bool {
        switch route(segments, isRoot: false)?.0 {
        case .poster, .picture: true
        default: false
        }
    }
}

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
    fileprivate static let maximumTop = 10_000

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
        case .rating: FilmFormat.ofPrograms
        default: isRead ? FilmFormat.allCases : FilmFormat.ofPrograms
        }
    }
}
