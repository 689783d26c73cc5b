import HTTPSemantics
import MovieCatalogue

extension FilmRefusal {
    /// What is wrong with a body: 400 where it breaks its format's grammar, 422 where it is no film.
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
        case .unrecognised: self.init(.badRequest, "the body has a NUL in it, which no text has")
        case .notUTF8, .webPage: self.init(.badRequest, error.description)
        case .tooLarge: self.init(.contentTooLarge, error.description)
        case .missingField, .wrongType, .wrongShape, .duplicateIdentifier:
            // An empty pointer means all of the content (RFC 6901 section 5).
            self.init(
                .unprocessableContent, error.description,
                errors: [.init(pointer: "", detail: error.description)])
        }
    }

    /// 422 with all that is wrong with a film; nil where nothing is.
    init?(problems: [FieldProblem]) {
        guard let first = problems.first else { return nil }
        let more = problems.count == 1 ? "" : ", and \(problems.count - 1) more"
        self = .invalid(first.member, first.detail + more)
        problem.errors = problems.map { FilmRefusal.invalid($0.member, $0.detail).problem.errors }.flatMap {
            $0
        }
    }
}
