import HTTPSemantics
import LazyImages
import MovieCatalogue

/// Why a film service has refused a request, in one line: the problem details (RFC 9457), and advice for the user.
///
///     http://nas:8080/films: 422 Unprocessable Content: 2 members are wrong (/year must be a number; /score must be …)
struct ServiceProblem {
    private let status: Int
    private let name: String
    private let members: FilmDocument?

    /// - Parameter name: the name of the service in messages.
    init(_ response: UploadResponse, from name: String) {
        self.init(response.status, response.body, from: name)
    }

    /// - Parameter body: problem details in JSON, or any other body.
    init(_ status: Int, _ body: [UInt8], from name: String) {
        self.status = status
        self.name = name
        // Losing the error is right: an answer that is not JSON gives only its status.
        members =
            (try? JSONText(parsing: body)).flatMap {
                try? FilmDocument(json: $0, allowsDuplicates: true)
            }
    }

    /// The failure for the user.
    var failure: Failure {
        let reason = members?["title"]?.string ?? HTTPStatus(rawValue: status).reason
        var text = "\(name): \(status)"
        if !reason.isEmpty { text += " " + reason }
        if let detail = members?["detail"]?.string, !detail.isEmpty { text += ": " + detail }
        let errors = errors
        // A single error repeats the detail.
        if errors.count > 1 || members?["detail"] == nil, !errors.isEmpty {
            text += " (" + errors.joined(separator: "; ") + ")"
        }
        if let advice { text += "; " + advice }
        return Failure(text, code: "http-status")
    }

    /// Each error with its pointer: `/year must be a number`.
    private var errors: [String] {
        (members?["errors"]?.elements ?? []).compactMap { element in
            // Losing the error is right: an unreadable error is left out.
            guard let error = try? FilmDocument(json: element, allowsDuplicates: true) else { return nil }
            let parts = [error["pointer"]?.string, error["detail"]?.string].compactMap(\.self)
            return parts.isEmpty ? nil : parts.joined(separator: " ")
        }
    }

    private var advice: String? {
        switch status {
        case 401: "give a token with --credentials-file or MARQUEE_CREDENTIALS"
        case 404 where members == nil, 501: "name a film service with --catalogue http://HOST:PORT/films"
        case 405: "start the service with --writable, or name one that is writable"
        case 413, 507: nil
        case 429, 500...: "try again later"
        default: nil
        }
    }
}
