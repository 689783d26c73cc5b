import HTTPSemantics

/// The formats of films in answers.
enum FilmFormat: String, CaseIterable, Sendable {
    case json, xml, html

    var mediaType: String {
        switch self {
        case .json: "application/json"
        case .xml: "application/xml"
        case .html: "text/html; charset=utf-8"
        }
    }

    var problemType: String {
        switch self {
        case .json: ProblemDetails.jsonType
        case .xml: ProblemDetails.xmlType
        case .html: mediaType
        }
    }

    /// The format's media types in Accept.
    private var mediaTypes: [String] {
        switch self {
        case .json: ["application/json"]
        case .xml: ["application/xml", "text/xml"]
        case .html: ["text/html"]
        }
    }

    /// The format of an answer: the one of the path's ending, else the one that Accept prefers, JSON first among
    /// equals.
    /// - Parameter offers: the available formats. Default: all.
    /// - Returns: nil if the client accepts none of them.
    static func negotiated(
        _ ending: FilmFormat?, _ fields: HeaderFields, among offers: [FilmFormat] = allCases
    ) -> FilmFormat? {
        if let ending { return offers.contains(ending) ? ending : nil }
        return AcceptHeader(fields).preferred(offers) { $0.mediaTypes }
    }

    /// The format of an error: JSON if the client accepts none.
    static func ofProblems(_ ending: FilmFormat?, _ fields: HeaderFields) -> FilmFormat {
        ending ?? AcceptHeader(fields).preferred(allCases) { $0.mediaTypes + [$0.problemType] } ?? .json
    }

    /// A name without the ending that selects a format, and that format.
    static func split(_ name: String) -> (name: String, ending: FilmFormat?) {
        for format in allCases {
            let ending = ".\(format.rawValue)"
            if name.utf8.count > ending.utf8.count, name.lowercased().hasSuffix(ending) {
                return (String(name.dropLast(ending.count)), format)
            }
        }
        return (name, nil)
    }
}
