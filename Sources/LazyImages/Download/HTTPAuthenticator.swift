import Coalescing
public import FoundationEssentials

/// Provides the credentials for servers that require them. Set it in ``ImageDownloader/Configuration``. It is called
/// once per origin and realm, however many requests wait.
public protocol HTTPAuthenticator: Sendable {
    /// The credential for a challenge. With nil the load fails with `httpStatus` 401.
    ///
    /// Runs on no particular actor. It may be slow: it may ask a person or read a file.
    /// - Parameter challenge: the server's challenge, and whether it refused the last credential.
    func credential(for challenge: AuthenticationChallenge) async -> Credential?

    /// The Bearer token to send to an origin at once, before any challenge: some servers refuse without one. Called for
    /// each request, so it should know the answer. Optional; the default is nil, none.
    /// - Parameter origin: the server: scheme, host and port.
    func tokenToSend(to origin: URL) async -> String?
}

extension HTTPAuthenticator {
    /// Returns nil: no token is sent before a challenge.
    /// - Parameter origin: the server: scheme, host and port.
    public func tokenToSend(to origin: URL) async -> String? { nil }
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
    /// The supported schemes. The raw value is the name in lower case.
    public enum Scheme: String, Sendable, Hashable {
        /// RFC 7617, 7616 and 6750.
        case basic, digest, bearer
    }

    /// The scheme of the credential that the server expects.
    public let scheme: Scheme
    /// The protected area, in the server's words; empty if it names none.
    public let realm: String
    /// The server: scheme, host and port.
    public let origin: URL
    /// Whether the server refused the last credential.
    public let isRepeated: Bool
}

/// The `Authorization` of one request, and its credential: a refusal concerns only this credential.
struct Authorization: Sendable {
    /// The value of the `Authorization` field.
    let field: String
    let credential: Credential
}

/// Answers authentication challenges for all requests. It asks the `HTTPAuthenticator` once per origin and realm, however
/// many requests wait, and keeps the credential for later requests. A cancelled request waits no longer.
actor AuthenticationBroker {
    /// The last challenge of an origin, and the credential for it.
    private struct Session {
        let challenge: ChallengeField
        let credential: Credential
        var uses = 0
    }

    private let authenticator: any HTTPAuthenticator
    private let clientNonce: @Sendable () -> String
    private var sessions: [URL: Session] = [:]
    private let questions = FlightTable<AuthenticationChallenge, Bool, any Error, Never>()

    /// - Parameter clientNonce: makes the random text of the client for Digest.
    init(
        _ authenticator: any HTTPAuthenticator,
        clientNonce: @escaping @Sendable () -> String = {
            String(UInt64.random(in: .min ... .max), radix: 36)
        }
    ) {
        self.authenticator = authenticator
        self.clientNonce = clientNonce
    }

    /// The authorisation that a request sends at once: its origin has challenged an earlier request, or the
    /// authenticator has a token for it. Nil without one.
    func authorization(for url: URL) async -> Authorization? {
        guard let origin = Self.origin(of: url) else { return nil }
        if let answer = answer(at: origin, for: url) { return answer }
        guard let token = await authenticator.tokenToSend(to: origin), Self.fits(.token(token), .bearer)
        else {
            return nil
        }
        return Self.bearer(token)
    }

    private static func bearer(_ token: String) -> Authorization {
        Authorization(field: "Bearer \(token)", credential: .token(token))
    }

    /// The authorisation for the next attempt, after a 401 with these fields; nil without a credential.
    /// - Parameter refused: the authorisation of the refused attempt.
    func authorization(
        for url: URL, asked fields: HeaderFields, refused: Authorization?
    ) async -> Authorization? {
        guard let origin = Self.origin(of: url) else { return nil }
        if let session = sessions[origin], session.credential != refused?.credential {
            // Another request has got a new credential meanwhile.
            return answer(at: origin, for: url)
        }
        for field in Self.offers(in: fields) {
            guard let scheme = AuthenticationChallenge.Scheme(rawValue: field.scheme) else { continue }
            if let session = sessions[origin], field.parameters["stale"]?.lowercased() == "true" {
                sessions[origin] = Session(challenge: field, credential: session.credential)
                return answer(at: origin, for: url)
            }
            let challenge = AuthenticationChallenge(
                scheme: scheme, realm: field.realm, origin: origin, isRepeated: refused != nil)
            guard let hasCredential = await ask(challenge, field) else { return nil }
            if hasCredential { return answer(at: origin, for: url) }
        }
        sessions[origin] = nil
        return nil
    }

    /// Asks the authenticator, or joins the question that another request has asked.
    /// - Returns: whether there is a credential for the challenge; nil if the calling task was cancelled.
    private func ask(_ challenge: AuthenticationChallenge, _ field: ChallengeField) async -> Bool? {
        let question = questions.join(challenge, priority: 0, cancelled: { CancellationError() }) {
            [self] _, _ in
            guard let credential = await authenticator.credential(for: challenge),
                Self.fits(credential, challenge.scheme)
            else { return false }
            await keep(Session(challenge: field, credential: credential), of: challenge.origin)
            return true
        }
        // `question` never leaves, and so is not abandoned: later requests join it, and nobody is asked twice.
        // Ignored: only a cancelled caller gets an error.
        return try? await (question.flight.join(0) ?? question).value
    }

    /// Called before the question ends: a request that comes next finds the session, and does not ask again.
    private func keep(_ session: Session, of origin: URL) { sessions[origin] = session }

    private func answer(at origin: URL, for url: URL) -> Authorization? {
        guard let session = sessions[origin] else { return nil }
        sessions[origin]?.uses += 1
        switch session.credential {
        case .token(let token): return Self.bearer(token)
        case .password(let user, let password):
            guard session.challenge.scheme == "digest" else {
                let pair = Data("\(user):\(password)".utf8).base64EncodedString()
                return Authorization(field: "Basic \(pair)", credential: session.credential)
            }
            let query = url.query(percentEncoded: true).map { "?" + $0 } ?? ""
            let path = url.path(percentEncoded: true)
            return DigestAnswer(session.challenge).map { digest in
                Authorization(
                    field: digest.field(
                        user: user, password: password, uri: (path.isEmpty ? "/" : path) + query,
                        count: session.uses + 1, clientNonce: clientNonce()),
                    credential: session.credential)
            }
        }
    }

    /// The challenges that the client supports, the safest first; of two kinds of Digest the newer hash.
    private static func offers(in fields: HeaderFields) -> [ChallengeField] {
        let all = ChallengeField.all(in: fields)
        func named(_ scheme: String) -> [ChallengeField] { all.filter { $0.scheme == scheme } }
        let digests = named("digest").filter { DigestAnswer($0) != nil }
        let isNewer = { (field: ChallengeField) in
            field.parameters["algorithm"]?.uppercased().hasPrefix("SHA") == true
        }
        return named("bearer") + digests.filter(isNewer) + digests.filter { !isNewer($0) } + named("basic")
    }

    private static func fits(_ credential: Credential, _ scheme: AuthenticationChallenge.Scheme) -> Bool {
        switch credential {
        case .token(let token): scheme == .bearer && HeaderFields.fault(name: "a", value: token) == nil
        case .password(let user, _): scheme == .digest || scheme == .basic && !user.contains(":")
        }
    }

    private static func origin(of url: URL) -> URL? {
        guard let scheme = url.scheme?.lowercased() else { return nil }
        return URL(string: "\(scheme)://\(WebOrigin(url).hostAndPort)/")
    }
}
