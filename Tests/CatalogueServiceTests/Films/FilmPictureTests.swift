import FilmSources
import Films
import FoundationEssentials
import HTTPSemantics
import HTTPServer
import LazyImages
import PictureServer
import ServiceOperations
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

/// Posters of films at a size, over real connections. A scripted origin serves the posters at addresses.
@Suite("Posters at a size", .bounded, .ownThread)
struct FilmPictureTests {
    /// An origin with a picture at every path.
    private let transport = HeldTransport { _ in .fresh(SampleImages.jpeg) }
    private let folder: TemporaryFolder
    private static let host = "images.example"

    init() throws { folder = try TemporaryFolder() }

    private func configuration(isWritable: Bool = false) throws -> CatalogueService.Configuration {
        var configuration = CatalogueService.Configuration()
        var pictures = PictureServer.Configuration(rules: try PictureRules())
        pictures.transport = transport
        configuration.pictures = pictures
        configuration.films.isWritable = isWritable
        configuration.films.writers = WriteAccess(trustsLocal: true)
        return configuration
    }

    /// A service with a library, and a client.
    private func library(isWritable: Bool = true) throws -> (CatalogueService, RawClient) {
        let path = folder.file("films.db")
        _ = try FilmLibrary(path: path, access: .creating)
        let service = try CatalogueService(
            .library(path: path), configuration: try configuration(isWritable: isWritable))
        try service.start()
        return (service, try RawClient(port: service.port, owner: service))
    }

    /// A service with a folder, and a client.
    private func folder(posters: [String], files: [String: [UInt8]] = [:]) throws -> (
        CatalogueService, RawClient
    ) {
        let films = posters.enumerated().map { number, poster in
            "{\"id\":\"film-\(number)\",\"title\":\"T\",\"poster\":\"\(poster)\"}"
        }
        try Data("[\(films.joined(separator: ","))]".utf8).write(
            to: URL(filePath: folder.file("movies.json")))
        for (name, bytes) in files { try Data(bytes).write(to: URL(filePath: folder.file(name))) }
        let service = try CatalogueService(
            .folder(path: folder.path), configuration: try configuration())
        try service.start()
        return (service, try RawClient(port: service.port, owner: service))
    }

    private func send(
        _ client: RawClient, _ method: String, _ target: String, type: String = "application/json",
        _ body: [UInt8]
    ) throws -> RawClient.Answer {
        client.send(
            "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(type)\r\n"
                + "Content-Length: \(body.count)\r\n\r\n")
        client.send(body)
        return try client.answer()
    }

    @Test("each answer is counted under the route of its path, refusals too")
    func routes() throws {
        let (service, client) = try library()
        try post(client, "a")
        _ = try send(client, "PUT", "/films/a/poster", type: "image/png", SampleImages.png)
        for (route, targets) in [
            (.films, ["/films", "/", "/films.xml?limit=0", "/films?q=a"]),
            (.top, ["/films/top3", "/films/top/5"]),
            (.film, ["/films/a", "/films/none", "/films/a.html"]), (.poster, ["/films/a/poster"]),
            (.picture, ["/films/a/poster/w92", "/films/a/poster/none", "/image/-/w92/x"]),
            (.rating, ["/films/a/ratings/me"]), (.form, ["/add", "/films/a/edit"]),
            (.soap, ["/soap?wsdl", "/soap"]),
            (.style, ["/films/style/icon.svg"]), (.other, ["/none", "*", "/%zz"]),
        ] as [(HTTPRoute, [String])] {
            for target in targets {
                let before = service.statistics.answers[route]?.values.reduce(0, +) ?? 0
                _ = try client.get(target)
                let after = service.statistics.answers[route]?.values.reduce(0, +) ?? 0
                #expect(after == before + 1, "\(target)")
            }
        }
        let films = service.statistics.answers[.films]?[405]
        _ = try send(client, "DELETE", "/films", [])
        #expect(service.statistics.answers[.films]?[405] == (films ?? 0) + 1)
    }

