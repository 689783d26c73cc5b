import Films
import HTTPSemantics
import HTTPServer
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Films in SOAP", .bounded)
struct SoapTests {
    private static let hostile = "</t>]]><script>&\"'\u{200D}\u{202E}\u{1}\u{FFFF}\r\nEl Camión"

    private func client(_ configure: (inout FilmServiceConfiguration) -> Void = { _ in }) throws -> FilmClient
    {
        let client = try FilmClient(configure: configure)
        for number in 1...5 {
            var film = FilmDocument()
            film["title"] = JSONText("Film \(number)")
            film["score"] = JSONText(number)
            _ = try client.library.insert(film, id: "film-\(number)")
        }
        return client
    }

    private func soap(_ client: FilmClient, _ content: String, _ fields: HeaderFields = [:]) throws -> Reply {
        let message =
            "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\" "
            + "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><e:Body>\(content)</e:Body></e:Envelope>"
        return try Reply(client.send("POST", "/soap", message, type: "text/xml", fields))
    }

    /// The answer: the body's element, or its fault.
    private struct Reply {
        let answer: FilmClient.Answer
        let content: XMLElement
        let fault: SoapFault?

        init(_ answer: FilmClient.Answer) throws {
            self.answer = answer
            content = try SoapEnvelope(parsing: answer.bytes).content
            fault = SoapFault(content)
            #expect(answer.status == (fault == nil ? 200 : 500))
            #expect(answer["content-type"] == "text/xml; charset=utf-8")
        }

        func text(_ name: String) -> String? { content.child(name)?.text }

        var film: FilmDocument? { content.children.first.map { SoapFilm.document($0, keepsNull: true) } }
        var pointers: [String]? { fault?.problem?.errors.map(\.pointer) }
    }

    private func operation(_ name: String, _ parameters: String = "") -> String {
        "<\(name) xmlns=\"urn:marquee:films\">\(parameters)</\(name)>"
    }

    // MARK: Operations

