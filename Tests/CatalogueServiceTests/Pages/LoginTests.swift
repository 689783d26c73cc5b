import HTTPSemantics
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Signing in", .bounded, .ownThread)
struct LoginTests {
    private let token = "0123456789abcdefghijklmn"
    private let html: HeaderFields = ["Accept": "text/html"]

    private func client() throws -> FilmClient {
        try FilmClient { $0.writers = WriteAccess([WriteAccess.Token(name: "laptop", value: token)]) }
    }

    @Test(
        "signing in leads to no other site",
        arguments: ["http://evil.example", "//evil.example", "/\\evil", "login"])
    func otherSites(_ destination: String) throws {
        let path = PercentEncoding.encoded(destination)
        #expect(try client().get("/login?token=\(token)&to=\(path)", html)["location"] == "./")
    }

    @Test("a forged, foreign or ended session may not write")
    func forged() throws {
        let client = try client()
        let other = try FilmClient {
            $0.writers = WriteAccess([WriteAccess.Token(name: "other", value: token + "2")])
        }.get("/login?token=\(token)2")
        let foreign = try #require(other["set-cookie"]?.split(separator: ";").first)
        for cookie in [
            String(foreign), "marquee-8080=", "marquee-8080=a.b", "marquee-8080=a.1.b",
            "marquee-8080=\(token)",
        ] {
            let answer = try client.send("POST", "/films", #"{"title":"A"}"#, ["Cookie": cookie])
            #expect(answer.status == 401, "\(cookie)")
        }
    }
}