    @Test("the files of a folder have a route of their own, and its films the same as those of a library")
    func folderRoutes() throws {
        let (service, client) = try folder(posters: ["a.jpg"], files: ["a.jpg": SampleImages.jpeg])
        for target in ["/a.jpg", "/none.jpg", "/films/film-0", "/films/film-0/poster/w92"] {
            _ = try client.get(target)
        }
        #expect(
            service.statistics.answers == [.file: [200: 1, 404: 1], .film: [200: 1], .picture: [200: 1]])
    }

    private func post(_ client: RawClient, _ id: String, poster: String? = nil) throws {
        let poster = poster.map { ",\"poster\":\"\($0)\"" } ?? ""
        let answer = try send(
            client, "POST", "/films", Array("{\"id\":\"\(id)\",\"title\":\"T\"\(poster)}".utf8))
        #expect(answer.status == 201)
    }

    private func image(_ address: String) -> String { "/image/-/w92/\(Base64URL.encode(address.utf8))" }

    @Test("two copies of a library with one cache folder never show each other's posters")
    func copies() throws {
        let paths = [folder.file("films.db"), folder.file("copy.db")]
        _ = try FilmLibrary(path: paths[0], access: .creating).insert(
            FilmDocument(json: JSONText(parsing: Array(#"{"title":"T"}"#.utf8))), id: "a")
        try FileManager.default.copyItem(atPath: paths[0], toPath: paths[1])
        for (path, poster) in zip(paths, [SampleImages.png, SampleImages.jpeg]) {
            var configuration = try configuration(isWritable: true)
            configuration.pictures?.disk = DiskCache(folder: folder.file("cache"))
            let service = try CatalogueService(.library(path: path), configuration: configuration)
            try service.start()
            defer { service.stop() }
            let client = try RawClient(port: service.port)
            _ = try send(client, "PUT", "/films/a/poster", type: "image/png", poster)
            #expect(try client.get("/films/a/poster/original").body == poster)
            #expect(try client.get("/films/a/poster").body == poster)
        }
    }

    @Test("a poster in the library is served in the offered sizes, and again when it is replaced")
    func stored() throws {
        let (service, client) = try library()
        defer { service.stop() }
        try post(client, "a")
        #expect(try client.get("/films/a/poster/w92").status == 404)
        let put = try send(client, "PUT", "/films/a/poster", type: "image/png", SampleImages.png)
        #expect(put.status == 201)
        let first = try client.get("/films/a/poster/w92")
        #expect(first.status == 200 && first.fields["content-type"] == "image/jpeg")
        #expect(first.fields["cache-control"] == "no-cache")
        #expect(first.fields["content-security-policy"] == "default-src 'none'; sandbox")
        let tag = try #require(first.fields["etag"])
        let again = try client.get("/films/a/poster/w92", "If-None-Match: \(tag)")
        #expect(again.status == 304 && again.fields["etag"] == tag)
        #expect(try client.get("/films/a/poster/original").body == SampleImages.png)
        let replaced = try send(client, "PUT", "/films/a/poster", type: "image/jpeg", SampleImages.jpeg)
        #expect(replaced.status == 204)
        let second = try client.get("/films/a/poster/w92", "If-None-Match: \(tag)")
        #expect(second.status == 200 && second.fields["etag"] != tag)
        #expect(try client.get("/films/a/poster/original").body == SampleImages.jpeg)
        #expect(transport.started.count == 0)
    }

    @Test("a picture is immutable only under its poster's present tag, whatever was asked for before")
    func presentTag() throws {
        let (service, client) = try library()
        defer { service.stop() }
        try post(client, "a")
        func put(_ bytes: [UInt8]) throws -> String {
            let answer = try send(client, "PUT", "/films/a/poster", type: "image/png", bytes)
            return try #require(answer.fields["etag"]).filter { $0 != "\"" }
        }
        func get(_ recipe: String) throws -> RawClient.Answer { try client.get("/films/a/poster/\(recipe)") }
        let immutable = "public, max-age=31536000, immutable"
        let first = try put(SampleImages.png)
        let old = try get("w92.v\(first)")
        #expect(old.status == 200 && old.fields["cache-control"] == immutable)
        // The next tag, if tags count or if they are digests.
        for guess in ["1", "2", "3", "x", ImageBytes(SampleImages.jpeg).checksum] where guess != first {
            for _ in 1...2 {
                let answer = try get("w92.v\(guess)")
                #expect(answer.status == 200 && answer.fields["cache-control"] == "no-cache", "\(guess)")
                #expect(answer.fields["etag"] == old.fields["etag"])
            }
        }
        // Its end makes nothing sure about a picture either.
        #expect(try get("w92.e9999999999").fields["cache-control"] == "no-cache")

        let second = try put(SampleImages.jpeg)
        for _ in 1...2 {
            let present = try get("w92.v\(second)")
            #expect(present.fields["cache-control"] == immutable)
            #expect(present.fields["etag"] != old.fields["etag"])
            let outdated = try get("w92.v\(first)")
            #expect(outdated.status == 200 && outdated.fields["cache-control"] == "no-cache")
            #expect(outdated.fields["etag"] == present.fields["etag"])
        }
        #expect(try client.get("/films/a.html").text.contains("/w342.v\(second)"))
    }

    @Test("a poster with too many pixels that an earlier version stored is 422 at a size, with the limit")
    func storedByEarlierVersion() throws {
        let path = folder.file("films.db")
        var document = FilmDocument()
        document["title"] = JSONText("T")
        let bytes = try Samples.hugeJPEG()
        _ = try FilmLibrary(path: path, access: .creating).insert(
            document, id: "a", poster: PosterBytes(mediaType: "image/jpeg", bytes: bytes))
        let service = try CatalogueService(.library(path: path), configuration: try configuration())
        try service.start()
        defer { service.stop() }
        let client = try RawClient(port: service.port, owner: service)
        let answer = try client.get("/films/a/poster/w92")
        #expect(answer.status == 422)
        #expect(answer.text.contains("too large: 600000000 pixels, at most 500000000 allowed"))
        #expect(try client.get("/films/a/poster").body == bytes)
    }

    @Test("a poster beside the catalogue is served in the offered sizes, and no file outside the folder is")
    func local() throws {
        let outside = try TemporaryFolder()
        try Data(SampleImages.png).write(to: URL(filePath: outside.file("a.png")))
        let (service, client) = try folder(
            posters: [
                "a.jpg", "none.jpg", "../\(outside.path.split(separator: "/").last ?? "")/a.png", "b.jpg",
                "file://\(outside.file("a.png"))",
            ],
            files: ["a.jpg": SampleImages.jpeg, "b.jpg": Array("no picture".utf8)])
        defer { service.stop() }
        let answer = try client.get("/films/film-0/poster/w92")
        #expect(answer.status == 200 && answer.fields["cache-control"] == "max-age=3600")
        #expect(try client.get("/films/film-0/poster/original").body == SampleImages.jpeg)
        // Nobody vouches for a tag.
        for (recipe, control) in [("w92.v1", "max-age=3600"), ("w92.e9999999999", "no-cache")] {
            let answer = try client.get("/films/film-0/poster/\(recipe)")
            #expect(answer.fields["cache-control"] == control, "\(recipe)")
        }
        for (number, status) in [(1, 404), (2, 404), (3, 422), (4, 404)] {
            #expect(try client.get("/films/film-\(number)/poster/w92").status == status, "\(number)")
        }
        // A changed file gets new pictures.
        try Data(SampleImages.png).write(to: URL(filePath: folder.file("a.jpg")))
        let changed = try client.get("/films/film-0/poster/w92")
        #expect(changed.status == 200 && changed.fields["etag"] != answer.fields["etag"])
        #expect(transport.started.count == 0)
    }

    @Test("catalogue posters at addresses are fetched once, and all pictures of their hosts are allowed")
    func remote() throws {
        let address = "https://\(Self.host)/a.jpg"
        let (service, client) = try folder(posters: [address])
        defer { service.stop() }
        let answer = try client.get("/films/film-0/poster/w92")
        #expect(
            answer.status == 200 && answer.fields["cache-control"]?.hasPrefix("public, max-age=3") == true)
        let tagged = try client.get("/films/film-0/poster/w92.v1")
        #expect(tagged.status == 200 && tagged.fields["cache-control"]?.contains("immutable") == false)
        let same = try client.get(image(address))
        #expect(same.status == 200 && same.fields["etag"] == answer.fields["etag"])
        #expect(transport.started.count == 1)
        // The size original is the poster itself, without a redirect.
        #expect(try client.get("/films/film-0/poster").body == SampleImages.jpeg)
        #expect(try client.get(image("https://\(Self.host)/b.jpg")).status == 200)
        #expect(try client.get(image("https://other.example/a.jpg")).status == 403)
        #expect(try client.get(image("https://\(Self.host):8443/a.jpg")).status == 403)
        #expect(transport.started.count == 2)
    }

    @Test("the hosts of posters at the start of the service are allowed; those of later writes are not")
    func writtenLater() throws {
        let (address, evil) = ("https://\(Self.host)/a.jpg", "https://evil.example/a.jpg")
        do {
            let (service, client) = try library()
            defer { service.stop() }
            try post(client, "a", poster: address)
            #expect(try client.get("/films/a/poster/w92").status == 403)
        }
        let (service, client) = try library()
        defer { service.stop() }
        #expect(try client.get("/films/a/poster/w92").status == 200)
        try post(client, "b", poster: evil)
        #expect(try client.get("/films/b/poster/w92").status == 403)
        #expect(try client.get(image(evil)).status == 403)
        // The client is not sent there either.
        let moved = try client.get("/films/b/poster")
        #expect(moved.status == 403 && moved.fields["location"] == nil)
        #expect(moved.text.contains("--source evil.example"))
        // A changed film whose poster is at another host is refused too.
        let put = try send(client, "PUT", "/films/a", Array("{\"title\":\"T\",\"poster\":\"\(evil)\"}".utf8))
        #expect([200, 204].contains(put.status))
        #expect(try client.get("/films/a/poster/w92").status == 403)
        #expect(transport.requests.map(\.url.absoluteString) == [address])
        #expect(service.pictures?.counters.refusals == ["source": 3])
    }

    @Test("a poster whose bytes are not offered is a redirect, if its host is allowed")
    func redirect() throws {
        let address = "https://\(Self.host)/a.jpg"
        let path = folder.file("films.db")
        let library = try FilmLibrary(path: path, access: .creating)
        var document = FilmDocument()
        document["title"] = JSONText("T")
        document["poster"] = JSONText(address)
        _ = try library.insert(document, id: "a")
        var configuration = try configuration()
        configuration.pictures?.rules = try PictureRules(sizes: ["w92"])
        let service = try CatalogueService(.library(path: path), configuration: configuration)
        try service.start()
        defer { service.stop() }
        let answer = try RawClient(port: service.port).get("/films/a/poster")
        #expect(answer.status == 302 && answer.fields["location"] == address)
    }

    @Test("clients behind a trusted proxy take turns by their own addresses, also for films' posters")
    func clients() async throws {
        let films = (0..<5).map {
            "{\"id\":\"film-\($0)\",\"title\":\"T\",\"poster\":\"https://\(Self.host)/\($0).jpg\"}"
        }
        try Data("[\(films.joined(separator: ","))]".utf8).write(
            to: URL(filePath: folder.file("movies.json")))
        let held = HeldTransport()
        var configuration = try configuration()
        configuration.clients = ForwardedClient(trusting: [try #require(AddressRange("127.0.0.0/8"))])
        configuration.pictures?.transport = held
        // One source is fetched at a time, so the others wait for their turn.
        configuration.pictures?.downloads.transfers = 1
        configuration.pictures?.queueTime = .seconds(600)
        let service = try CatalogueService(.folder(path: folder.path), configuration: configuration)
        try service.start()
        defer { service.stop() }
        func ask(_ film: Int, _ forwarded: String) throws -> RawClient {
            let client = try RawClient(port: service.port, owner: service)
            client.send(
                "GET /films/film-\(film)/poster/w92 HTTP/1.1\r\nHost: localhost\r\n"
                    + "X-Forwarded-For: \(forwarded)\r\n\r\n")
            return client
        }
        let gate = try #require(service.pictures?.gate)
        var waiting: [RawClient] = []
        for (film, client) in [(0, "203.0.113.7"), (1, "203.0.113.7"), (2, "203.0.113.8")] {
            waiting.append(try ask(film, client))
            try await eventually { gate.usage.sources == film + 1 }
        }
        // The second client's first film comes before the first client's second one.
        for number in 0..<3 { try await held.transfer(number).answer(SampleImages.jpeg) }
        #expect(held.requests.map(\.url.lastPathComponent) == ["0.jpg", "2.jpg", "1.jpg"])
        for client in waiting { #expect(try client.answer().status == 200) }
    }

    @Test("a service without pictures serves posters only in their own size")
    func without() throws {
        let running = try RunningService()
        #expect(try running.client().get("/films/a/poster/w92").status == 404)
        #expect(try running.client().get(image("https://\(Self.host)/a.jpg")).status == 404)
    }
}
