import TestTraits
import Testing

@testable import LazyImages

@Suite("ChallengeField", .bounded)
struct ChallengeFieldTests {
    @Test(
        "a challenge is a scheme and its parameters; names ignore case; values may be quoted (RFC 9110 section 11.6.1)"
    )
    func one() {
        let read = ChallengeField.parse(#"DIGEST Realm = "a \"film\", b" , nonce=abc,qop="auth, auth-int""#)
        #expect(read.count == 1)
        #expect(read[0].scheme == "digest")
        #expect(read[0].parameters == ["realm": "a \"film\", b", "nonce": "abc", "qop": "auth, auth-int"])
    }

    @Test("a field may hold several challenges, and a header several fields")
    func several() {
        let fields: HeaderFields = [
            "WWW-Authenticate":
                #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
            "www-authenticate": "Bearer",
        ]
        let read = ChallengeField.all(in: fields)
        #expect(read.map(\.scheme) == ["newauth", "basic", "bearer"])
        #expect(read.map(\.realm) == ["apps", "simple", ""])
    }

    @Test(
        "a malformed challenge ends the parsing, and the challenges before it count",
        arguments: [
            ("", []), (",,, ,", []), ("= x", []), ("\"Basic\"", []), ("Basic realm=\"open", ["basic"]),
            ("Basic realm=", ["basic"]), ("Basic, ,Digest \u{1B}[2J", ["basic", "digest"]),
        ])
    func malformed(text: String, schemes: [String]) {
        #expect(ChallengeField.parse(text).map(\.scheme) == schemes)
    }

    @Test("the first of two parameters with one name counts")
    func duplicates() {
        #expect(ChallengeField.parse("Basic realm=a, realm=b")[0].realm == "a")
    }
}
