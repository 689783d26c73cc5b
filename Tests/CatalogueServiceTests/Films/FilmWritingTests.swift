import FilmSources
import Films
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Writing films", .bounded, .ownThread)
struct FilmWritingTests {
    private let film = #"{"id":"a","title":"El Camión","year":2019,"genres":["Crime","Drama"],"seen":true}"#

    private func client() throws -> FilmClient {
        let client = try FilmClient()
        #expect(try client.send("POST", "/films", film).status == 201)
        return client
    }

    @Test("an id that the addresses of the service use is 422", arguments: ["top", "a.XML", "a.html"])
    func badID(id: String) throws {
        let body = JSONText(members: [
            .init(name: "id", value: JSONText(id)), .init(name: "title", value: JSONText("T")),
        ])
        let answer = try FilmClient().send("POST", "/films", body.text)
        #expect(answer.status == 422 && answer.text.contains(#""pointer":"/id""#))
    }

    @Test("XML without an element is 400")
    func noElement() throws {
        #expect(try FilmClient().send("POST", "/films", "<?x?>", type: "application/xml").status == 400)
    }

    @Test("a client cannot name files of the service's machine, and can keep those that the owner has named")
    func files() throws {
        let client = try FilmClient()
        for address in [
            "file:///etc/a.png", " FILE:/etc/a.png", "///etc/a.png", "//@/etc/a.png", "\u{A0}file:/a",
        ] {
            for member in ["poster", "media", "page"] {
                let answer = try client.send(
                    "POST", "/films", "{\"title\":\"a\",\"\(member)\":\"\(address)\"}")
                #expect(answer.status == 422, "\(member) \(address)")
            }
        }
        #expect(
            try client.send("POST", "/films", #"{"title":"a","poster":"//example.org/a.png"}"#).status == 201)
        let change = try client.send("PATCH", "/films/a", #"{"media":"file:///etc/a.mkv"}"#)
        #expect(change.status == 422)
    }

    @Test("a film above 256 KiB is 413, one with more than 1,000 members 422, and neither is stored")
    func sizes() throws {
        let folder = try TemporaryFolder()
        let client = try FilmClient(
            library: FilmLibrary(path: folder.file("films.db"), access: .creating))
        func film(_ bytes: Int) -> String {
            #"{"title":"A","overview":"\#(String(repeating: "x", count: bytes - 27))"}"#
        }
        let most = film(FilmLibrary.filmBytes)
        #expect(most.utf8.count == 262_144)
        #expect(try client.send("PUT", "/films/a", most).status == 201)
        let large = try client.send("PUT", "/films/a", film(FilmLibrary.filmBytes + 1))
        #expect(large.status == 413 && large.text.contains("262145 bytes as JSON; at most 262144 are stored"))
        let patched = try client.send("PATCH", "/films/a", #"{"year":1922}"#)
        #expect(patched.status == 413)
        #expect(try client.send("PATCH", "/films/a", #"{"overview":"short"}"#).status == 200)
        let members = (0..<1000).map { "\"m\($0)\":1" }.joined(separator: ",")
        let many = try client.send("POST", "/films", "{\"title\":\"B\",\(members)}")
        #expect(many.status == 422 && many.text.contains("1001 members; at most 1000 are stored"))
        #expect(try client.library.count == 1)
        // A body that can hold no such film is refused before it is sent.
        let long = try client.send(
            "POST", "/films", ["Content-Type": "application/json", "Content-Length": "1048577"])
        #expect(long.status == 413 && long.isEarly)
    }

    @Test("a film can be sent back as it was read, in both formats")
    func roundTrip() throws {
        let client = try client()
        let overview = #"{"overview":"One.\n\nTwo,  and\tmore."}"#
        #expect(try client.send("PATCH", "/films/a", overview).status == 200)
        for (ending, type) in [("", "application/json"), (".xml", "application/xml")] {
            let before = try client.get("/films/a\(ending)")
            let put = try client.send("PUT", "/films/a", ["Content-Type": type], body: before.bytes)
            #expect(put.status == 200)
            let after = try client.get("/films/a")
            #expect(try after.film["overview"]?.string == "One.\n\nTwo,  and\tmore.")
            for name in ["id", "title", "year", "genres", "seen", "created_at"] {
                #expect(
                    try after.film[name] == FilmDocument(json: JSONText(parsing: Array(film.utf8)))[name]
                        || name == "created_at", "\(name)")
            }
        }
    }

    @Test("conditions compare with the present film, in either format's entity tag")
    func conditions() throws {
        let client = try client()
        let json = try #require(try client.get("/films/a")["etag"])
        let xml = try #require(try client.get("/films/a.xml")["etag"])
        #expect(json != xml)
        #expect(try client.send("PATCH", "/films/a", #"{"year":1}"#, ["If-Match": "\"x\""]).status == 412)
        #expect(try client.send("PATCH", "/films/a", #"{"year":1900}"#, ["If-Match": xml]).status == 200)
        #expect(try client.send("PATCH", "/films/a", #"{"year":1901}"#, ["If-Match": json]).status == 412)
        #expect(try client.send("PUT", "/films/a", film, ["If-Match": json]).status == 412)
        #expect(try client.send("PUT", "/films/a", film, ["If-None-Match": "*"]).status == 412)
        #expect(try client.send("PUT", "/films/b", #"{"title":"b"}"#, ["If-Match": "*"]).status == 412)
        #expect(try client.send("PUT", "/films/b", #"{"title":"b"}"#, ["If-None-Match": "*"]).status == 201)
        #expect(try client.send("DELETE", "/films/a", ["If-Match": json]).status == 412)
        let now = try #require(try client.get("/films/a")["etag"])
        #expect(try client.send("DELETE", "/films/a", ["If-Match": now]).status == 204)
        #expect(try client.send("DELETE", "/films/a").status == 404)
        #expect(try client.get("/films/a").status == 404)
    }

    @Test("the entity tag of a removed film is not used again for a new one")
    func tagOfNewFilm() throws {
        let client = try client()
        let tag = try #require(try client.get("/films/a")["etag"])
        #expect(try client.send("DELETE", "/films/a").status == 204)
        #expect(try client.send("POST", "/films", film).status == 201)
        #expect(try client.get("/films/a", ["If-None-Match": tag]).status == 200)
    }
}
