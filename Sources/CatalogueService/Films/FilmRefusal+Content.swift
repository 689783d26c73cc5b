import HTTPSemantics
import MovieCatalogue

extension FilmRefusal {
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
        case .missingField, .wrongType, .wrongShape, .duplicateIdentifier:
            // An empty pointer means the whole content (RFC 6901 section 5).
            self.init(
                .unprocessableContent, error.description,
                errors: [.init(pointer: "", detail: error.description)])
        }
    }

    /// 422 with all faults of a film; nil if there are none.
    init?(problems: [FieldProblem]) {
        guard let first = problems.first else { return nil }
        let more = problems.count == 1 ? "" : ", and \(problems.count - 1) more"
        self = .invalid(first.member, first.detail + more)
        problem.errors = problems.map { FilmRefusal.invalid($0.member, $0.detail).problem.errors }.flatMap {
            $0
        }
    }
}
