import Films
import HTTPSemantics
import HTTPServer

/// Why a request is refused, in the client's words. It names no path and no system error.
struct FilmRefusal: Error {
    var problem: ProblemDetails
    /// Fields that belong to the status, such as Allow.
    var fields: HeaderFields
    /// The route's label in the metrics; nil for a request that has none yet.
    var route: HTTPRoute?

    init(
        _ status: HTTPStatus, _ detail: String, errors: [(pointer: String, detail: String)] = [],
        members: [(name: String, value: ProblemDetails.Value)] = [], fields: HeaderFields = HeaderFields()
    ) {
        problem = ProblemDetails(status, detail, errors: errors, members: members)
        self.fields = fields
    }

    /// The refusal of an operation.
    init(_ error: FilmError, toRoot: String = "", request: String = "") {
        problem = error.problem(toRoot: toRoot, request: request)
        fields = error.retryAfter.map { ["Retry-After": "\($0)"] } ?? HeaderFields()
    }

    /// 422 for one invalid member.
    static func invalid(_ member: String, _ detail: String) -> FilmRefusal {
        FilmRefusal(FilmError.invalid([FieldProblem(member: member, detail: detail)]))
    }

    /// A write to a library that is only read, or to a resource without the method.
    static func methodNotAllowed(_ method: String, isReadOnly: Bool, allowed: [String]) -> FilmRefusal {
        FilmRefusal(
            .methodNotAllowed,
            isReadOnly
                ? "this library is read-only; its operator can start it with --writable"
                : "\(method) is not allowed here",
            fields: ["Allow": allowed.joined(separator: ", ")])
    }

    static var nothingHere: FilmRefusal {
        FilmRefusal(.notFound, "nothing is served here; films are at /films and /films/ID")
    }

    /// The refusal as an answer, in the format of the request's answers.
    /// - Parameter page: the page around it; nil if nothing is known of the library.
    func response(to head: RequestHead, page: Page? = nil) -> HTTPResponse {
        let path = String(head.target.prefix { $0 != "?" })
        let format = FilmFormat.ofProblems(FilmFormat.split(path).ending, head.fields)
        var response = HTTPResponse(status: problem.status, fields: fields)
        response.fields["Content-Type"] = format.problemType
        // The answer depends on Accept, and it may be different in a moment.
        response.fields["Vary"] = "Accept"
        response.fields["Cache-Control"] = "no-store"
        if format == .html { response.fields.replace(with: Page.protection) }
        response.body = .bytes(format.text(of: problem, on: page ?? Page(path: path)))
        response.route = route ?? response.route
        return ContentCoding.negotiated(head.fields).applied(to: response)
    }
}

extension FilmRefusal {
    /// What `read` makes of a body; its error becomes a refusal.
    static func reading<Value>(
        _ read: () throws(CatalogueError) -> Value
    ) throws(FilmRefusal) -> Value {
        do throws(CatalogueError) { return try read() } catch { throw FilmRefusal(error) }
    }

    /// The fault of a body: 400 if it breaks its format's grammar, 422 if it is not a film.
    init(_ error: CatalogueError) {
        switch error {
        case .malformedJSON(_, let line, let column), .malformedXML(_, let line as Int?, let column):
            var members: [(name: String, value: ProblemDetails.Value)] = []
            if let line { members.append(("line", .number(line))) }
            if let column { members.append(("column", .number(column))) }
            self.init(.badRequest, error.description, members: members)
        case .doctypeRefused(let line), .unsupportedEncoding(_, let line):
            self.init(.badRequest, error.description, members: [("line", .number(line))])
        case .empty: self.init(.badRequest, "the body is empty")
        case .unrecognized: self.init(.badRequest, "the body has a NUL byte, so it is not text")
        case .notUTF8, .webPage: self.init(.badRequest, error.description)
        case .tooLarge: self.init(.contentTooLarge, error.description)
        case .missingField, .wrongType, .wrongShape, .duplicateIdentifier, .unreadableFacts,
            .unreadableFolder, .unreadableNames, .skippedLinks, .tooDeep, .incomplete:
            // An empty pointer means the whole content (RFC 6901 section 5).
            self.init(
                .unprocessableContent, error.description,
                errors: [("", error.description)])
        }
    }
}
