import FilmSources
import HTTPSemantics
import HTTPServer
import Hashing
package import LazyImages
package import PictureServer
import SystemSupport

/// What a token allows, each with all before it.
package enum Role: String, Sendable, CaseIterable, Comparable {
    /// To read a private service.
    case read
    /// To vote.
    case rate
    /// To add, change and remove films.
    case write
    /// To purge pictures, and to read the metrics.
    case admin

    package static func < (one: Role, other: Role) -> Bool { one.rank < other.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// Who sends a request.
struct Sender: Sendable, Hashable {
    /// In logs.
    let name: String
    let role: Role
}

/// Who may change films, and read those of a private service: programs that send a token, and browsers with a session
/// cookie.
///
/// A local connection proves nothing: behind a proxy every stranger's request comes over the loopback interface. So each
/// write needs a token, unless the operator trusts this machine (`trustsLocal`).
///
/// A browser shows a token once, and gets a cookie:
///
///     marquee-8080=u9BQ2dQ1pTn0y0r5mKcD1g.1790000000.3Zf…     NONCE.TIME.SIGNATURE
///
/// The nonce and the signature are in base64url. The time is when the cookie was made, in seconds since 1970. The
/// signature is the HMAC-SHA256 of both with the token as its key, so every instance that has the token accepts the
/// cookie, after a restart too. A cookie ends with its token, 12 hours after it was made, and when its nonce is among the
/// library's `EndedSessions`. Use renews it: a new cookie has the same nonce. Safe for concurrent use.
package final class WriteAccess: Sendable {
    package struct Token: Sendable, Hashable {
        /// The name of its user in logs.
        package let name: String
        package let value: String
        package let role: Role

        /// - Parameter role: default `.write`.
        package init(name: String, value: String, role: Role = .write) {
            (self.name, self.value, self.role) = (name, value, role)
        }

        var sender: Sender { Sender(name: name, role: role) }
    }

    /// Whether requests from this machine may write without a token. A request that a proxy has forwarded never may.
    package let trustsLocal: Bool
    private let tokens: Lock<[Token]>
    private let clock: WallClock

    /// How long a cookie is valid, in seconds.
    private static let lifetime = 12 * 3600
    /// How many seconds the clock of the instance that made a cookie may be ahead.
    private static let allowedSkew = 300

    /// - Parameters:
    ///   - tokens: the tokens. Default: none, so that only this machine may write, if it is trusted.
    ///   - trustsLocal: default false.
    ///   - clock: tells the age of cookies. Default: the system's.
    package init(_ tokens: [Token] = [], trustsLocal: Bool = false, clock: WallClock = .system) {
        self.tokens = Lock(tokens)
        self.trustsLocal = trustsLocal
        self.clock = clock
    }

    /// Exchanges the tokens. The cookies of removed tokens end at once.
    /// - Returns: the numbers of added and of removed tokens.
    @discardableResult
    package func replaceTokens(with new: [Token]) -> (added: Int, removed: Int) {
        let old = tokens.withLock { exchange(&$0, with: new) }
        let (before, after) = (Set(old), Set(new))
        return (after.subtracting(before).count, before.subtracting(after).count)
    }

    /// The token with this value; nil if there is none.
    func token(_ value: String) -> Token? {
        tokens.withLock { $0 }.first { BearerToken.isAccepted(value, among: [$0.value]) }
    }

    // MARK: Cookies

    /// A browser that has shown a token, by its cookie.
    struct Session {
        let token: Token
        /// What all cookies of the session have in common.
        let nonce: String
        /// The age of this cookie, in seconds.
        let age: Int

        /// Whether the browser gets a new cookie: a quarter of the old one's time is over.
        var isDue: Bool { age > lifetime / 4 }
        var digest: String { SHA256.hash(of: nonce).hexadecimal }
    }

    /// A new cookie.
    /// - Parameter session: the session to go on with. Default: nil, a new one.
    func cookie(of token: Token, goingOn session: Session? = nil) -> String {
        let text = "\(session?.nonce ?? Base64URL.encode(Self.randomBytes(16))).\(clock.seconds)"
        return "\(text).\(signature(text, token))"
    }

    /// The session of a cookie; nil if the cookie is not valid. It may have ended by a sign-out.
    func session(of cookie: String) -> Session? {
        let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, cookie.utf8.count <= 128, let time = Int(parts[1]) else { return nil }
        let token = tokens.withLock { $0 }.first {
            BearerToken.isAccepted(String(parts[2]), among: [signature("\(parts[0]).\(parts[1])", $0)])
        }
        guard let token else { return nil }
        // The signature vouches for the time.
        let age = clock.seconds - time
        guard (-Self.allowedSkew..<Self.lifetime).contains(age) else { return nil }
        return Session(token: token, nonce: String(parts[0]), age: age)
    }

    /// Ends a session at every instance that has the library.
    func end(_ session: Session, in ended: EndedSessions) throws {
        // Twice the time of a cookie: another instance may just have renewed it, by a clock that is ahead.
        let now = clock.seconds
        try ended.add(session.digest, until: now + 2 * Self.lifetime, now: now)
    }

    /// The first line keeps it apart from whatever else a token may sign.
    private func signature(_ text: String, _ token: Token) -> String {
        let (key, message) = (Array(token.value.utf8), Array("marquee session\n\(text)".utf8))
        return Base64URL.encode(SHA256.authenticate(message.span, with: key.span).bytes)
    }

    // MARK: Random

    /// A new token: 24 random bytes in base64url, which nobody can guess.
    package static func randomToken() -> String { Base64URL.encode(randomBytes(24)) }

    private static func randomBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max) }
    }
}

