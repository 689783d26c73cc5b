import HTTPSemantics
import HTTPServer
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Signing in", .bounded)
struct LoginTests {
    private let token = "0123456789abcdefghijklmn"
    private let html: HeaderFields = ["Accept": "text/html"]

    private func client(_ configure: (inout FilmServiceConfiguration) -> Void = { _ in }) throws -> FilmClient
    {
        let client = try FilmClient {
            $0.writers = WriteAccess([WriteAccess.Token(name: "laptop", value: token)])
            configure(&$0)
        }
        _ = try client.send(
            "POST", "/films", #"{"id":"faust","title":"Faust"}"#, ["Authorization": "Bearer \(token)"])
        return client
    }

    private func html(_ cookie: Substring) -> HeaderFields {
        ["Accept": "text/html", "Cookie": String(cookie)]
    }

    private func form(_ client: FilmClient, _ target: String, _ body: String, _ fields: HeaderFields = [:])
        throws
        -> FilmClient.Answer
    {
        try client.send("POST", target, body, type: "application/x-www-form-urlencoded", fields)
    }

    @Test("the address with the token signs a browser in and goes on to the page")
    func address() throws {
        let client = try client()
        let answer = try client.get("/login?token=\(token)&to=films%2Ffaust%2Fedit", html)
        #expect(answer.status == 303 && answer["location"] == "films/faust/edit")
        let field = try #require(answer["set-cookie"])
        #expect(field.hasPrefix("marquee-8080=") && field.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
        let cookie = try #require(field.split(separator: ";").first)
        let page = try client.get("/films/faust", html("a=b; \(cookie); c=d"))
        #expect(page.text.contains("Your vote") && page.text.contains("Sign out"))
        #expect(page["cache-control"] == "private, no-store")
        let sent = try form(
            client, "/films/faust/rate", "rater=me&value=8",
            ["Cookie": String(cookie), "Origin": "http://127.0.0.1:8080"])
        #expect(sent.status == 303)
    }

    @Test("a reader's page has no form, and a link to sign in")
    func reader() throws {
        let client = try client()
        let page = try client.get("/films/faust", html)
        #expect(!page.text.contains("Your vote") && page.text.contains(#"href="../login""#))
        #expect(page["cache-control"] == "no-cache")
        let add = try client.get("/add", html)
        #expect(add.status == 303 && add["location"] == "login?to=add")
        let write = try form(client, "/add", "title=A", html)
        #expect(write.status == 401 && write.text.contains(#"href="login""#))
        #expect(try FilmClient { $0.isWritable = false }.get("/login", html).status == 404)
    }

    @Test("the login page takes a token by hand, and refuses a wrong one")
    func byHand() throws {
        let client = try client()
        let page = try client.get("/login?to=add", html)
        #expect(page.status == 200 && page.text.contains(#"value="add""#))
        let wrong = try form(client, "/login", "token=\(token)x&to=add", html)
        #expect(wrong.status == 401 && wrong.text.contains("may not write") && wrong["set-cookie"] == nil)
        #expect(try client.get("/login?token=x", html).status == 401)
        let right = try form(client, "/login", "token=\(token)&to=add", html)
        #expect(right.status == 303 && right["location"] == "add" && right["set-cookie"] != nil)
        let elsewhere: HeaderFields = ["Accept": "text/html", "Origin": "http://evil.example"]
        #expect(try form(client, "/login", "token=\(token)", elsewhere).status == 403)
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

    @Test("signing out removes the cookie")
    func signOut() throws {
        let client = try client()
        let answer = try form(client, "/login", "out=1", html)
        #expect(
            answer.status == 303
                && answer["set-cookie"]?.hasPrefix("marquee-8080=; Max-Age=0; Path=/") == true)
    }

    @Test("behind an https proxy with a path the cookie is Secure and for that path")
    func publicAddress() throws {
        let client = try client {
            $0.publicAddresses = [PublicAddress("https://example.org/kino")].compactMap { $0 }
        }
        let answer = try client.get("/login?token=\(token)", ["Host": "example.org"])
        let field = try #require(answer["set-cookie"])
        #expect(
            field.hasPrefix("marquee-443=")
                && field.hasSuffix("; Path=/kino/; HttpOnly; SameSite=Strict; Secure"))
        let description = try client.get("/soap?wsdl", ["Host": "example.org"])
        #expect(description.text.contains("https://example.org/kino/soap"))
    }
}
