public import FoundationEssentials

/// Answers what a server asks of whom it lets in. A program gives one in ``ImageDownloader/Configuration``; it is asked
/// once per origin and realm, however many requests wait for the answer.
public protocol Authenticator: Sendable {
    /// The credential for a challenge, or nil: then the answer with the challenge is an error, `httpStatus` 401.
    ///
    /// Called off every actor; it may take its time, ask a person, read a file.
    /// - Parameter challenge: what the server asks, and whether the last answer was wrong.
    func credential(for challenge: AuthenticationChallenge) async -> Credential?
}

/// Who somebody is, as a server is told. Kept in memory only, never logged and never stored.
public enum Credential: Sendable, Hashable {
    /// For Basic (RFC 7617) and Digest (RFC 7616).
    case password(user: String, password: String)
    /// For Bearer (RFC 6750).
    case token(String)
}

/// What a server asks (RFC 9110 section 11.3).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The schemes that are answered.
    public enum Scheme: String, Sendable, Hashable {
        /// RFC 7617, 7616 and 6750.
        case basic, digest, bearer
    }

    /// How it wants to be answered.
    public let scheme: Scheme
    /// What it guards, in its own words: empty where it does not say.
    public let realm: String
    /// The server: scheme, host and port.
    public let origin: URL
    /// Whether the credential given before was not taken.
    public let isRepeated: Bool

    /// A challenge of these parts.
    /// - Parameters:
    ///   - scheme: how the server wants to be answered.
    ///   - realm: what it guards, in its own words; empty where it does not say.
    ///   - origin: the server: scheme, host and port.
    ///   - isRepeated: whether the credential given before was not taken. Default: no.
    public init(scheme: Scheme, realm: String, origin: URL, isRepeated: Bool = false) {
        self.scheme = scheme
        self.realm = realm
        self.origin = origin
        self.isRepeated = isRepeated
    }
}