    @Test("Top3AsXml returns top3.xml, and FilmsAsXml pages with links")
    func lists() throws {
        let client = try client()
        let top = try soap(client, operation("Top3AsXml"))
        #expect(top.content.localName == "Top3AsXmlResponse" && top.content.namespace == "urn:marquee:films")
        // No poster is relative, so both texts are equal.
        #expect(try top.text("Top3AsXmlResult") == client.get("/films/top3.xml").text)

        let page = try soap(
            client, operation("FilmsAsXml", "<limit>2</limit><sort>score</sort><q>film</q>"))
        let films = try Catalogue(parsing: Array(try #require(page.text("FilmsAsXmlResult")).utf8))
        #expect(films.movies.map(\.id) == ["film-5", "film-4"])
        let next = try #require(page.text("next"))
        let rest = try soap(
            client,
            operation(
                "FilmsAsXml", "<limit>5</limit><after>\(next)</after><q xsi:nil='1'/><sort>score</sort>"))
        #expect(rest.text("FilmsAsXmlResult")?.contains("film-3") == true && rest.text("next") == nil)
        let wrong = try soap(client, operation("FilmsAsXml", "<limit>0</limit>"))
        #expect(wrong.fault?.code == .client && wrong.fault?.problem?.status == .badRequest)
    }

    @Test("a film's whole life")
    func life() throws {
        let client = try client()
        var film = FilmDocument()
        film["id"] = JSONText("a")
        film["title"] = JSONText(Self.hostile)
        film["year"] = JSONText(2019)
        film["genres"] = JSONText(elements: [JSONText("Crime"), JSONText("<b>")])
        film["seen \u{1}"] = try JSONText(parsing: Array(#"{"by":["\u0001","b"],"n":1.50}"#.utf8))
        let added = try #require(try soap(client, operation("Add", SoapFilm.xml(film, as: "film"))).film)
        let clean = Self.hostile.replacing(/[\u{1}\u{FFFF}]/, with: "\u{FFFD}")
        #expect(added["title"]?.string == clean && added["year"]?.number == 2019)
        #expect(added["genres"] == film["genres"])
        #expect(added["seen \u{FFFD}"]?.text == #"{"by":["\u0001","b"],"n":1.50}"#)

        let rated = try soap(
            client, operation("Rate", "<id>a</id><rater>Zoë</rater><value> 8.5 </value>"))
        #expect(rated.film?["rating"]?.number == 8.5)
        let back = try soap(
            client, operation("Rate", "<id>a</id><rater>Zoë</rater><value xsi:nil='true'/>"))
        #expect(back.film?["votes"] == nil && back.film?["title"] != nil)

        let tag = try #require(back.content.children.first?.attribute("tag"))
        let change = "<id>a</id><film tag='\(tag)'><title>B</title><year xsi:nil='true'/><genres/></film>"
        let edited = try soap(client, operation("Edit", change))
        #expect(edited.film?["title"]?.string == "B" && edited.film?["year"] == nil)
        #expect(edited.film?["genres"] == nil && edited.film?["seen \u{FFFD}"] != nil)
        #expect(try soap(client, operation("Edit", change)).fault?.problem?.status == .preconditionFailed)
        let stale = try soap(client, operation("Remove", "<id>a</id><tag>\(tag)</tag>"))
        #expect(stale.fault?.problem?.status == .preconditionFailed)

        let removed = try soap(client, operation("Remove", "<id>a</id>"))
        #expect(removed.content.localName == "RemoveResponse" && removed.content.children.isEmpty)
        #expect(try soap(client, operation("Film", "<id>a</id>")).fault?.text == "there is no film \"a\"")
    }

    @Test("SOAP returns what REST stored, unchanged")
    func same() throws {
        let client = try client()
        let film = #"{"id":"a","title":"A","year":1.9e3,"score":7,"poster":"a.png","x":null,"y":"true"}"#
        #expect(try client.send("POST", "/films", film).status == 201)
        let read = try #require(try soap(client, operation("Film", "<id>a</id>")).film)
        #expect(read["year"]?.text == "1900" && read["score"]?.text == "7" && read["y"]?.text == "\"true\"")
        #expect(read["poster"]?.string == "a.png" && read["created_at"]?.string != nil)
    }

    @Test("a film that is sent back unchanged keeps its poster")
    func sentBack() throws {
        let client = try client()
        let picture = PosterBytes(mediaType: "image/png", bytes: [1, 2, 3])
        _ = try client.library.update("film-1", poster: .store(picture)) { $0.document }
        let read = try #require(try soap(client, operation("Film", "<id>film-1</id>")).film)
        #expect(read["poster"]?.string == "films/film-1/poster")
        let change = "<id>film-1</id>" + SoapFilm.xml(read, as: "film")
        #expect(try soap(client, operation("Edit", change)).film?["poster"] == read["poster"])
        #expect(try client.library.poster(of: "film-1")?.bytes == picture.bytes)
    }

    // MARK: Faults

    @Test("invalid members are a Client fault that names them")
    func wrongMembers() throws {
        let client = try client()
        let film = "<film><year>soon</year><score>NaN</score></film>"
        let fault = try soap(client, operation("Add", film))
        #expect(fault.fault?.code == .client && fault.fault?.problem?.status == .unprocessableContent)
        #expect(fault.pointers == ["/title", "/year", "/score"])
        #expect(try soap(client, operation("Add")).pointers == ["/film"])
        #expect(try soap(client, operation("Film", "<id>a/../b</id>")).pointers == ["/id"])
        #expect(try soap(client, operation("Rate", "<id>film-1</id><value>1</value>")).pointers == ["/rater"])
        let slash = "<id>film-1</id><rater>a/b</rater><value>1</value>"
        #expect(try soap(client, operation("Rate", slash)).pointers == ["/rater"])
        let vote = "<id>film-1</id><rater>a</rater>"
        #expect(try soap(client, operation("Rate", vote)).pointers == ["/value"])
        #expect(try soap(client, operation("Rate", vote + "<value/>")).pointers == ["/value"])
        #expect(try soap(client, operation("Rate", vote + "<value>11</value>")).pointers == ["/value"])
        #expect(
            try soap(client, operation("Rate", vote + "<value>1</value><value>2</value>")).pointers == [
                "/value"
            ])
        let twice = "<film><title>A</title><member name='a'>1</member><title>B</title></film>"
        #expect(try soap(client, operation("Add", twice)).pointers == ["/title"])
        let smuggled = "<id>film-1</id><tag>a\"\r\nHost: b</tag>"
        #expect(try soap(client, operation("Remove", smuggled)).pointers == ["/tag"])
        let taken = try soap(client, operation("Add", "<film><id>film-1</id><title>A</title></film>"))
        #expect(taken.fault?.problem?.status == .conflict)
    }

    @Test(
        "a malformed message is a Client fault",
        arguments: [
            "", "<a", "<a/>", "{}", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
            "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'/>",
            "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Header/></Envelope>",
            "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Body/></Envelope>",
            "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Body><a/><b/></Body></Envelope>",
            "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Body><Film/></Body></Envelope>",
            "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Body><f:Film/></Body></Envelope>",
            "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Body><a xmlns='x'/></Body></Envelope>",
        ])
    func noMessage(text: String) throws {
        let reply = try Reply(client().send("POST", "/soap", text, type: "text/xml; charset=UTF-8"))
        #expect(reply.fault?.code == .client && reply.fault?.problem?.status == .badRequest)
    }

    @Test("another envelope is VersionMismatch, whatever the media type")
    func version() throws {
        let envelope =
            "<e:Envelope xmlns:e='http://www.w3.org/2003/05/soap-envelope'><e:Body><a/></e:Body></e:Envelope>"
        for type in ["text/xml", "application/soap+xml; charset=utf-8; action=\"a\""] {
            let reply = try Reply(client().send("POST", "/soap", envelope, type: type))
            #expect(reply.fault?.code == .versionMismatch && reply.fault?.problem == nil)
        }
    }

    @Test(
        "an unknown header with mustUnderstand is MustUnderstand",
        arguments: [
            ("e:mustUnderstand='1'", true), ("e:mustUnderstand='0'", false), ("", false),
            ("mustUnderstand='1'", false), ("e:mustUnderstand='1' e:actor='urn:elsewhere'", false),
            ("e:mustUnderstand='1' e:actor='http://schemas.xmlsoap.org/soap/actor/next'", true),
        ])
    func mustUnderstand(attributes: String, isFault: Bool) throws {
        let message =
            "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'>"
            + "<e:Header><t:T xmlns:t='urn:t' \(attributes)/></e:Header>"
            + "<e:Body>\(operation("Film", "<id>film-1</id>"))</e:Body></e:Envelope>"
        let reply = try Reply(client().send("POST", "/soap", message, type: "text/xml"))
        #expect((reply.fault?.code == .mustUnderstand) == isFault)
        if isFault {
            #expect(reply.fault?.problem == nil && reply.fault?.text.contains("{urn:t}T") == true)
        }
    }

    // MARK: HTTP

    @Test(
        "the body decides the operation, whatever SOAPAction says",
        arguments: [nil, "", "\"\"", "\"urn:marquee:films/Remove\"", "urn:marquee:films/Film", "Film"])
    func action(value: String?) throws {
        let client = try client()
        let fields: HeaderFields = value.map { ["SOAPAction": $0] } ?? [:]
        #expect(
            try soap(client, operation("Film", "<id>film-1</id>"), fields).film?["id"]?.string == "film-1")
    }

    @Test("other media types are 415, before the body is read")
    func mediaTypes() throws {
        for type in ["application/json", "application/xml", "text/xml; charset=utf-16", "text/plain"] {
            let answer = try client().send("POST", "/soap", "<a/>", type: type)
            #expect(answer.status == 415 && answer.isEarly && answer["accept-post"] == "text/xml")
        }
    }

    @Test("GET returns only the WSDL, and OPTIONS the methods")
    func methods() throws {
        let client = try client()
        for target in ["/soap?wsdl", "/soap?WSDL", "/soap?wsdl="] {
            let answer = try client.get(target)
            #expect(answer.status == 200 && answer["content-type"] == "text/xml; charset=utf-8")
            #expect(answer.text.contains("<soap:address location=\"http://127.0.0.1:8080/soap\"/>"))
            _ = try XMLElement(parsing: answer.bytes)
        }
        for target in ["/soap", "/soap?x=wsdl"] {
            let answer = try client.get(target)
            #expect(answer.status == 405 && answer["allow"] == "OPTIONS, POST")
        }
        #expect(try client.send("PUT", "/soap", "<a/>", type: "text/xml").status == 405)
        #expect(try client.get("/soap/x").status == 404)
        let options = try client.send("OPTIONS", "/soap")
        #expect(options["allow"] == "GET, HEAD, OPTIONS, POST" && options["accept-post"] == "text/xml")
    }

    @Test(
        "the WSDL has the address of its request",
        arguments: [
            ("127.0.0.1:81", "http://127.0.0.1:81/soap"), ("[::1]:8080", "http://[::1]:8080/soap"),
            ("films.example.org", "https://films.example.org/soap"),
            ("FILMS.example.org:443", "https://films.example.org/soap"),
            ("nas.example", "http://nas.example:8080/soap"),
        ])
    func location(host: String, location: String) throws {
        let client = try FilmClient { configuration in
            configuration.publicAddresses = ["https://films.example.org", "http://nas.example:8080"]
                .compactMap { PublicAddress($0) }
        }
        #expect(try client.get("/soap?wsdl", ["Host": host]).text.contains("location=\"\(location)\""))
    }

    @Test("writing has the same conditions as in REST")
    func gate() throws {
        let readOnly = try client { $0.isWritable = false }
        let fault = try soap(readOnly, operation("Remove", "<id>film-1</id>")).fault
        #expect(fault?.code == .client && fault?.text.contains("--writable") == true)
        #expect(try soap(readOnly, operation("Film", "<id>film-1</id>")).film != nil)

        let token = "3Xq0nB2k9VdWJm5LrTfYc8Hs"
        let guarded = try client { $0.writers = WriteAccess([WriteAccess.Token(name: "a", value: token)]) }
        let remove = operation("Remove", "<id>film-1</id>")
        let message = String(decoding: SoapEnvelope.message(remove), as: UTF8.self)
        let refused = try guarded.send("POST", "/soap", message, type: "text/xml")
        #expect(refused.status == 401 && refused["www-authenticate"]?.hasPrefix("Bearer") == true)
        let elsewhere = try guarded.send(
            "POST", "/soap", message, type: "text/xml", ["Origin": "https://example.org"])
        #expect(elsewhere.status == 403)
        #expect(try soap(guarded, operation("Film", "<id>film-1</id>")).film != nil)
        let done = try soap(guarded, remove, ["Authorization": "Bearer \(token)"])
        #expect(done.content.localName == "RemoveResponse")
    }

    @Test("a folder's catalogue answers in SOAP too, read-only")
    func folder() throws {
        let service = try RunningService(["movies.json": #"[{"id":"a","title":"A"}]"#])
        let (client, description) = try service.answered("/soap?wsdl")
        #expect(description.status == 200 && description.fields["content-type"] == "text/xml; charset=utf-8")
        for (content, isFault) in [("Film", false), ("Remove", true)] {
            let body = SoapEnvelope.message(operation(content, "<id>a</id>"))
            client.send(
                "POST /soap HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\nContent-Length: \(body.count)\r\n\r\n"
            )
            client.send(body)
            let answer = try client.answer()
            #expect(answer.status == (isFault ? 500 : 200))
            let reply = try SoapEnvelope(parsing: answer.body).content
            #expect((SoapFault(reply) != nil) == isFault)
        }
    }
}
