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

/// A request, read once: its target, its host, who sends it, and the format and the coding of the answer. REST, pages,
/// SOAP, pictures and files are answered from it. `RequestGate.call` makes it.
struct ServiceCall: Sendable {
    let head: RequestHead
    let peer: Peer
    let target: RequestTarget
    let route: ServiceRoute
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

    /// The relative path from the target's folder to the root: empty, `../` or more. It makes addresses relative, so
    /// that they are right behind a proxy that serves another path.
    var toRoot: String { String(repeating: "../", count: max(0, target.segments.count - 1)) }

    /// - Throws: when the target of films does not have the method, or the client accepts none of the formats.
    init(
        _ head: RequestHead, _ peer: Peer, _ target: RequestTarget, _ configuration: FilmServiceConfiguration,
        writer: String? = nil, session: WriteAccess.Session? = nil
    ) throws(FilmRefusal) {
        (self.head, self.peer, self.target) = (head, peer, target)
        (self.writer, self.session) = (writer, session)
        access =
            if !configuration.isWritable {
                .reading
            } else if writer == nil {
                .login
            } else {
                .forms(isSignedIn: !configuration.writers.trustsLocal)
            }
        coding = .negotiated(head.fields)
        let (route, ending) = ServiceRoute.parse(target.segments)
        // In a folder `/` is a file, except for browsers, and there is nothing to write.
        guard
            configuration.isRoot || route == .image || ServiceRoute.isInFolder(target.segments, head)
        else {
            (self.route, format) = (.file, .json)
            return
        }
        self.route = route
        do throws(FilmRefusal) {
            format = try Self.format(head, route, ending, isWritable: configuration.isWritable)
        } catch {
            var refusal = error
            refusal.route = route.resource.label
            throw refusal
        }
    }

    private static func format(
        _ head: RequestHead, _ route: ServiceRoute, _ ending: FilmFormat?, isWritable: Bool
    ) throws(FilmRefusal) -> FilmFormat {
        if route == .file { return .json }
        let methods = route.methods(isWritable: isWritable)
        guard methods.contains(head.method) else {
            let isReadOnly = route.methods(isWritable: true).contains(head.method)
            throw .methodNotAllowed(head.method, isReadOnly: isReadOnly, allowed: methods)
        }
        let offers = head.isRead ? route.resource.reads : route.resource.answers
        if let format = FilmFormat.negotiated(ending, head.fields, among: offers) { return format }
        // An answer without a film: Accept does not matter.
        if ["DELETE", "OPTIONS"].contains(head.method) || !route.resource.hasFilms { return .json }
        let types = offers.map(\.mediaType).joined(separator: ", ")
        throw FilmRefusal(.notAcceptable, "available only as \(types)")
    }

    /// The answer to OPTIONS.
    var options: HTTPResponse {
        let methods = route.methods(isWritable: access != .reading)
        var response = HTTPResponse(status: .noContent, fields: ["Allow": methods.joined(separator: ", ")])
        for method in ["POST", "PATCH"] where methods.contains(method) {
            let accepted =
                route == .soap ? ["Accept-Post": SoapEnvelope.mediaType] : FilmContent.accepted(method)
            for field in accepted.fields { response.fields.append(field) }
        }
        return response
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
    /// - Parameter film: the present film; nil if there is none.
    func checkConditions(on film: StoredFilm?) throws(FilmError) {
        try Self.checkConditions(fields, tags: film.map(Self.entityTags))
    }

    /// A film's tags in every format and coding.
    static func entityTags(_ film: StoredFilm) -> [String] {
        FilmFormat.allCases.flatMap { ContentCoding.entityTags(entityTag(film.revision, $0)) }
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
