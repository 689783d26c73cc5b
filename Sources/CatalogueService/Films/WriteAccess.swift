import HTTPSemantics
import LazyImages
import SystemSupport

/// Who may change films: programs that send a token, and browsers with a session cookie.
///
/// A local connection proves nothing: behind a proxy every stranger's request comes over the loopback interface. So each
/// write needs a token, unless the operator trusts this machine (`trustsLocal`).
///
/// A browser shows a token once, and gets a cookie:
///
///     marquee-8080=u9BQ2dQ1pTn0y0r5mKcD1g.3Zf…        NONCE.SIGNATURE, both in base64url
///
/// The signature is the HMAC-SHA256 of the nonce and the token, with a key of this process. So a cookie ends with the
/// process, and with its token. Safe for concurrent use.
package final class WriteAccess: Sendable {
    /// A token for writing.
    package struct Token: Sendable, Hashable {
        /// The name of its user in logs.
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Whether requests from this machine may write without a token. A request that a proxy has forwarded never may.
    package let trustsLocal: Bool
    private let tokens: Lock<[Token]>
    private let key = WriteAccess.randomBytes(32)

    /// - Parameters:
    ///   - tokens: the tokens. Default: none, so that only this machine may write, if it is trusted.
    ///   - trustsLocal: default false.
    package init(_ tokens: [Token] = [], trustsLocal: Bool = false) {
        self.tokens = Lock(tokens)
        self.trustsLocal = trustsLocal
    }

    /// Exchanges the tokens. The cookies of removed tokens end at once.
    /// - Returns: the numbers of added and of removed tokens.
    @discardableResult
    package func replaceTokens(with new: [Token]) -> (added: Int, removed: Int) {
        let old = tokens.withLock { tokens in
            defer { tokens = new }
            return tokens
        }
        let (before, after) = (Set(old.map(\.value)), Set(new.map(\.value)))
        return (after.subtracting(before).count, before.subtracting(after).count)
    }

    /// The token with this value; nil if there is none.
    func token(_ value: String) -> Token? {
        tokens.withLock { $0 }.first { BearerToken.isAccepted(value, among: [$0.value]) }
    }

    // MARK: Cookies

    /// A new session for a browser that has shown a token.
    func session(of token: Token) -> String {
        let nonce = Base64URL.encode(Self.randomBytes(16))
        return "\(nonce).\(signature(nonce, token))"
    }

    /// The token that a session was opened with; nil if the session is not valid.
    func token(ofSession session: String) -> Token? {
        let parts = session.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count <= 64 else { return nil }
        return tokens.withLock { $0 }.first {
            BearerToken.isAccepted(String(parts[1]), among: [signature(String(parts[0]), $0)])
        }
    }

    private func signature(_ nonce: String, _ token: Token) -> String {
        let (key, message) = (key, Array("\(nonce)\n\(token.value)".utf8))
        return Base64URL.encode(SHA256.authenticate(message.span, with: key.span).bytes)
    }

    // MARK: Random

    /// A new token: 24 random bytes in base64url, which nobody can guess.
    package static func randomToken() -> String { Base64URL.encode(randomBytes(24)) }

    private static func randomBytes(_ count: Int) -> [UInt8] {
        var numbers = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &numbers) }
    }
}
