import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("AuthenticationBroker", .bounded)
struct AuthenticationBrokerTests {
    /// Returns its credentials in order, and records the challenges.
    private final class RecordingAuthenticator: HTTPAuthenticator {
        let answers: [AuthenticationChallenge.Scheme: [Credential]]
        let asked = Shared<[AuthenticationChallenge]>([])

        init(_ answers: [AuthenticationChallenge.Scheme: [Credential]]) { self.answers = answers }

        func credential(for challenge: AuthenticationChallenge) async -> Credential? {
            let before = asked.value.count { $0.scheme == challenge.scheme }
            asked.change { $0.append(challenge) }
            let known = answers[challenge.scheme] ?? []
            return before < known.count ? known[before] : nil
        }
    }

    private let password = Credential.password(user: "u", password: "p")

    @Test(
        "the authenticator is asked once per origin, however many requests wait, and later requests use its answer"
    )
    func once() async throws {
        let authenticator = RecordingAuthenticator([.basic: [password]])
        let broker = AuthenticationBroker(authenticator)
        let url = try URL(typed: "https://example.org/a.png")
        #expect(await broker.authorization(for: url) == nil)
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    await broker.authorization(
                        for: url, asked: ["WWW-Authenticate": "Basic realm=x"], refused: nil)?
                        .field
                }
            }
            for await field in group { #expect(field == "Basic dTpw") }
        }
        #expect(authenticator.asked.value.count == 1)
        #expect(authenticator.asked.value[0].origin.absoluteString == "https://example.org:443/")
        #expect(
            await broker.authorization(for: try URL(typed: "https://example.org/b.png"))?.field
                == "Basic dTpw")
        for other in ["https://example.org:444/", "http://example.org/", "https://other.example/"] {
            #expect(await broker.authorization(for: try URL(typed: other)) == nil)
        }
    }

    @Test("the safest supported scheme of several is chosen")
    func schemes() async throws {
        let fields: HeaderFields = [
            "WWW-Authenticate": "Basic realm=x, Digest realm=x, nonce=n, algorithm=MD5, Negotiate",
            "www-authenticate": "Digest realm=x, nonce=m, algorithm=SHA-256, Bearer",
        ]
        let url = try URL(typed: "https://example.org/a.png")
        let all = RecordingAuthenticator([.basic: [password], .digest: [password], .bearer: [.token("t")]])
        #expect(
            await AuthenticationBroker(all).authorization(for: url, asked: fields, refused: nil)?.field
                == "Bearer t")
        let digest = RecordingAuthenticator([.basic: [password], .digest: [password]])
        let field = await AuthenticationBroker(digest).authorization(for: url, asked: fields, refused: nil)?
            .field
        #expect(field?.contains("nonce=\"m\"") == true && field?.contains("algorithm=SHA-256") == true)
        let basic = RecordingAuthenticator([.basic: [password]])
        #expect(
            await AuthenticationBroker(basic).authorization(for: url, asked: fields, refused: nil)?.field
                == "Basic dTpw")
    }

    @Test("a rejected credential is asked for again, unless another request has brought a new one")
    func refused() async throws {
        let better = Credential.password(user: "u", password: "q")
        let authenticator = RecordingAuthenticator([.basic: [password, better]])
        let broker = AuthenticationBroker(authenticator)
        let url = try URL(typed: "https://example.org/a.png")
        let fields: HeaderFields = ["WWW-Authenticate": "Basic realm=x"]
        let first = await broker.authorization(for: url, asked: fields, refused: nil)
        let second = await broker.authorization(for: url, asked: fields, refused: first)
        #expect(second?.credential == better)
        #expect(await broker.authorization(for: url, asked: fields, refused: first)?.credential == better)
        #expect(authenticator.asked.value.map(\.isRepeated) == [false, true])
        #expect(await broker.authorization(for: url, asked: fields, refused: second) == nil)
        #expect(await broker.authorization(for: url) == nil)
    }

    @Test("a stale nonce is answered again without the authenticator, and the uses of a nonce are counted")
    func stale() async throws {
        let authenticator = RecordingAuthenticator([.digest: [password]])
        let broker = AuthenticationBroker(authenticator, clientNonce: { "c" })
        let url = try URL(typed: "https://example.org/a.png?b=c")
        let first = await broker.authorization(
            for: url, asked: ["WWW-Authenticate": "Digest realm=x, nonce=one, qop=auth"], refused: nil)
        #expect(
            first?.field.contains("uri=\"/a.png?b=c\"") == true
                && first?.field.contains("nc=00000001") == true)
        #expect(await broker.authorization(for: url)?.field.contains("nc=00000002") == true)
        let again = await broker.authorization(
            for: url, asked: ["WWW-Authenticate": "Digest realm=x, nonce=two, qop=auth, stale=TRUE"],
            refused: first)
        #expect(again?.field.contains("nonce=\"two\"") == true)
        #expect(authenticator.asked.value.count == 1)
    }

    @Test("a cancelled request does not wait for the authenticator, and later requests join its question")
    func cancelled() async throws {
        let silent = SilentAuthenticator(password)
        let broker = AuthenticationBroker(silent)
        let url = try URL(typed: "https://example.org/a.png")
        func ask() -> Task<String?, Never> {
            Task {
                await broker.authorization(
                    for: url, asked: ["WWW-Authenticate": "Basic realm=x"], refused: nil)?.field
            }
        }
        let first = ask()
        try await silent.asked.wait(for: 1)
        first.cancel()
        #expect(await first.value == nil)
        let second = ask()
        let third = ask()
        third.cancel()
        #expect(await third.value == nil)
        silent.answer.add()
        #expect(await second.value == "Basic dTpw" && silent.asked.count == 1)
    }
}
