import Films
import HTTPSemantics
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Posters", .bounded)
struct FilmPosterTests {
    private func client(_ more: String = "") throws -> FilmClient {
        let client = try FilmClient()
        #expect(try client.send("POST", "/films", "{\"id\":\"a b\",\"title\":\"A\"\(more)}").status == 201)
        return client
    }

    private let path = "/films/a%20b/poster"

    @Test("a poster is served as the same bytes, with the type of its format")
    func sameBytes() throws {
        let client = try client()
        for (bytes, type, status) in [
            (SampleImages.png, "image/png", 201), (SampleImages.jpeg, "image/jpeg", 204),
        ] {
            let put = try client.send("PUT", path, ["Content-Type": "image/png"], body: bytes)
            #expect(put.status == status)
            let answer = try client.get(path)
            #expect(answer.status == 200 && answer.bytes == bytes && answer["content-type"] == type)
            #expect(answer["etag"] == put["etag"] && answer["cache-control"] == "no-cache")
            #expect(answer["content-security-policy"] == "default-src 'none'; sandbox")
            #expect(try client.get(path, ["If-None-Match": try #require(put["etag"])]).status == 304)
        }
    }

    /// The sample JPEG with an Exif segment and a comment behind its SOI, and more bytes behind its end.
    private let tellingJPEG: [UInt8] = {
        let note = Array("GPS 52.52 N".utf8)
        func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
            [0xFF, marker, 0, UInt8(body.count + 2)] + body
        }
        let (start, rest) = (Array(SampleImages.jpeg.prefix(2)), Array(SampleImages.jpeg.dropFirst(2)))
        return start + segment(0xE1, Array("Exif\0\0".utf8) + note) + segment(0xFE, note) + rest + note
    }()

    @Test("a poster is stored without its metadata, by PUT and in a form")
    func stripped() throws {
        let client = try client()
        #expect(try client.send("PUT", path, body: tellingJPEG).status == 201)
        #expect(try client.get(path).bytes == SampleImages.jpeg)
        let form = MultipartBody([("title", "B"), ("id", "b")], poster: tellingJPEG)
        #expect(
            try client.send("POST", "/films", ["Content-Type": MultipartBody.type], body: form.bytes).status
                == 201)
        #expect(try client.get("/films/b/poster").bytes == SampleImages.jpeg)
        // The text and the bytes behind the end of a PNG go too.
        #expect(try client.send("PUT", path, body: SampleImages.png(bytes: 200)).status == 204)
        #expect(try client.get(path).bytes == SampleImages.png)
    }

    @Test("a service that keeps metadata stores the bytes as they came")
    func kept() throws {
        let client = try FilmClient { $0.keepsMetadata = true }
        #expect(try client.send("POST", "/films", #"{"id":"a b","title":"A"}"#).status == 201)
        #expect(try client.send("PUT", path, body: tellingJPEG).status == 201)
        #expect(try client.get(path).bytes == tellingJPEG)
    }

    @Test("ranges of a poster are served")
    func ranges() throws {
        let client = try client()
        #expect(try client.send("PUT", path, body: SampleImages.png).status == 201)
        let part = try client.get(path, ["Range": "bytes=2-5"])
        #expect(part.status == 206 && part.bytes == Array(SampleImages.png[2...5]))
        #expect(part["content-range"] == "bytes 2-5/\(SampleImages.png.count)")
        #expect(try client.get(path, ["Range": "bytes=9999-"]).status == 416)
        #expect(try client.get(path, ["Range": "bytes=2-5", "If-Range": "\"x\""]).status == 200)
    }

    @Test("a poster that cannot be decoded is 422 with the reason, and another format 415")
    func refused() throws {
        let client = try client()
        for bytes in [
            Array("hello".utf8), Array(SampleImages.png.dropLast(20)),
            Array("GIF89a\u{1}\0\u{1}\0\0\0\0".utf8), [],
        ] {
            let answer = try client.send("PUT", path, ["Content-Type": "image/png"], body: bytes)
            #expect(answer.status == 422 && answer.text.contains(#""pointer":"/poster""#))
        }
        let form = try client.send(
            "PUT", path, ["Content-Type": "application/x-www-form-urlencoded"], body: SampleImages.png)
        #expect(form.status == 415 && form.isEarly)
        #expect(form["accept"] == "image/jpeg, image/png, image/webp, image/gif, image/bmp")
        let long = try client.send("PUT", path, ["Content-Length": "33554433"])
        #expect(long.status == 413 && long.isEarly)
        #expect(try client.send("PUT", "/films/none/poster", body: SampleImages.png).status == 404)
        #expect(try client.get(path).status == 404)
    }

    @Test("a poster with more pixels than sizes are made of is 422, and the answer names the limit")
    func tooManyPixels() throws {
        let client = try client()
        let answer = try client.send("PUT", path, body: Samples.greyJPEG(6500, 6500).array)
        #expect(answer.status == 422)
        #expect(answer.text.contains("too large: 42250000 pixels, at most 40000000 allowed"))
    }

    @Test("a poster can be sent in a form, too")
    func form() throws {
        let client = try FilmClient()
        let body = MultipartBody([("film[title]", "A"), ("film[id]", "a b")], poster: SampleImages.png)
        let created = try client.send(
            "POST", "/films", ["Content-Type": MultipartBody.type], body: body.bytes)
        #expect(try created.status == 201 && created.film["poster"]?.string == "films/a%20b/poster")
        #expect(try client.get(path).bytes == SampleImages.png)
        let patch = MultipartBody([], poster: SampleImages.jpeg)
        #expect(
            try client.send("PATCH", "/films/a%20b", ["Content-Type": MultipartBody.type], body: patch.bytes)
                .status == 200)
        #expect(try client.get(path).bytes == SampleImages.jpeg)
        let bad = MultipartBody([("title", "B")], poster: Array("hello".utf8))
        #expect(
            try client.send("POST", "/films", ["Content-Type": MultipartBody.type], body: bad.bytes).status
                == 422)
        let none = MultipartBody([("title", "B")], poster: [])
        #expect(
            try client.send("POST", "/films", ["Content-Type": MultipartBody.type], body: none.bytes).status
                == 201)
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

    @Test("a relative poster is given relative to each answer, and is stored as it was")
    func relative() throws {
        let client = try client(",\"poster\":\"posters/a.jpg\"")
        let film = try client.get("/films/a%20b")
        #expect(try film.film["poster"]?.string == "../posters/a.jpg")
        #expect(
            try client.send("PUT", "/films/a%20b", ["Content-Type": "application/json"], body: film.bytes)
                .status == 200)
        #expect(try client.library.film("a b")?.document["poster"]?.string == "posters/a.jpg")
        #expect(try client.get("/films").text.contains("\"posters/a.jpg\""))
    }

    @Test("a poster is removed, also one at an address")
    func remove() throws {
        let client = try client(",\"poster\":\"https://example.org/a.jpg\"")
        #expect(try client.send("DELETE", path).status == 204)
        #expect(try client.send("DELETE", path).status == 404)
        #expect(try client.send("PUT", path, ["If-None-Match": "*"], body: SampleImages.png).status == 201)
        #expect(try client.send("PUT", path, ["If-None-Match": "*"], body: SampleImages.png).status == 412)
        #expect(try client.send("DELETE", path, ["If-Match": "\"x\""]).status == 412)
        #expect(try client.send("DELETE", path).status == 204)
        #expect(try client.get("/films/a%20b").film["poster"] == nil)
    }
}
