import Films
import HTTPSemantics
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService
@testable import HTTPServer

@Suite("Forms of the pages", .bounded)
struct PageFormTests {
    private let client: FilmClient
    private let form = "application/x-www-form-urlencoded"

    init() throws {
        client = try FilmClient()
        let film = #"{"id":"a","title":"A","year":1922,"genres":["X, Y","Z"],"own":{"b":1.50},"score":7.40}"#
        _ = try client.send("POST", "/films", film)
    }

    private func post(
        _ target: String, _ body: String, _ more: HeaderFields = [:]
    ) throws -> FilmClient.Answer {
        try client.send("POST", target, body, type: form, more)
    }

    private func revision(_ id: String = "a") throws -> Int {
        try #require(try client.library.film(id)).revision
    }

    @Test("a film is added with its poster, and the browser is redirected to its page")
    func add() throws {
        let body = MultipartBody(
            [
                ("film[title]", "El Camión"), ("film[year]", "2019"), ("film[genres]", "Crime , Drama,"),
                ("film[director]", ""),
            ],
            poster: SampleImages.png)
        let answer = try client.send("POST", "/add", ["Content-Type": MultipartBody.type], body: body.bytes)
        #expect(answer.status == 303 && answer["location"] == "films/el-camion-2019")
        let film = try #require(try client.library.film("el-camion-2019"))
        #expect(try film.movie().genres == ["Crime", "Drama"] && film.movie().director == nil)
        guard case .stored = film.poster else {
            Issue.record("no poster")
            return
        }
    }

    @Test("errors show beside their fields, with the typed values")
    func mistakes() throws {
        let answer = try post("/add", "film[title]=&film[year]=19x&film[director]=%3Cb%3E&film[genres]=")
        #expect(answer.status == 422 && answer["cache-control"] == "private, no-store")
        for part in [
            "id=\"fault-title\"", "id=\"fault-year\"", "aria-describedby=\"fault-year\"",
            "type=\"text\" inputmode=\"decimal\"", "value=\"19x\"",
            "value=\"&lt;b&gt;\"",
        ] {
            #expect(answer.text.contains(part), "\(part)")
        }
        if Tidy.isInstalled { #expect(try Tidy.findings(answer.bytes) == "") }
        #expect(try client.library.count == 1)
    }

    @Test("an edit changes only the edited fields")
    func edit() throws {
        let shown = try client.get("/films/a/edit")
        let before = try revision()
        #expect(shown.text.contains("value=\"X, Y, Z\"") && shown.text.contains("value=\"\(before)\""))
        let answer = try post(
            "/films/a/edit",
            "revision=\(try revision())&film[title]=B&film[year]=&film[genres]=X%2C+Y%2C+Z&film[score]=7.40&film[own]=no&film[overview]=1%0D%0A2"
        )
        #expect(answer.status == 303 && answer["location"] == "../../films/a")
        let film = try #require(try client.library.film("a"))
        #expect(
            film.json.text
                == #"{"title":"B","genres":["X, Y","Z"],"own":{"b":1.50},"score":7.40,"overview":"1\n2"}"#
        )
    }

    @Test("an edit does not undo a concurrent one")
    func changedMeanwhile() throws {
        let old = try revision()
        _ = try client.send("PATCH", "/films/a", #"{"year":1923}"#)
        for target in ["/films/a/edit", "/films/a/remove"] {
            let answer = try post(target, "revision=\(old)&film[title]=B")
            let now = try revision()
            #expect(answer.status == 412 && answer.text.contains("value=\"\(now)\""), "\(target)")
        }
        #expect(try client.library.film("a")?.movie().title == "A")
    }

    @Test("a vote counts, and an invalid one is shown again")
    func rate() throws {
        let bad = try post("/films/a/rate", "rater=me&value=11")
        #expect(bad.status == 422 && bad.text.contains("fault-value") && bad.text.contains("value=\"me\""))
        #expect(try post("/films/a/rate", "rater=&value=1").status == 422)
        #expect(try post("/films/a/rate", "rater=me&value=8.5").status == 303)
        #expect(try client.library.rating(of: "a", by: "me") == 8.5)
        #expect(try client.get("/films/a.html").text.contains("1 vote"))
    }

    @Test("a film is removed only after a confirmation")
    func remove() throws {
        #expect(try client.get("/films/a/remove").text.contains("Remove A?"))
        #expect(try client.library.count == 1)
        let answer = try post("/films/a/remove", "revision=\(try revision())")
        #expect(answer.status == 303 && answer["location"] == "../../")
        #expect(try client.library.count == 0 && post("/films/a/remove", "revision=1").status == 404)
    }

    @Test(
        "pages of other sites cannot send a form",
        arguments: [
            ["Origin": "http://evil.example"], ["Origin": "null"], ["Sec-Fetch-Site": "cross-site"],
            ["Sec-Fetch-Site": "same-site"],
        ] as [HeaderFields])
    func crossSite(fields: HeaderFields) throws {
        for target in ["/add", "/films/a/edit", "/films/a/rate", "/films/a/remove"] {
            let body = "revision=\(try revision())&film[title]=B&rater=me&value=1"
            let answer = try post(target, body, fields)
            #expect(answer.status == 403 && answer.isEarly)
        }
        #expect(try client.library.count == 1 && client.library.film("a")?.votes == 0)
    }

    @Test("there are no forms for a reader without a session, and none if writing is off")
    func withoutForms() throws {
        let far = Peer(address: "192.0.2.1", isLocal: false)
        let closed: [(FilmClient, Peer)] = [
            (try FilmClient(library: client.library) { $0.isWritable = false }, FilmClient.local),
            (
                try FilmClient(library: client.library) {
                    $0.writers = WriteAccess([WriteAccess.Token(name: "a", value: "0123456789abcdefghijklmn")]
                    )
                },
                FilmClient.local
            ),
            (client, far),
        ]
        for (client, peer) in closed {
            let page = try client.send("GET", "/films/a.html", peer: peer)
            #expect(
                page.status == 200 && !page.text.contains("/edit") && !page.text.contains("method=\"post\""))
            for target in ["/add", "/films/a/edit", "/films/a/remove"] {
                let answer = try client.send("GET", target, peer: peer)
                #expect(answer.status == (client.service.configuration.isWritable ? 303 : 403), "\(target)")
            }
        }
        #expect(try client.get("/films/a.html").text.contains("/edit"))
    }
}
