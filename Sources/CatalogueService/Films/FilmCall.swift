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
    /// What pages offer the sender.
    let access: PageAccess
    /// How the answer's text is coded.
    let coding: ContentCoding

    var fields: HeaderFields { head.fields }
    var method: String { head.method }
    var isRead: Bool { head.method == "GET" || head.method == "HEAD" }

    /// Reads a head.
    /// - Throws: when the target is malformed or not served, the target does not have the method, or the client accepts
    ///   none of the formats.
    init(
        _ head: RequestHead, _ peer: Peer, _ target: RequestTarget, _ configuration: FilmServiceConfiguration,
        writer: String? = nil
    ) throws(FilmRefusal) {
        guard let target = FilmTarget(target, isRoot: configuration.isRoot) else {
            throw .nothingHere
        }
        let methods = target.route.methods(isWritable: configuration.isWritable)
        guard methods.contains(head.method) else {
            let isReadOnly = target.route.methods(isWritable: true).contains(head.method)
            throw FilmRefusal(
                .methodNotAllowed,
                isReadOnly
                    ? "this library is read-only; its operator can start it with --writable"
                    : "\(head.method) is not allowed here",
                fields: ["Allow": methods.joined(separator: ", ")])
        }
        self.head = head
        self.peer = peer
        self.target = target
        self.writer = writer
        access =
            if !configuration.isWritable {
                .reading
            } else if writer == nil {
                .login
            } else {
                .forms(isSignedIn: !configuration.writers.trustsLocal)
            }
        coding = .negotiated(head.fields)
        let offers = target.route.formats(isRead: ["GET", "HEAD"].contains(head.method))
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
    /// - Parameter revision: the present revision; nil if there is no film.
    /// - Throws: when a condition fails.
    func checkConditions(_ revision: (some CustomStringConvertible)?) throws(FilmRefusal) {
        let conditions = Preconditions(
            fields, isRead: false, entityTag: revision.map { entityTag($0) },
            equivalentTags: revision.map { revision in
                FilmFormat.allCases.flatMap { ContentCoding.entityTags(Self.entityTag(revision, $0)) }
            } ?? [])
        guard conditions.outcome == .proceed else { throw .failedCondition(fields, isThere: revision != nil) }
    }

    private static func entityTag(_ revision: some CustomStringConvertible, _ format: FilmFormat) -> String {
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
        response.fields.append(.init(name: "Cache-Control", value: isOwn ? "private, no-store" : "no-cache"))
        if format == .html { response.fields.replace(with: Page.protection) }
        return coding.applied(to: response)
    }
}
