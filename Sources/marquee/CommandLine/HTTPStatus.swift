/// The words that HTTP has for its statuses (RFC 9110 section 15).
enum HTTPStatus {
    /// The reason phrase; empty for a status that has none here.
    static func reason(_ status: Int) -> String { reasons[status] ?? "" }

    private static let reasons = [
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        206: "Partial Content", 300: "Multiple Choices", 301: "Moved Permanently", 302: "Found",
        303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed",
        408: "Request Timeout", 410: "Gone", 414: "URI Too Long", 416: "Range Not Satisfiable",
        429: "Too Many Requests", 500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout",
    ]
}
