import HTTPSemantics
import HTTPServer

/// A request as the service reads it: what it names, what is to be done, and in which format the answer is wanted.
struct FilmCall: Sendable {
    let head: RequestHead
    var target: FilmTarget
    /// The format of an answer with films. JSON where the route has other content.
    let format: FilmFormat
    /// Whether pages have the forms that write.
    let showsForms: Bool

    var fields: HTTPFields { head.fields }
    var method: String { head.method }
    var isRead: Bool { head.method == "GET" || head.method == "HEAD" }

    /// Reads a head. Throws for what is no target or nothing that is served, for a method that the route does not have, and
    /// for a client that takes no format there is.
    init(
        _ head: RequestHead, _ target: RequestTarget, _ configuration: FilmServiceConfiguration,
        showsForms: Bool = false
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
                    ? "this library is read only; start with --writable to change it"
                    : "\(head.method) is not allowed here",
                fields: ["Allow": methods.joined(separator: ", ")])
        }
        self.head = head
        self.target = target
        self.showsForms = showsForms
        let offers = target.route.formats(isRead: ["GET", "HEAD"].contains(head.method))
        guard
            let format = FilmFormat.negotiated(target.ending, head.fields, among: offers)
                ?? Self.formatWithoutContent(head, target)
        else {
            let types = offers.map(\.mediaType).joined(separator: ", ")
            throw FilmRefusal(.notAcceptable, "this is given as \(types)")
        }
        self.format = format
        // Of a folder `/` is a file; its page alone is here.
        guard !target.isRoot || configuration.isRoot || format == .html else { throw .nothingHere }
    }

    /// The format where the answer has no film in it, and so nothing depends on Accept.
    private static func formatWithoutContent(_ head: RequestHead, _ target: FilmTarget)
        -> FilmFormat?
    {
        if ["DELETE", "OPTIONS"].contains(head.method) { return .json }
        return switch target.route {
        case .poster, .picture, .soap, .style: .json
        default: nil
        }
    }

    /// Whether the request needs a body.
    var needsBody: Bool { ["POST", "PUT", "PATCH"].contains(method) }

    /// The strong entity tag of a state in the format of the answer. States in other formats have others.
    func entityTag(_ revision: some CustomStringConvertible) -> String {
        guard format == .html else { return Self.entityTag(revision, format) }
        // A page also changes with the program that writes it.
        return "\"\(revision).html.\(Stylesheet.version)\(showsForms ? ".forms" : "")\""
    }

    /// Throws where a condition of the request does not hold (RFC 9110 section 13).
    /// - Parameter revision: of what is there; nil where nothing is.
    /// - Returns: whether the answer to a read is 304.
    @discardableResult
    func checkConditions(_ revision: (some CustomStringConvertible)?) throws(FilmRefusal) -> Bool {
        let conditions = Preconditions(
            fields, isRead: isRead, entityTag: revision.map { entityTag($0) },
            equivalentTags: revision.map { revision in
                FilmFormat.allCases.map { Self.entityTag(revision, $0) }
            } ?? [])
        switch conditions.outcome {
        case .proceed: return false
        case .notModified: return true
        case .failed: throw .failedCondition(fields, isThere: revision != nil)
        }
    }

    private static func entityTag(_ revision: some CustomStringConvertible, _ format: FilmFormat) -> String {
        "\"\(revision).\(format.rawValue)\""
    }

    /// An answer in the format that the client wants.
    func response(
        _ body: [UInt8], status: HTTPStatus = .ok, fields: HTTPFields = HTTPFields()
    ) -> HTTPResponse {
        var response = HTTPResponse(status: status, fields: fields, body: .bytes(body))
        response.fields.append(.init(name: "Content-Type", value: format.mediaType))
        response.fields.append(.init(name: "Vary", value: "Accept"))
        response.fields.append(.init(name: "Cache-Control", value: "no-cache"))
        if format == .html { response.fields.replace(with: Page.protection) }
        return response
    }
}
