/// The method of a request (RFC 9110 section 9); case-sensitive.
public struct HTTPMethod: RawRepresentable, Sendable, Hashable {
    /// Such as `GET`.
    public let rawValue: String

    /// Creates a method. It should be a token: transports refuse anything else.
    /// - Parameter rawValue: the method as it is sent, such as `GET`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// RFC 9110 section 9.3.1.
    public static let get = HTTPMethod(rawValue: "GET")
    /// RFC 9110 section 9.3.2.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// RFC 9110 section 9.3.3.
    public static let post = HTTPMethod(rawValue: "POST")
    /// RFC 9110 section 9.3.4.
    public static let put = HTTPMethod(rawValue: "PUT")
    /// RFC 5789.
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// RFC 9110 section 9.3.5.
    public static let delete = HTTPMethod(rawValue: "DELETE")

    /// Whether the method only reads (RFC 9110 section 9.2.1).
    public var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(rawValue) }

    /// Whether sending the request twice has the effect of sending it once (RFC 9110 section 9.2.2).
    public var isIdempotent: Bool { isSafe || rawValue == "PUT" || rawValue == "DELETE" }

    /// Whether a request without a body has `Content-Length: 0` (RFC 9110 section 8.6).
    package var expectsBody: Bool { ["POST", "PUT", "PATCH"].contains(rawValue) }

    /// Whether the method is a token (RFC 9110 section 9.1), and so can be sent.
    package var isToken: Bool { !rawValue.isEmpty && rawValue.utf8.allSatisfy(\.isTokenCharacter) }
}
