import Films
import HTTPSemantics
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Reading films", .bounded, .ownThread)
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

    @Test("a write changes the entity tags of the film and of the lists")
    func tags() throws {
        let client = try client()
        let before = try ["/films/film-1", "/films"].map { try client.get($0)["etag"] }
        #expect(try client.send("PATCH", "/films/film-1", #"{"year":1922}"#).status == 200)
        let after = try ["/films/film-1", "/films"].map { try client.get($0)["etag"] }
        #expect(before[0] != after[0] && before[1] != after[1])
    }

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
