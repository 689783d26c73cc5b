import HTTPSemantics
import TestTraits
import Testing

@Suite("BearerToken, RFC 6750", .bounded)
struct BearerTokenTests {
    @Test("a token is read from a single Authorization field with the scheme Bearer")
    func read() {
        #expect(BearerToken.token(in: ["Authorization": "Bearer mF_9.B5f-4.1JqM/+="]) == "mF_9.B5f-4.1JqM/+=")
        #expect(BearerToken.token(in: ["authorization": "bearer  abc"]) == "abc")
        for value in ["Basic abc", "Bearer", "Bearer ", "abc", "Bearer a b", "Bearer a,b"] {
            #expect(BearerToken.token(in: ["Authorization": value]) == nil)
        }
        var twice: HeaderFields = ["Authorization": "Bearer abc"]
        twice.append(.init(name: "Authorization", value: "Bearer abc"))
        #expect(BearerToken.token(in: twice) == nil)
    }

    @Test("a token is accepted only if every byte is equal")
    func accepted() {
        let tokens = ["first-token-0123456789", "second-token-0123456789"]
        for token in tokens { #expect(BearerToken.isAccepted(token, among: tokens)) }
        for token in ["", "first-token-012345678", "first-token-01234567890", "First-token-0123456789"] {
            #expect(!BearerToken.isAccepted(token, among: tokens))
        }
        #expect(!BearerToken.isAccepted("", among: []))
    }
}
