import CatalogueService
import FilmSources
import Films
import FoundationEssentials
import HTTPServer
import TestSupport
import TestTraits
import Testing

@Suite("Commands and a SOAP service", .bounded)
struct SoapProgramTests {
    private let home: TemporaryFolder
    private let library: FilmLibrary

    /// - Throws: if a library cannot be created.
    init() throws {
        home = try TemporaryFolder()
        library = try FilmLibrary(path: home.file("films.db"), access: .creating)
        try library.importFilms { films in
            for number in 1...1100 {
                var film = FilmDocument()
                film["title"] = JSONText("Film \(number)")
                film["score"] = JSONText(Double(number) / 200)
                film["poster"] = JSONText("posters/\(number).png")
                _ = try films.add(film, id: "film-\(number)", poster: nil, replaces: false)
            }
        }
    }

    private func withService(
        isWritable: Bool = true, _ body: (_ soap: String) async throws -> Void
    ) async throws {
        var configuration = FilmServiceConfiguration()
        configuration.isWritable = isWritable
        configuration.writers = WriteAccess(trustsLocal: true)
        let server = try HTTPServer(
            configuration: HTTPServer.Configuration(),
            handler: FilmService(library: library, configuration: configuration))
        try server.start()
        defer { server.stop() }
        try await body("http://127.0.0.1:\(try #require(server.ports[0]))/soap")
    }

    private func run(_ catalogue: String, _ arguments: String...) async throws -> Program.Outcome {
        try await Program.run(
            arguments + ["--catalogue", catalogue],
            environment: ["XDG_CACHE_HOME": home.path, "USER": "anna"])
    }

    @Test("a SOAP address is a catalogue: all pages, the best films, and one film")
    func reading() async throws {
        try await withService { soap in
            #expect(try await run(soap + "?wsdl", "list", "--plain").lines.count == 1100)
            for top in [3, 4] {
                let best = try await run(soap, "list", "--top", "\(top)", "--json")
                let films = try JSON.array(best.text)
                #expect(films.count == top && films[0]["title"] as? String == "Film 1100")
                let poster = soap.dropLast("soap".count) + "posters/1100.png"
                #expect(films[0]["poster"] as? String == String(poster))
            }
            #expect(try await run(soap, "show", "film-7").text.hasPrefix("Film 7\n"))
            #expect(try await run(soap, "show", "film 1099").text.hasPrefix("Film 1099\n"))
            let offline = try await run(soap, "list", "--offline")
            #expect(offline.errorText.contains("leave out --offline"))
        }
    }

    @Test("commands that write accept a SOAP address")
    func writing() async throws {
        try await withService { soap in
            let added = try await run(soap, "add", "--title", "<A>", "--year", "1922", "--genre", "B & C")
            #expect(added.text == "added <A> (1922) as a-1922\n", "\(added.errorText)")
            let again = try await run(soap, "add", "--title", "Other", "--id", "a-1922")
            #expect(again.errorText.contains("the film a-1922 exists already: <A> (1922)"))
            let edited = try await run(soap, "edit", "a-1922", "--year", "", "--score", "7.5", "--json")
            let film = try JSON.object(edited.text)
            #expect(film["year"] == nil && film["score"] as? Double == 7.5)
            #expect(film["genres"] as? [String] == ["B & C"])
            #expect(try await run(soap, "rate", "a-1922", "8.5").text == "<A>: 8.5 of 10 from 1 vote\n")
            #expect(try await run(soap, "rate", "a-1922", "--remove").text == "<A>: no votes\n")
            #expect(
                try await run(soap, "rate", "a-1922", "--remove").errorText.contains("has no vote on <A>"))
            let wrong = try await run(soap, "edit", "a-1922", "--year", "1")
            #expect(
                wrong.errorText.hasPrefix("marquee: \(soap): 422 Unprocessable Content: the year must be"))
            #expect(try await run(soap, "remove", "a-1922", "--yes").text == "removed <A>\n")
            #expect(try library.film("a-1922") == nil)
        }
    }

    @Test("a refused command says what to do")
    func refused() async throws {
        try await withService(isWritable: false) { soap in
            let run = try await run(soap, "rate", "film-1", "8")
            #expect(run.status == 2 && run.errorText.contains("start it with --writable"))
            let elsewhere = try await self.run(soap.replacing("/soap", with: "/x/soap"), "list")
            #expect(elsewhere.errorText.contains("404 Not Found"))
            let wire = try await self.run(soap, "rate", "film-1", "8", "--wire", "xml")
            #expect(wire.errorText.contains("--wire needs one of json, soap"))
        }
    }
}
