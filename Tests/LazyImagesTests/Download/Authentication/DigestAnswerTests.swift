import TestTraits
import Testing

@testable import LazyImages

@Suite("DigestAnswer", .bounded)
struct DigestAnswerTests {
    @Test(
        "the answer agrees with the examples of RFC 7616, section 3.9.1",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func example(algorithm: String, response: String) throws {
        let challenge = ChallengeField.parse(
            "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=\(algorithm), "
                + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", "
                + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"")
        let field = try #require(DigestAnswer(challenge[0])).field(
            user: "Mufasa", password: "Circle of Life", uri: "/dir/index.html", count: 1,
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        #expect(
            field == """
                Digest username="Mufasa", realm="http-auth@example.org", \
                nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", uri="/dir/index.html", \
                response="\(response)", algorithm=\(algorithm), \
                cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", nc=00000001, qop=auth, \
                opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
                """)
    }

    @Test(
        "a challenge that Digest cannot answer is ignored",
        arguments: [
            "Digest realm=a", "Digest nonce=a, algorithm=SHA-512-256", "Digest nonce=a, qop=auth-int",
        ])
    func unanswerable(text: String) {
        #expect(DigestAnswer(ChallengeField.parse(text)[0]) == nil)
    }

    @Test("no text of a server or a user can close its quotes")
    func quotes() throws {
        let challenge = ChallengeField(
            scheme: "digest", parameters: ["nonce": "a\"b\\c", "realm": "x\r\nY: z"])
        let field = try #require(DigestAnswer(challenge)).field(
            user: "u\"", password: "p", uri: "/", count: 1, clientNonce: "c")
        #expect(field.contains(#"username="u\"", realm="xY: z", nonce="a\"b\\c""#))
        #expect(!field.contains("\n") && !field.contains("\r"))
    }
}
