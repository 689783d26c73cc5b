import HTTPSemantics
import LazyImages
import MovieCatalogue

/// Why a film service has refused a request, in one line: the problem details (RFC 9457), and advice for the user.
///
///     http://nas:8080/films: 422 Unprocessable Content: 2 members are wrong (/year must be a number; /score must be …)
struct ServiceProblem {
    private let status: Int
    private let name: String
    /// Whether a library on this machine refused the request: then there is no HTTP to speak of.
    private let isLibrary: Bool
    private let members: FilmDocument?

    /// - Parameter library: the path of the library that answered; nil for a service.
    init(_ response: UploadResponse, library: String? = nil) {
        self.init(
            response.status, response.body, from: library ?? response.url.displayText,
            isLibrary: library != nil)
    }

    /// - Parameters:
    ///   - body: problem details in JSON, or any other body.
    ///   - name: the name of the service in messages.
    init(_ status: Int, _ body: [UInt8], from name: String, isLibrary: Bool = false) {
        self.status = status
        self.name = name
        self.isLibrary = isLibrary
        // Losing the error is right: an answer that is not JSON gives only its status.
        members =
            (try? JSONText(parsing: body)).flatMap {
                try? FilmDocument(json: $0, allowsDuplicates: true)
            }
    }

    /// The failure for the user.
    var failure: Failure {
        let reason = members?["title"]?.string ?? HTTPStatus(rawValue: status).reason
        let detail = members?["detail"]?.string ?? ""
        var text = name + ":"
        if !isLibrary { text += " \(status)" }
        if !reason.isEmpty, !isLibrary || detail.isEmpty { text += " " + reason }
        if !detail.isEmpty { text += (isLibrary ? " " : ": ") + detail }
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
