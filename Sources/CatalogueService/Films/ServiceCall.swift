import FilmSources
import HTTPSemantics
import HTTPServer
import PictureServer

/// What pages offer a request's sender.
struct PageAccess: Sendable, Hashable {
    /// What the sender may do; nil for a stranger, who may read what is not private.
    var role: Role?
    /// Whether a session shows the sender, so that there is a button to sign out.
    var isSignedIn = false
    /// Whether there is a page to sign in.
    var hasLogin = false

    /// Whether the sender is a stranger who can sign in.
    var asksForLogin: Bool { hasLogin && role == nil }

    func allows(_ needed: Role) -> Bool { role.map { $0 >= needed } ?? false }

    /// The part of a page's entity tag, and of a kept answer's key, that tells the accesses apart.
    var tag: String {
        guard let role else { return hasLogin ? ".login" : "" }
        return (role >= .write ? ".forms" : ".\(role)") + (isSignedIn ? ".session" : "")
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
    /// The sender, if a token or this machine shows it; nil if not.
    let sender: Sender?
    /// The sender's session; nil if there is none.
    let session: WriteAccess.Session?
    /// What pages offer the sender.
    let access: PageAccess
    /// How the answer's text is coded.
    let coding: ContentCoding
    /// Whether the resource's writing methods are served.
    private let isWritable: Bool

    var fields: HeaderFields { head.fields }
    var method: String { head.method }
    var isRead: Bool { head.isRead }

    /// The relative path from the target's folder to the root: empty, `../` or more. It makes addresses relative, so
    /// that they are right behind a proxy that serves another path.
    var toRoot: String { String(repeating: "../", count: max(0, target.segments.count - 1)) }

    /// - Throws: when the target of films does not have the method, or the client accepts none of the formats.
    init(
        _ head: RequestHead, _ peer: Peer, _ target: RequestTarget, _ configuration: FilmServiceConfiguration,
        sender: Sender? = nil, session: WriteAccess.Session? = nil
    ) throws(FilmRefusal) {
        (self.head, self.peer, self.target) = (head, peer, target)
        (self.sender, self.session) = (sender, session)
        let role = sender.map { configuration.isWritable ? $0.role : .read }
        access = PageAccess(
            role: role, isSignedIn: role != nil && !configuration.writers.trustsLocal,
            hasLogin: configuration.takesTokens)
        coding = .negotiated(head.fields)
        let (route, ending) = ServiceRoute.parse(target.segments, configuration)
        isWritable = configuration.isWritable || route == .login && configuration.isPrivate
        // In a folder `/` is a file, except for browsers, and there is nothing to write.
        guard
            configuration.isRoot || [.image, .operations].contains(route)
                || ServiceRoute.isInFolder(target.segments, head)
                || route == .login && configuration.isPrivate
        else {
            (self.route, format) = (.file, .json)
            return
        }
        self.route = route
        do throws(FilmRefusal) {
            format = try Self.format(head, route, ending, isWritable: isWritable)
        } catch {
            var refusal = error
            refusal.route = route.resource.label
            throw refusal
        }
    }

    private static func format(
        _ head: RequestHead, _ route: ServiceRoute, _ ending: FilmFormat?, isWritable: Bool
    ) throws(FilmRefusal) -> FilmFormat {
        if [.file, .operations].contains(route) { return .json }
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

    /// Whether anybody may read it, also of a private service: what the page to sign in needs, and signed pictures.
    var isOpen: Bool {
        switch route {
        case .login, .style: true
        case .image: target.segments.count > 1 && target.segments[1] != PictureAddress.unsigned
        default: false
        }
    }

    /// The answer to OPTIONS.
    var options: HTTPResponse {
        let methods = route.methods(isWritable: isWritable)
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
        // A page with a sender's forms is for that sender alone.
        let isOwn = format == .html && access.role != nil
        response.fields.append(.init(name: "Cache-Control", value: isOwn ? Page.ownCacheControl : "no-cache"))
        if format == .html { response.fields.replace(with: Page.protection) }
        return coding.applied(to: response)
    }
}
