import HTTPSemantics
import HTTPServer

/// Why a request is not done, as the client is told. It names no path and no error of the system.
struct FilmRefusal: Error {
    var problem: ProblemDetails
    /// Fields that go with the status, such as Allow.
    var fields: HTTPFields

    init(
        _ status: HTTPStatus, _ detail: String, errors: [ProblemDetails.FieldError] = [],
        members: [(name: String, value: ProblemDetails.Value)] = [], fields: HTTPFields = HTTPFields()
    ) {
        problem = ProblemDetails(status, detail, errors: errors, members: members)
        self.fields = fields
    }

    /// 422 for one member.
    static func invalid(_ member: String, _ detail: String) -> FilmRefusal {
        let pointer =
            "/"
            + member.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
        return FilmRefusal(
            .unprocessableContent, "the \(member) \(detail)",
            errors: [.init(pointer: pointer, detail: detail)])
    }

    static func notFound(_ id: String) -> FilmRefusal { FilmRefusal(.notFound, "there is no film \"\(id)\"") }

    static let conditionFailed = FilmRefusal(
        .preconditionFailed, "it has changed meanwhile; get it again and repeat the change")

    /// - Parameters:
    ///   - format: that of the request's answers.
    ///   - fields: of the request that is refused.
    func response(_ format: FilmFormat) -> HTTPResponse {
        var response = HTTPResponse(status: problem.status, fields: fields)
        response.fields["Content-Type"] = format.problemType
        // The answer depends on Accept, and on what may be different in a moment.
        response.fields["Vary"] = "Accept"
        response.fields["Cache-Control"] = "no-store"
        response.body = .bytes(Array((format == .json ? problem.json : problem.xml).utf8))
        return response
    }
}