/// Decides from a request's head who may read and who may write.
///
/// Another site's page can make a browser send requests in its user's name. If its own name is bound to this machine's
/// address (DNS rebinding), the name in Host shows it. Origin and Sec-Fetch-Site show that another site's page writes.
final class RequestGate: Sendable {
    let configuration: FilmServiceConfiguration
    /// Nil if there is no library to write to.
    let ended: EndedSessions?
    /// The last accepted values of Host, so that each is parsed once.
    private let accepted = Lock<[String]>([])
    private static let mostHosts = 8

    init(configuration: FilmServiceConfiguration, ended: EndedSessions? = nil) {
        self.configuration = configuration
        self.ended = ended
    }

    /// Reads a request whose Host was checked.
    func call(_ head: RequestHead, from peer: Peer) throws(FilmRefusal) -> ServiceCall {
        let target: RequestTarget
        do throws(RequestTarget.Failure) {
            // The names of a folder's files need not be text.
            target = try RequestTarget(head.target, allowsBytes: !configuration.isRoot)
        } catch {
            throw FilmRefusal(.badRequest, error == .malformed ? "bad target" : "bad encoding in the target")
        }
        // The authority of a target in absolute form counts like Host.
        if let authority = target.authority { try checkHost(authority) }
        try checkForwarding(head.fields)
        guard configuration.takesTokens else { return try ServiceCall(head, peer, target, configuration) }
        let session = session(head.fields)
        let sender = sender(head.fields, from: peer, session)
        if sender == nil, BearerToken.token(in: head.fields) != nil {
            configuration.reportRefusedToken(head, peer)
        }
        let call = try ServiceCall(head, peer, target, configuration, sender: sender, session: session)
        if configuration.isPrivate, !call.isOpen { try checkRead(call) }
        return call
    }

    /// Throws if the sender may not read a private service. A browser is sent to the page that asks for a token.
    private func checkRead(_ call: ServiceCall) throws(FilmRefusal) {
        if call.sender == nil, call.isRead, FilmFormat.ofProblems(nil, call.fields) == .html {
            let path = PercentEncoding.encoded(String(call.head.target.drop { $0 == "/" }))
            throw FilmRefusal(
                .seeOther, "sign in to see it", fields: ["Location": call.toRoot + "login?to=\(path)"])
        }
        try check(call, .read)
    }

    /// Throws if the host is not this service's.
    func checkHost(_ fields: HeaderFields) throws(FilmRefusal) {
        for text in fields.values(of: "host") { try checkHost(text) }
    }

    private func checkHost(_ text: String) throws(FilmRefusal) {
        if accepted.withLock({ $0.contains(text) }) { return }
        guard let name = HostAndPort(text) else { throw FilmRefusal(.badRequest, "bad Host") }
        guard isAccepted(name) else {
            throw FilmRefusal(
                .forbidden,
                "the host \(name.host) is unknown; start with --public-url http://\(text) to serve it")
        }
        accepted.withLock { $0 = [text] + $0.prefix(Self.mostHosts - 1) }
    }

    private func isAccepted(_ name: HostAndPort) -> Bool {
        if name.isLoopback || configuration.publicAddresses.contains(where: { $0.origin.host == name.host }) {
            return true
        }
        // Names can be rebound to an address of this machine; addresses cannot.
        if configuration.listensEverywhere { return name.isAddress }
        return configuration.listeningHosts.contains { $0.lowercased() == name.host }
    }

    /// Throws if a proxy has forwarded the request to a service that trusts this machine: a stranger may have sent it.
    private func checkForwarding(_ fields: HeaderFields) throws(FilmRefusal) {
        guard configuration.isWritable, configuration.writers.trustsLocal, Self.isForwarded(fields) else {
            return
        }
        throw FilmRefusal(
            .forbidden,
            "a service with --trust-local takes no forwarded requests; its operator can use tokens instead")
    }

