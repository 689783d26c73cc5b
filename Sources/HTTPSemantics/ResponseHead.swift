/// The status code and header of a response.
public struct ResponseHead: Sendable, Hashable {
    /// The status code: 200 to 599 in a valid response.
    public var status: Int
    /// The header.
    public var fields: HeaderFields

    /// Creates a head.
    /// - Parameters:
    ///   - status: the status code.
    ///   - fields: the header fields.
    public init(status: Int, fields: HeaderFields = HeaderFields()) {
        self.status = status
        self.fields = fields
    }

    /// The Content-Length, in bytes; nil if it is absent or malformed.
    public var contentLength: Int? {
        fields["content-length"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// A status code (RFC 9110 section 15, RFC 6585).
package struct HTTPStatus: RawRepresentable, Hashable, Sendable {
    /// Three digits in a valid response.
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let ok = HTTPStatus(rawValue: 200)
    package static let created = HTTPStatus(rawValue: 201)
    package static let noContent = HTTPStatus(rawValue: 204)
    package static let partialContent = HTTPStatus(rawValue: 206)
    package static let found = HTTPStatus(rawValue: 302)
    package static let seeOther = HTTPStatus(rawValue: 303)
    package static let notModified = HTTPStatus(rawValue: 304)
    package static let badRequest = HTTPStatus(rawValue: 400)
    package static let unauthorized = HTTPStatus(rawValue: 401)
    package static let forbidden = HTTPStatus(rawValue: 403)
    package static let notFound = HTTPStatus(rawValue: 404)
    package static let methodNotAllowed = HTTPStatus(rawValue: 405)
    package static let notAcceptable = HTTPStatus(rawValue: 406)
    package static let requestTimeout = HTTPStatus(rawValue: 408)
    package static let conflict = HTTPStatus(rawValue: 409)
    package static let gone = HTTPStatus(rawValue: 410)
    package static let lengthRequired = HTTPStatus(rawValue: 411)
    package static let preconditionFailed = HTTPStatus(rawValue: 412)
    package static let contentTooLarge = HTTPStatus(rawValue: 413)
    package static let targetTooLong = HTTPStatus(rawValue: 414)
    package static let unsupportedMediaType = HTTPStatus(rawValue: 415)
    package static let rangeNotSatisfiable = HTTPStatus(rawValue: 416)
    package static let expectationFailed = HTTPStatus(rawValue: 417)
    package static let unprocessableContent = HTTPStatus(rawValue: 422)
    package static let tooManyRequests = HTTPStatus(rawValue: 429)
    package static let headerFieldsTooLarge = HTTPStatus(rawValue: 431)
    package static let internalServerError = HTTPStatus(rawValue: 500)
    package static let notImplemented = HTTPStatus(rawValue: 501)
    package static let badGateway = HTTPStatus(rawValue: 502)
    package static let serviceUnavailable = HTTPStatus(rawValue: 503)
    package static let gatewayTimeout = HTTPStatus(rawValue: 504)
    package static let versionNotSupported = HTTPStatus(rawValue: 505)
    package static let insufficientStorage = HTTPStatus(rawValue: 507)

    /// The reason phrase; empty for an unknown status.
    package var reason: String { Self.reasons[rawValue] ?? "" }

    /// Whether the same request may succeed later: the server was busy or failed (RFC 9110 sections 15.5.9 and 15.6,
    /// RFC 8470 section 5.2, RFC 6585 section 4).
    package var isTemporary: Bool { [408, 425, 429].contains(rawValue) || (500...599).contains(rawValue) }

    private static let reasons = [
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        206: "Partial Content", 300: "Multiple Choices", 301: "Moved Permanently", 302: "Found",
        303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict",
        410: "Gone", 411: "Length Required", 412: "Precondition Failed",
        413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type",
        416: "Range Not Satisfiable", 417: "Expectation Failed", 422: "Unprocessable Content",
        425: "Too Early",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
        505: "HTTP Version Not Supported", 507: "Insufficient Storage",
    ]
}

/// The method of a request (RFC 9110 section 9); case-sensitive.
public struct RequestMethod: RawRepresentable, Sendable, Hashable {
    /// Such as `GET`.
    public let rawValue: String

    /// Creates a method. It should be a token: transports refuse anything else.
    /// - Parameter rawValue: the method as it is sent, such as `GET`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// RFC 9110 section 9.3.1.
    public static let get = RequestMethod(rawValue: "GET")
    /// RFC 9110 section 9.3.2.
    public static let head = RequestMethod(rawValue: "HEAD")
    /// RFC 9110 section 9.3.3.
    public static let post = RequestMethod(rawValue: "POST")
    /// RFC 9110 section 9.3.4.
    public static let put = RequestMethod(rawValue: "PUT")
    /// RFC 5789.
    public static let patch = RequestMethod(rawValue: "PATCH")
    /// RFC 9110 section 9.3.5.
    public static let delete = RequestMethod(rawValue: "DELETE")

    /// Whether the method only reads (RFC 9110 section 9.2.1).
    public var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(rawValue) }

    /// Whether sending the request twice has the effect of sending it once (RFC 9110 section 9.2.2).
    public var isIdempotent: Bool { isSafe || rawValue == "PUT" || rawValue == "DELETE" }

    /// Whether a request without a body has `Content-Length: 0` (RFC 9110 section 8.6).
    package var expectsBody: Bool { ["POST", "PUT", "PATCH"].contains(rawValue) }

    /// Whether the method is a token (RFC 9110 section 9.1), and so can be sent.
    package var isToken: Bool { rawValue.isToken }
}
