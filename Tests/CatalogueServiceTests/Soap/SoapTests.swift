import FilmSources
import Films
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Films in SOAP", .bounded, .ownThread)
struct SoapTests {
    private func client() throws -> FilmClient {
        let client = try FilmClient()
        var film = FilmDocument()
        film["title"] = JSONText("Film 1")
        _ = try client.library.insert(film, id: "film-1")
        return client
    }

    private func soap(_ client: FilmClient, _ content: String) throws -> Reply {
        let message =
            "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\" "
            + "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><e:Body>\(content)</e:Body></e:Envelope>"
        return try Reply(client.send("POST", "/soap", message, type: "text/xml"))
    }

    /// The answer: the body's element, or its fault.
    private struct Reply {
        let content: XMLElement
        let fault: SoapFault?

        init(_ answer: FilmClient.Answer) throws {
            content = try SoapEnvelope(parsing: answer.bytes).content
            fault = SoapFault(content)
            #expect(answer.status == (fault == nil ? 200 : 500))
            #expect(answer["content-type"] == "text/xml; charset=utf-8")
        }

        var film: FilmDocument? { content.children.first.map { SoapFilm.document($0, keepsNull: true) } }
        var pointers: [String]? { fault?.problem?.errors.map(\.pointer) }
    }

    private func operation(_ name: String, _ parameters: String = "") -> String {
        "<\(name) xmlns=\"urn:marquee:films\">\(parameters)</\(name)>"
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
}