    /// Whether a proxy says that it has forwarded the request. A proxy that adds no field cannot be seen.
    private static func isForwarded(_ fields: HeaderFields) -> Bool {
        fields.fields.contains { field in
            let name = field.name.lowercased()
            return ["forwarded", "via", "x-real-ip"].contains(name) || name.hasPrefix("x-forwarded-")
        }
    }

    /// Throws if another site's page writes, or if the sender may not write.
    /// - Parameter role: what the sender needs. Default: what the request's method does.
    func checkWrite(_ call: ServiceCall, _ role: Role? = nil) throws(FilmRefusal) {
        try checkSite(call.fields)
        try check(call, role ?? call.route.role(call.method))
    }

    /// Throws if the sender's role is not enough.
    func check(_ call: ServiceCall, _ role: Role) throws(FilmRefusal) {
        if let sender = call.sender {
            if sender.role >= role { return }
            throw FilmRefusal(.forbidden, "this token may \(sender.role), but not \(role)")
        }
        let isWrong = BearerToken.token(in: call.fields) != nil
        let action = ["read": "reading", "rate": "rating", "write": "writing"][role.rawValue] ?? "this"
        throw FilmRefusal(
            .unauthorized,
            isWrong
                ? "this token may not \(role)" : "\(action) needs a token: send Authorization: Bearer TOKEN",
            fields: [
                "WWW-Authenticate": "Bearer realm=\"films\"" + (isWrong ? ", error=\"invalid_token\"" : "")
            ])
    }

    /// The sender of a request; nil if nothing shows it.
    /// - Parameter session: that of the request's cookie.
    func sender(_ fields: HeaderFields, from peer: Peer, _ session: WriteAccess.Session?) -> Sender? {
        let writers = configuration.writers
        if writers.trustsLocal, peer.isLocal { return Sender(name: "local", role: .admin) }
        if let token = BearerToken.token(in: fields) { return writers.token(token)?.sender }
        return session?.token.sender
    }

    /// The session of a request's cookie; nil if there is none, or it has ended.
    func session(_ fields: HeaderFields) -> WriteAccess.Session? {
        guard let cookie = SessionCookie(fields, configuration).value(in: fields),
            let session = configuration.writers.session(of: cookie),
            // Ignored: while the library cannot be read, nobody knows whether the session has ended.
            let hasEnded = try? ended?.contains(session.digest) ?? false, !hasEnded
        else { return nil }
        return session
    }

    /// Throws if another site's page sends the request.
    func checkSite(_ fields: HeaderFields) throws(FilmRefusal) {
        guard isOwnPage(fields) else { throw FilmRefusal(.forbidden, "other sites' pages must not write") }
    }

    /// Whether no page of another site has made the browser send the request.
    func isOwnPage(_ fields: HeaderFields) -> Bool {
        WebOrigin.isOwnPage(fields, others: configuration.publicAddresses.map(\.origin))
    }
}

/// A file of bearer tokens, one on each line. Blank lines are skipped. A line that begins with # names the token on the
/// next line in the log of requests; a token without a name is called by its place: `token 2`. A word after the name is the
/// token's role: `read`, `rate`, `write` (without a word) or `admin`.
///
///     # laptop
///     3Xq0nB2k9VdWJm5LrTfYc8Hs
///     # the children rate
///     Vd2nWJm5rTfY3Xq0kc8B9LHs
package enum TokenFile {
    /// The fewest characters of a token: 22 in base64 are 128 bits, which nobody can guess.
    package static let minimumLength = 22

    /// The most bytes of a token's name in logs.
    private static let longestName = 64

    /// The tokens of a file.
    package static func tokens(in bytes: [UInt8]) throws(ListFile.Fault) -> [WriteAccess.Token] {
        var count = 0
        return try ListFile.values(
            of: bytes, ifNone: "no token; write one on a line, for example from `openssl rand -base64 24`"
        ) { entry throws(ListFile.Fault) in
            count += 1
            guard entry.words.count == 1, BearerToken.isWellFormed(entry.words[0]) else {
                throw ListFile.Fault("a token has only letters, digits and -._~+/=")
            }
            guard entry.words[0].utf8.count >= minimumLength else {
                throw ListFile.Fault(
                    "a token has at least \(minimumLength) characters, for example from `openssl rand -base64 24`"
                )
            }
            var words = entry.comment.split(separator: " ")
            let role = words.count > 1 ? words.last.flatMap { Role(rawValue: String($0)) } : nil
            if role != nil { words.removeLast() }
            let name = words.joined(separator: " ")
            let hasName = !name.isEmpty && name.utf8.count <= longestName
            return WriteAccess.Token(
                name: hasName ? name : "token \(count)", value: entry.words[0], role: role ?? .write)
        }
    }
}
