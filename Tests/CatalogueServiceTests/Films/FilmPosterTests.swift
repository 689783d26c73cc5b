import Films
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Posters", .bounded, .ownThread)
struct FilmPosterTests {
    private func client(_ more: String = "") throws -> FilmClient {
        let client = try FilmClient()
        #expect(try client.send("POST", "/films", "{\"id\":\"a b\",\"title\":\"A\"\(more)}").status == 201)
        return client
    }

    private let path = "/films/a%20b/poster"

    @Test("a poster with more pixels than sizes are made of is 422, and the answer names the limit")
    func tooManyPixels() throws {
        let client = try client()
        let answer = try client.send("PUT", path, body: Samples.hugeJPEG())
        #expect(answer.status == 422)
        #expect(answer.text.contains("too large: 600000000 pixels, at most 500000000 allowed"))
    }

    @Test("the address of a poster leads to the same picture from every answer")
    func addresses() throws {
        let client = try client()
        #expect(try client.send("PUT", path, body: SampleImages.png).status == 201)
        #expect(try client.get("/films/a%20b").film["poster"]?.string == "a%20b/poster")
        func first(_ target: String) throws -> String? {
            let movies = try client.get(target).film["movies"]?.elements
            return try movies?.first.map { try FilmDocument(json: $0)["poster"]?.string } ?? nil
        }
        #expect(try first("/films") == "films/a%20b/poster" && first("/") == "films/a%20b/poster")
        #expect(try first("/films/top3") == "a%20b/poster" && first("/films/top/3") == "../a%20b/poster")
        #expect(
            try Catalogue(parsing: try client.get("/films/top/3.xml").bytes).movies.first?.poster
                == "../a%20b/poster")
    }

    @Test(
        "a poster stays when the film is sent back with its address or patched, and goes when it is sent without"
    )
    func keeping() throws {
        let client = try client()
        #expect(try client.send("PUT", path, body: SampleImages.png).status == 201)
        let tag = try client.get(path)["etag"]
        let film = try client.get("/films/a%20b")
        #expect(
            try client.send("PUT", "/films/a%20b", ["Content-Type": "application/json"], body: film.bytes)
                .status == 200)
        #expect(try client.send("PATCH", "/films/a%20b", #"{"year":1922}"#).status == 200)
        #expect(try client.get(path)["etag"] == tag)
        let elsewhere = #"{"poster":"https://example.org/a.jpg"}"#
        #expect(try client.send("PATCH", "/films/a%20b", elsewhere).status == 200)
        #expect(try client.get(path).status == 403)
        #expect(try client.send("PUT", path, body: SampleImages.png).status == 201)
        #expect(try client.send("PATCH", "/films/a%20b", #"{"poster":null}"#).status == 200)
        #expect(try client.get(path).status == 404)
        #expect(try client.send("PUT", path, body: SampleImages.png).status == 201)
        #expect(try client.send("PUT", "/films/a%20b", #"{"title":"A"}"#).status == 200)
        #expect(try client.get(path).status == 404)
    }

    @Test("a poster beside the films or at this service is a redirect; one with another scheme is not found")
    func elsewhere() throws {
        for (address, location) in [
            ("http://127.0.0.1:8080/é a.jpg", "http://127.0.0.1:8080/%C3%A9%20a.jpg"),
            ("HTTP://127.0.0.1:8080/a", "HTTP://127.0.0.1:8080/a"),
            ("posters/a.jpg", "../../posters/a.jpg"), ("javascript:alert(1)", nil),
            ("//example.org/a.jpg", nil), ("/a.jpg", nil), ("data:image/png;base64,AA", nil),
            ("https://me@example.org/", nil),
        ] as [(String, String?)] {
            let client = try client(",\"poster\":\(JSONText(address).text)")
            let answer = try client.get(path)
            #expect(
                answer.status == (location == nil ? 404 : 302) && answer["location"] == location, "\(address)"
            )
        }
    }

    @Test(
        "a poster in a file, which only the owner can name, is not found, and stays when a client replaces the film"
    )
    func fileOfOwner() throws {
        let client = try FilmClient()
        let film = #"{"title":"A","poster":"file:///etc/passwd"}"#
        _ = try FilmOperations(client.library).add(
            try FilmDocument(json: JSONText(parsing: Array(film.utf8))), id: "a b")
        let answer = try client.get(path)
        #expect(answer.status == 404 && answer["location"] == nil)
        #expect(try client.send("PUT", "/films/a%20b", film).status == 200)
        #expect(try client.send("PUT", "/films/a%20b", film.replacing("passwd", with: "group")).status == 422)
    }

    @Test(
        "a poster at another host is 403, and the answer says how the operator allows the host",
        arguments: [
            ("https://example.org/a.jpg", "example.org"),
            ("http://example.org:8080/a.jpg", "example.org:8080"),
            ("http://127.0.0.1:81/a.jpg", "127.0.0.1:81"), ("https://[2001:db8::1]/a.jpg", "[2001:db8::1]"),
        ])
    func foreign(address: String, host: String) throws {
        let client = try client(",\"poster\":\"\(address)\"")
        let answer = try client.get(path)
        #expect(answer.status == 403 && answer["location"] == nil)
        #expect(answer.text.contains("--source \(host)\""))
    }
}
