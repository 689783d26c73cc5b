import Films
import HTTPSemantics
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Writing films", .bounded)
struct FilmWritingTests {
    private let film = #"{"id":"a","title":"El Camión","year":2019,"genres":["Crime","Drama"],"seen":true}"#

    private func client() throws -> FilmClient {
        let client = try FilmClient()
        #expect(try client.send("POST", "/films", film).status == 201)
        return client
    }

    @Test("each kind of body creates the same film")
    func create() throws {
        let multipart = MultipartBody([
            ("film[title]", "El Camión"), ("film[year]", "2019"), ("film[genres][]", "Crime"),
        ])
        let bodies: [(String, [UInt8])] = [
            ("application/json", Array(#"{"title":"El Camión","year":2019,"genres":["Crime"]}"#.utf8)),
            (
                "application/json; charset=utf-8",
                Array(#"{"film":{"title":"El Camión","year":2019,"genres":["Crime"]}}"#.utf8)
            ),
            (
                "application/xml",
                Array(
                    "<movie><title>El Camión</title><year>2019</year><genres><genre>Crime</genre></genres></movie>"
                        .utf8)
            ),
            (
                "text/xml",
                Array(
                    "<film><title>El Camión</title><year>2019</year><genres><genre>Crime</genre></genres></film>"
                        .utf8)
            ),
            (
                "application/xml",
                Array(
                    "<catalogue><movie><title>El Camión</title><year>2019</year><genres><genre>Crime</genre></genres></movie></catalogue>"
                        .utf8)
            ),
            (
                "application/x-www-form-urlencoded",
                Array("film[title]=El+Cami%C3%B3n&film[year]=2019&film%5Bgenres%5D[]=Crime&commit=Save".utf8)
            ),
            ("application/x-www-form-urlencoded", Array("title=El+Cami%C3%B3n&year=2019&genres=Crime".utf8)),
            (MultipartBody.type, multipart.bytes),
            (
                MultipartBody.type,
                MultipartBody([("film", #"{"title":"El Camión","year":2019,"genres":["Crime"]}"#)]).bytes
            ),
        ]
        let client = try FilmClient()
        for (type, body) in bodies {
            let answer = try client.send("POST", "/films", ["Content-Type": type], body: body)
            #expect(answer.status == 201, "\(type): \(answer.text)")
            let film = try answer.film
            #expect(film["title"]?.string == "El Camión" && film["year"]?.text == "2019")
            #expect(film["genres"]?.text == #"["Crime"]"#)
            #expect(answer["etag"] != nil && answer["location"]?.hasPrefix("films/") == true)
            let id = try #require(film["id"]?.string)
            #expect(try client.get("/films/\(id)")["etag"] == answer["etag"])
        }
    }

    @Test("an id that exists is 409, with the film's address")
    func taken() throws {
        let answer = try client().send("POST", "/films", film)
        #expect(answer.status == 409)
        #expect(try answer.film["id"]?.string == "a" && answer.film["path"]?.string == "films/a")
    }

    @Test(
        "an invalid id is 422",
        arguments: [
            "a/b", "", "top", "top3", ".", "..", "a.json", "a.XML", "a.html", "a\u{1}b",
            String(repeating: "a", count: 201),
        ])
    func badID(id: String) throws {
        let body = JSONText(members: [
            .init(name: "id", value: JSONText(id)), .init(name: "title", value: JSONText("T")),
        ])
        let answer = try FilmClient().send("POST", "/films", body.text)
        #expect(answer.status == 422 && answer.text.contains(#""pointer":"/id""#))
    }

    @Test("a malformed body is 400 and says where")
    func malformed() throws {
        let client = try FilmClient()
        let json = try client.send("POST", "/films", "{\"title\":\n \"a\",}")
        #expect(
            try json.status == 400 && json.film["line"]?.text == "2" && json.film["column"] != nil)
        let xml = try client.send("POST", "/films", "<movie>\n<title>a</movie>", type: "application/xml")
        #expect(try xml.status == 400 && xml.film["line"]?.text == "2" && xml.film["column"] != nil)
        let doctype = try client.send(
            "POST", "/films", "<!DOCTYPE movie [<!ENTITY a \"b\">]><movie><title>&a;</title></movie>",
            type: "application/xml")
        #expect(doctype.status == 400)
        for (body, type) in [
            ("", "application/json"), (" ", "application/xml"), ("", "application/x-www-form-urlencoded"),
            ("nonsense", "application/xml"), ("<?x?>", "application/xml"), ("nonsense", "application/json"),
            ("title=%zz", "application/x-www-form-urlencoded"),
            ("{\"title\":\"a\"}", "application/x-www-form-urlencoded"),
            ("--b", "multipart/form-data; boundary=b"),
            ("x", "multipart/form-data"), ("x", "multipart/form-data; boundary=\"\u{22}"),
        ] {
            let status = try client.send("POST", "/films", body, type: type).status
            #expect(status == 400 || type.contains("\"") && status == 415, "\(body) as \(type)")
        }
        for (body, type) in [
            (#"{"title":"a","title":"b"}"#, "application/json"),
            ("<movie><title>a</title><title>b</title></movie>", "application/xml"),
        ] {
            let twice = try client.send("POST", "/films", body, type: type)
            #expect(twice.status == 422 && twice.text.contains("once, not twice"), "\(twice.text)")
        }
        let notUTF8 = try client.send(
            "POST", "/films", ["Content-Type": "application/json"],
            body: Array("{\"title\":\"".utf8) + [0xFF] + Array("\"}".utf8))
        #expect(notUTF8.status == 400)
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

    @Test("an invalid film is 422, with all its faults")
    func invalid() throws {
        let client = try FilmClient()
        let answer = try client.send("POST", "/films", #"{"year":"x","score":11}"#)
        #expect(answer.status == 422)
        let pointers = try answer.film["errors"]?.elements?.compactMap {
            try FilmDocument(json: $0)["pointer"]?.string
        }
        #expect(pointers.map { Set($0) } == ["/title", "/year", "/score"])
        for body in [
            "[]", "1", "\"a\"", "{}", #"{"title":"a","title":"b"}"#, #"{"title":""}"#,
            #"{"id":[],"title":"a"}"#,
        ] {
            #expect(try client.send("POST", "/films", body).status == 422, "\(body)")
        }
        for body in [
            "<catalogue/>",
            "<catalogue><movie><title>a</title></movie><movie><title>b</title></movie></catalogue>", "<x/>",
            "<movie/>",
        ] {
            #expect(try client.send("POST", "/films", body, type: "application/xml").status == 422, "\(body)")
        }
        for body in ["year=1922", "title=a&title=b", "title=a&year=soon", "film[a][b]=c&film[title]=x"] {
            #expect(
                try client.send("POST", "/films", body, type: "application/x-www-form-urlencoded").status
                    == 422, "\(body)")
        }
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

    @Test("PUT replaces or creates a film, and keeps unknown members")
    func put() throws {
        let client = try client()
        let replaced = try client.send(
            "PUT", "/films/a", #"{"title":"B","x":[1,{"y":null}],"votes":7,"created_at":"never"}"#)
        #expect(replaced.status == 200)
        let film = try client.get("/films/a").film
        #expect(film["title"]?.string == "B" && film["x"]?.text == #"[1,{"y":null}]"#)
        #expect(film["year"] == nil && film["votes"] == nil && film["created_at"]?.string != "never")
        let created = try client.send("PUT", "/films/new", #"{"id":"new","title":"N"}"#)
        #expect(created.status == 201 && created["etag"] != nil)
        #expect(try client.send("PUT", "/films/a", #"{"id":"b","title":"B"}"#).status == 422)
        #expect(try client.send("PUT", "/films/x.html", #"{"title":"B"}"#).status == 406)
        #expect(try client.send("PUT", "/films/top3", #"{"title":"B"}"#).status == 405)
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

    @Test("PATCH merges: null removes, objects are merged, other formats name members")
    func patch() throws {
        let client = try client()
        let type = "application/merge-patch+json"
        #expect(
            try client.send("PATCH", "/films/a", #"{"year":null,"x":{"a":1,"b":2}}"#, type: type).status
                == 200)
        #expect(try client.send("PATCH", "/films/a", #"{"x":{"a":null,"c":3}}"#).status == 200)
        #expect(try client.get("/films/a").film["x"]?.text == #"{"b":2,"c":3}"#)
        #expect(try client.get("/films/a").film["year"] == nil)
        #expect(
            try client.send("PATCH", "/films/a", "<movie><year>1922</year><seen/></movie>", type: "text/xml")
                .status == 200)
        #expect(try client.get("/films/a").film["year"]?.text == "1922")
        #expect(try client.get("/films/a").film["seen"] == nil)
        let form = "application/x-www-form-urlencoded"
        #expect(
            try client.send("PATCH", "/films/a", "film[year]=&film[director]=Murnau", type: form).status
                == 200)
        let film = try client.get("/films/a").film
        #expect(
            film["year"] == nil && film["director"]?.string == "Murnau"
                && film["title"]?.string == "El Camión")
    }

    @Test("PATCH never creates a film, never changes an id, and keeps a film valid")
    func badPatch() throws {
        let client = try client()
        #expect(try client.send("PATCH", "/films/none", #"{"year":1}"#).status == 404)
        #expect(try client.send("PATCH", "/films/a", #"{"id":"b"}"#).status == 422)
        #expect(try client.send("PATCH", "/films/a", #"{"title":null}"#).status == 422)
        #expect(try client.send("PATCH", "/films/a", #"{"year":"x"}"#).status == 422)
        #expect(try client.send("PATCH", "/films/a", "[]").status == 422)
        #expect(try client.get("/films/a").film["year"]?.text == "2019")
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
