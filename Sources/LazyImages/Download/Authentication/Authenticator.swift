public import FoundationEssentials

/// Provides the credentials for servers that require them. Set it in ``ImageDownloader/Configuration``. It is called
/// once per origin and realm, however many requests wait.
public protocol Authenticator: Sendable {
    /// The credential for a challenge. With nil the load fails with `httpStatus` 401.
    ///
    /// Runs on no particular actor. It may be slow: it may ask a person or read a file.
    /// - Parameter challenge: the server's challenge, and whether it refused the last credential.
    func credential(for challenge: AuthenticationChallenge) async -> Credential?
}

/// A credential for a server. Kept in memory only, never logged or stored.
public enum Credential: Sendable, Hashable {
    /// For Basic (RFC 7617) and Digest (RFC 7616).
    case password(user: String, password: String)
    /// For Bearer (RFC 6750).
    case token(String)
}

/// A server's challenge (RFC 9110 section 11.3).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The supported schemes.
    public enum Scheme: Sendable, Hashable {
        /// RFC 7617, 7616 and 6750.
        case basic, digest, bearer

        /// The scheme of this name, in lower case; nil for another.
        init?(named name: String) {
            switch name {
            case "basic": self = .basic
            case "digest": self = .digest
            case "bearer": self = .bearer
            default: return nil
            }
        }
    }

    /// The scheme of the credential that the server expects.
    public let scheme: Scheme
    /// The protected area, in the server's words; empty if it names none.
    public let realm: String
    /// The server: scheme, host and port.
    public let origin: URL
    /// Whether the server refused the last credential.
    public let isRepeated: Bool

    /// A challenge with these values.
    /// - Parameters:
    ///   - scheme: the scheme of the credential that the server expects.
    ///   - realm: the protected area, in the server's words; empty if it names none.
    ///   - origin: the server: scheme, host and port.
    ///   - isRepeated: whether the server refused the last credential. Default: false.
    package init(scheme: Scheme, realm: String, origin: URL, isRepeated: Bool = false) {
        self.scheme = scheme
        self.realm = realm
        self.origin = origin
        self.isRepeated = isRepeated
    }
}
