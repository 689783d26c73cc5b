import Testing

@testable import LazyImages

@Suite("ChallengeField", .timeLimit(.minutes(30)))
struct ChallengeFieldTests {
    @Test(
        "a challenge is a scheme and its parameters, names without case, quoted or not (RFC 9110 section 11.6.1)"
    )
    func one() {
        let read = ChallengeField.parse(#"DIGEST Realm = "a \"film\", b" , nonce=abc,qop="auth, auth-int""#)
        #expect(read.count == 1)
        #expect(read[0].scheme == "digest")
        #expect(read[0].parameters == ["realm": "a \"film\", b", "nonce": "abc", "qop": "auth, auth-int"])
    }

    @Test("several challenges share a field, and several fields a header")
    func several() {
        let fields: HTTPFields = [
            "WWW-Authenticate":
                #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
            "www-authenticate": "Bearer",
        ]
        let read = ChallengeField.all(in: fields)
        #expect(read.map(\.scheme) == ["newauth", "basic", "bearer"])
        #expect(read.map(\.realm) == ["apps", "simple", ""])
    }

    @Test(
        "what is malformed ends the reading, and what was read before it counts",
        arguments: [
            ("", []), (",,, ,", []), ("= x", []), ("\"Basic\"", []), ("Basic realm=\"open", ["basic"]),
            ("Basic realm=", ["basic"]), ("Basic, ,Digest \u{1B}[2J", ["basic", "digest"]),
        ])
    func malformed(text: String, schemes: [String]) {
        #expect(ChallengeField.parse(text).map(\.scheme) == schemes)
    }

    @Test("of two parameters of one name the first counts")
    func duplicates() {
        #expect(ChallengeField.parse("Basic realm=a, realm=b")[0].realm == "a")
    }
}
