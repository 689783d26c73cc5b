import Films
import HTTPSemantics
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Reading films", .bounded)
struct FilmReadingTests {
    private func client(_ films: Int = 3) throws -> FilmClient {
        let client = try FilmClient()
        for number in 1...films {
            let answer = try client.send(
                "POST", "/films",
                #"{"id":"film-\#(number)","title":"T \#(number)","score":\#(Double(number % 10)),"x":{"y":1.50}}"#
            )
            #expect(answer.status == 201)
        }
        return client
    }

    @Test("a film has its members in order: its id first, the library's own last")
    func film() throws {
        let answer = try client(1).get("/films/film-1")
        #expect(answer.status == 200)
        #expect(answer["content-type"] == "application/json" && answer["vary"] == "Accept, Accept-Encoding")
        #expect(answer["cache-control"] == "no-cache")
        let names = try answer.film.members.map(\.name)
        #expect(names == ["id", "title", "score", "x", "created_at", "updated_at"])
        #expect(answer.text.contains(#""x":{"y":1.50}"#))
    }

    @Test("the same film in XML, by extension or by Accept; the extension wins")
    func xml() throws {
        let client = try client(1)
        for answer in [
            try client.get("/films/film-1.xml"), try client.get("/films/film-1", ["Accept": "text/xml"]),
            try client.get("/films/film-1.xml", ["Accept": "application/json"]),
        ] {
            #expect(answer["content-type"] == "application/xml")
            #expect(answer.text.contains(#"<movie id="film-1"><title>T 1</title>"#))
        }
        #expect(
            try client.get("/films/film-1.json", ["Accept": "application/xml"])["content-type"]
                == "application/json")
    }

    @Test("an unknown format is 406 with a readable reason")
    func notAcceptable() throws {
        let answer = try client(1).get("/films/film-1", ["Accept": "image/png"])
        #expect(answer.status == 406 && answer["content-type"] == "application/problem+json")
        let problem = try client(1).get("/films/none", ["Accept": "application/xml"])
        #expect(problem.status == 404 && problem["content-type"] == "application/problem+xml")
    }

    @Test("lists have the shapes of catalogues")
    func lists() throws {
        let client = try client()
        for target in ["/films", "/films.json", "/", "/movies.json"] {
            let answer = try client.get(target)
            #expect(try answer.ids == ["film-1", "film-2", "film-3"], "\(target)")
            #expect(try Catalogue(parsing: answer.bytes).movies.count == 3)
        }
        for target in ["/films.xml", "/movies.xml"] {
            let answer = try client.get(target)
            #expect(answer["content-type"] == "application/xml")
            #expect(try Catalogue(parsing: answer.bytes).movies.map(\.id) == ["film-1", "film-2", "film-3"])
        }
    }

    @Test("the best films come first, up to the limit")
    func top() throws {
        let client = try client(9)
        #expect(try client.get("/films/top3").ids == ["film-9", "film-8", "film-7"])
        #expect(try client.get("/films/top/1.json").ids == ["film-9"])
        #expect(try Catalogue(parsing: try client.get("/films/top/2.xml").bytes).movies.count == 2)
        for target in ["/films/top/0", "/films/top/x", "/films/top/10001", "/films/top/", "/films/top"] {
            #expect(try client.get(target).status == 404, "\(target)")
        }
    }

    @Test("pages link to the next by a relative Link, and keep the query")
    func pages() throws {
        let client = try client(7)
        var (target, ids, pages) = ("/films?limit=3&q=T&sort=score", [String](), 0)
        while true {
            let answer = try client.get(target)
            ids += try answer.ids
            pages += 1
            guard let link = answer["link"] else { break }
            #expect(link.hasPrefix("<?limit=3&after=") && link.hasSuffix("&sort=score&q=T>; rel=\"next\""))
            target = "/films" + link.dropFirst().prefix { $0 != ">" }
        }
        #expect(pages == 3)
        #expect(ids == (1...7).reversed().map { "film-\($0)" })
    }

    @Test(
        "an impossible query is 400",
        arguments: [
            "limit=0", "limit=1001", "limit=x", "limit=-1", "limit=1&limit=2", "sort=best", "after=nonsense",
            "q=%ff",
        ])
    func badQuery(query: String) throws {
        #expect(try FilmClient().get("/films?\(query)").status == 400)
    }

    @Test("the largest limit is taken, and unknown parameters are ignored")
    func largePage() throws {
        #expect(try client(1).get("/films?limit=1000&utm_source=x").status == 200)
    }

    @Test("short reads are answered at once, longer ones on a thread of their own")
    func quickReads() throws {
        let client = try client()
        for target in [
            "/films/film-1", "/films/film-1.xml", "/films", "/films/top3", "/films/top/10.xml", "/films/none",
            "/films?limit=101",
        ] {
            #expect(try client.get(target).isEarly, "\(target)")
        }
        for target in [
            "/films?q=x", "/films/film-1/poster",
        ] {
            #expect(try !client.get(target).isEarly, "\(target)")
        }
    }

    @Test("a matching entity tag gets a 304, but not in another format")
    func notModified() throws {
        let client = try client()
        for target in ["/films/film-1", "/films", "/films/top3"] {
            let tag = try #require(try client.get(target)["etag"])
            let answer = try client.get(target, ["If-None-Match": tag])
            #expect(answer.status == 304 && answer.bytes.isEmpty && answer["etag"] == tag, "\(target)")
            #expect(
                try client.get(target, ["If-None-Match": tag, "Accept": "application/xml"]).status == 200)
            #expect(try client.get(target, ["If-Match": "\"other\""]).status == 412)
        }
    }

    @Test("a write changes the entity tags of the film and of the lists")
    func tags() throws {
        let client = try client()
        let before = try ["/films/film-1", "/films"].map { try client.get($0)["etag"] }
        #expect(try client.send("PATCH", "/films/film-1", #"{"year":1922}"#).status == 200)
        let after = try ["/films/film-1", "/films"].map { try client.get($0)["etag"] }
        #expect(before[0] != after[0] && before[1] != after[1])
    }

    @Test(
        "an unknown film is 404",
        arguments: [
            "/films/none", "/films/", "/film", "/films/a/b", "/films/film-1/ratings",
            "/films/film-1/ratings/none",
            "/films/none/poster", "/films/film-1/poster", "/movies", "/index",
            "/films/film-1/ratings/me.html",
            "//films",
        ])
    func notFound(target: String) throws { #expect(try client(1).get(target).status == 404) }

    @Test("the root is not served if a folder serves it")
    func folder() throws {
        let client = try FilmClient { $0.isRoot = false }
        #expect(try client.get("/").status == 404 && client.get("/movies.json").status == 404)
        #expect(try client.get("/films").status == 200)
    }

    @Test("ids of any characters survive in paths")
    func strangeIDs() throws {
        let client = try FilmClient()
        for id in ["El Camión: 2019?", "a%2Fb", "日本", "a&b=c#d", "ü\"<>'"] {
            let body = JSONText(members: [
                .init(name: "id", value: JSONText(id)), .init(name: "title", value: JSONText("T")),
            ])
            let created = try client.send("POST", "/films", body.text)
            let location = try #require(created["location"])
            #expect(created.status == 201 && location == "films/" + PercentEncoding.encoded(id))
            #expect(try client.get("/" + location).film["id"]?.string == id)
            #expect(try client.get("/" + location + ".xml").status == 200)
        }
    }
}
