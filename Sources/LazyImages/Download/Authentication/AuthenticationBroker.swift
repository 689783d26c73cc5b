import FoundationEssentials

/// The `Authorization` of one request, and its credential: a refusal concerns only this credential.
struct Authorization: Sendable {
    /// The value of the `Authorization` field.
    let field: String
    let credential: Credential
}

/// Answers authentication challenges for all requests. It asks the `Authenticator` once per origin and realm, however
/// many requests wait, and keeps the credential for later requests.
actor AuthenticationBroker {
    /// The last challenge of an origin, and the credential for it.
    private struct Session {
        let challenge: ChallengeField
        let credential: Credential
        var uses = 0
    }

    private let authenticator: any Authenticator
    private let clientNonce: @Sendable () -> String
    private var sessions: [URL: Session] = [:]
    private var questions: [AuthenticationChallenge: Task<Credential?, Never>] = [:]

    /// - Parameter clientNonce: makes the random text of the client for Digest.
    init(
        _ authenticator: any Authenticator,
        clientNonce: @escaping @Sendable () -> String = {
            String(UInt64.random(in: .min ... .max), radix: 36)
        }
    ) {
        self.authenticator = authenticator
        self.clientNonce = clientNonce
    }

    /// The authorisation that a request sends at once, because its origin has challenged an earlier request. Nil
    /// without one.
    func authorization(for url: URL) -> Authorization? {
        Self.origin(of: url).flatMap { answer(at: $0, for: url) }
    }

    /// The authorisation for the next attempt, after a 401 with these fields; nil without a credential.
    /// - Parameter refused: the authorisation of the refused attempt.
    func authorization(
        for url: URL, asked fields: HTTPFields, refused: Authorization?
    ) async -> Authorization? {
        guard let origin = Self.origin(of: url) else { return nil }
        if let session = sessions[origin], session.credential != refused?.credential {
            // Another request has got a new credential meanwhile.
            return answer(at: origin, for: url)
        }
        for (scheme, field) in Self.offers(in: fields) {
            if let session = sessions[origin], field.parameters["stale"]?.lowercased() == "true" {
                sessions[origin] = Session(challenge: field, credential: session.credential)
                return answer(at: origin, for: url)
            }
            let challenge = AuthenticationChallenge(
                scheme: scheme, realm: field.realm, origin: origin, isRepeated: refused != nil)
            guard let credential = await ask(challenge), Self.fits(credential, scheme) else { continue }
            sessions[origin] = Session(challenge: field, credential: credential)
            return answer(at: origin, for: url)
        }
        sessions[origin] = nil
        return nil
    }

    /// The most attempts after a 401: for a stale nonce, a wrong password, and the right one.
    private static let challengesAnswered = 3

    /// Authenticates: first with the last accepted credential, then with the authenticator's, until an answer is no
    /// challenge.
    /// - Parameters:
    ///   - broker: nil for a request with its own `Authorization`.
    ///   - challenge: returns the fields of an answer that is a challenge; nil for any other answer.
    ///   - request: makes the request.
    static func exchange<Answer>(
        by broker: AuthenticationBroker?, with url: URL, challenge: (Answer) -> HTTPFields?,
        _ request: (Authorization?) async throws(ImageLoadingError) -> Answer
    ) async throws(ImageLoadingError) -> Answer {
        guard let broker else { return try await request(nil) }
        var authorization = await broker.authorization(for: url)
        var answer = try await request(authorization)
        for _ in 0..<challengesAnswered {
            guard let asked = challenge(answer) else { break }
            let next = await broker.authorization(for: url, asked: asked, refused: authorization)
            guard let next else { break }
            authorization = next
            answer = try await request(authorization)
        }
        return answer
    }

    private func ask(_ challenge: AuthenticationChallenge) async -> Credential? {
        if let question = questions[challenge] { return await question.value }
        let question = Task { [authenticator] in await authenticator.credential(for: challenge) }
        questions[challenge] = question
        let credential = await question.value
        questions[challenge] = nil
        return credential
    }

    private func answer(at origin: URL, for url: URL) -> Authorization? {
        guard let session = sessions[origin] else { return nil }
        sessions[origin]?.uses += 1
        switch session.credential {
        case .token(let token): return Authorization(field: "Bearer \(token)", credential: session.credential)
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
    private static func offers(
        in fields: HTTPFields
    ) -> [(AuthenticationChallenge.Scheme, ChallengeField)] {
        let offers = ChallengeField.all(in: fields).compactMap { field in
            AuthenticationChallenge.Scheme(rawValue: field.scheme).map { ($0, field) }
        }
        func named(_ scheme: AuthenticationChallenge.Scheme) -> [(
            AuthenticationChallenge.Scheme, ChallengeField
        )] {
            offers.filter { $0.0 == scheme }
        }
        let digests = named(.digest).filter { DigestAnswer($0.1) != nil }
        let isNewer = { (field: ChallengeField) in
            field.parameters["algorithm"]?.uppercased().hasPrefix("SHA") == true
        }
        return named(.bearer) + digests.filter { isNewer($0.1) } + digests.filter { !isNewer($0.1) }
            + named(.basic)
    }

    private static func fits(_ credential: Credential, _ scheme: AuthenticationChallenge.Scheme) -> Bool {
        switch credential {
        case .token(let token): scheme == .bearer && HTTPFields.fault(name: "a", value: token) == nil
        case .password(let user, _): scheme == .digest || scheme == .basic && !user.contains(":")
        }
    }

    private static func origin(of url: URL) -> URL? {
        guard let scheme = url.scheme?.lowercased() else { return nil }
        return URL(string: "\(scheme)://\(Origin(url).hostAndPort)/")
    }
}
