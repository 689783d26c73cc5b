import CatalogueService
import FilmSources
import FoundationEssentials
import Glibc
import HTTPServer
import TestSupport
import TestTraits
import Testing

/// The commands with the real service over sockets, and with a library's file.
@Suite("Commands and the film service", .bounded)
struct FilmServiceProgramTests {
    private let home: TemporaryFolder
    private let library: String

    init() throws {
        home = try TemporaryFolder()
        library = home.file("films.db")
    }

    /// A service with the library, stopped when the object is released.
    private final class Service {
        let server: HTTPServer
        let port: UInt16

        init(_ path: String, tokens: [String] = [], isWritable: Bool = true) throws {
            var configuration = FilmServiceConfiguration()
            configuration.isWritable = isWritable
            configuration.writers =
                tokens.isEmpty
                ? WriteAccess(trustsLocal: true)
                : WriteAccess(tokens.map { WriteAccess.Token(name: "a", value: $0) })
            let service = FilmService(
                library: try FilmLibrary(path: path, access: .writing), configuration: configuration)
            server = try HTTPServer(configuration: HTTPServer.Configuration(), handler: service)
            port = try #require(server.ports[0])
            try server.start()
        }

        deinit { server.stop() }

        var catalogue: String { "http://127.0.0.1:\(port)/films" }
    }

    private func run(_ catalogue: String, _ arguments: String...) async throws -> Program.Outcome {
        try await Program.run(
            arguments + ["--catalogue", catalogue],
            environment: ["XDG_CACHE_HOME": home.path, "USER": "anna"])
    }

    private func makeLibrary(films: Int = 3) async throws {
        let entries = (1...films).map { number in
            """
            {"id":"film-\(number)","title":"Film \(number)","year":\(1910 + number % 100),"director":"Someone",\
            "score":\(Double(number % 100) / 10),"poster":"https://films.example/\(number).png"}
            """
        }
        let file = try home.write("[\(entries.joined(separator: ","))]", to: "films.json")
        let run = try await Program.run(
            ["import", file, library], environment: ["XDG_CACHE_HOME": home.path])
        #expect(run.status == 0, "\(run.errorText)")
    }

    @Test("the commands have the same effect on a service and on a library's file", arguments: [true, false])
    func everyCommand(overSockets: Bool) async throws {
        try await makeLibrary()
        let service = overSockets ? try Service(library) : nil
        let catalogue = service?.catalogue ?? library
        let poster = try home.write(Fixture.pixel, to: "p.png")

        for wire in ["json", "xml", "form", "multipart", "soap"] {
            let words = [
                "add", "--title", "El Camión <\(wire)>", "--year", "1977", "--director", "Duras & Co",
                "--genre",
                "Drama", "--genre", "Road", "--minutes", "80", "--score", "7.5", "--poster", poster, "--wire",
                wire,
            ]
            func add() async throws -> Program.Outcome {
                try await Program.run(
                    words + ["--catalogue", catalogue], environment: ["XDG_CACHE_HOME": home.path])
            }
            let added = try await add()
            #expect(
                added.text == "added El Camión <\(wire)> (1977) as el-camion-\(wire)-1977\n",
                "\(added.errorText)")
            let again = try await add()
            #expect(
                again.status == 2 && again.errorText.contains("is there already, as el-camion-\(wire)-1977"),
                "\(again.errorText)")
            let shown = try await run(catalogue, "show", "el-camion-\(wire)-1977", "--json")
            let film = try JSON.object(shown.text)
            #expect(film["director"] as? String == "Duras & Co" && film["score"] as? Double == 7.5)
            #expect(film["genres"] as? [String] == ["Drama", "Road"] && film["minutes"] as? Int == 80)
            let fetch = try #require(film["fetch"] as? [String: Any])
            #expect(fetch["bytes"] as? Int == Fixture.pixel.count && fetch["error"] == nil)
        }
        let edited = try await run(catalogue, "edit", "film 2", "--year", "1922", "--director", "", "--json")
        let film = try JSON.object(edited.text)
        #expect(film["year"] as? Int == 1922 && film["director"] == nil && film["id"] as? String == "film-2")
        #expect(
            try await run(catalogue, "rate", "film-2", "8.5").text == "Film 2 (1922): 8.5 of 10 from 1 vote\n"
        )
        #expect(try await run(catalogue, "rate", "film-2", "--remove").text == "Film 2 (1922): no votes\n")
        #expect(try await run(catalogue, "remove", "film-3", "--yes").text == "removed Film 3 (1913)\n")
        let bad = try await run(catalogue, "edit", "film-1", "--minutes", "0")
        #expect(bad.status == 2 && bad.errorText.contains(": the minutes must be"))
        #expect(bad.errorText.contains("422 Unprocessable Content") == overSockets)
        #expect(bad.errorText.hasPrefix("marquee: \(overSockets ? catalogue + "/film-1" : library): "))
        let listed = try await run(catalogue, "list", "--plain")
        #expect(listed.lines.count == 7 && !listed.text.contains("film-3"))
    }

    @Test("a replaced poster shows in its new form")
    func replacedPoster() async throws {
        try await makeLibrary()
        let service = try Service(library)
        for (name, bytes) in [("a.png", SampleImages.png), ("b.jpg", SampleImages.jpeg)] {
            let path = try home.write(bytes, to: name)
            let edited = try await run(service.catalogue, "edit", "film-1", "--poster", path)
            #expect(edited.status == 0, "\(edited.errorText)")
            let shown = try JSON.object(try await run(service.catalogue, "show", "film-1", "--json").text)
            #expect((shown["fetch"] as? [String: Any])?["bytes"] as? Int == bytes.count)
        }
        #expect(try await run(service.catalogue, "edit", "film-1", "--poster", "").status == 0)
        let shown = try JSON.object(try await run(service.catalogue, "show", "film-1", "--json").text)
        #expect(shown["poster"] == nil)
    }

    @Test(
        "a poster may come from standard input or another pipe",
        arguments: [
            "cat p.png | marquee add --title New --poster -", "marquee add --title New --poster - < p.png",
            "cat p.png | marquee add --title New --poster /dev/stdin",
            "marquee add --title New && cat p.png | marquee edit new --poster -",
            "bash -c 'marquee add --title New --poster <(cat p.png)'",
        ], [true, false])
    func pipedPoster(line: String, overSockets: Bool) async throws {
        try await makeLibrary()
        try home.write(SampleImages.png, to: "p.png")
        let service = overSockets ? try Service(library) : nil
        let environment = ["MARQUEE_CATALOGUE": service?.catalogue ?? library]
        let added = try await Program.shell(line, in: home, environment: environment)
        #expect(added.status == 0, "\(added.errorText)")
        let stored = try FilmLibrary(path: library, access: .reading).poster(of: "new")
        #expect(stored?.bytes == SampleImages.png)
    }

    @Test(
        "a poster from a pipe that is no picture is refused in one line",
        arguments: [
            (": |", "-", "/dev/stdin: it is empty; name a picture"),
            ("mkfifo p; : > p &", "$PWD/p", "/p: it is empty; name a picture"),
            ("echo text |", "-", "/dev/stdin: it is not a JPEG, PNG, WebP, GIF or BMP; name another poster"),
            (
                "echo text |", "/dev/stdin",
                "/dev/stdin: it is not a JPEG, PNG, WebP, GIF or BMP; name another poster"
            ),
        ])
    func badPipedPoster(input: String, word: String, message: String) async throws {
        try await makeLibrary()
        let run = try await Program.shell(
            "\(input) marquee add --title New --poster \(word) --catalogue films.db", in: home)
        #expect(run.status == 2 && run.errorLines.count == 1, "\(run.errorText)")
        #expect(run.errorText.hasPrefix("marquee: /") && run.errorText.hasSuffix(message + "\n"))
        #expect(try FilmLibrary(path: library, access: .reading).film("new") == nil)
    }

    @Test("a service that demands a token gets it from the file, and is read without one")
    func token() async throws {
        try await makeLibrary()
        let token = "0123456789abcdefghijklmn"
        let service = try Service(library, tokens: [token])
        let file = try home.write("127.0.0.1:\(service.port) Bearer \(token)\n", to: "tokens")
        unsafe chmod(file, 0o600)
        #expect(try await run(service.catalogue, "list", "--plain").lines.count == 3)
        let refused = try await run(service.catalogue, "rate", "film-1", "8")
        #expect(refused.status == 2 && refused.errorText.contains("401 Unauthorized: rating needs a token"))
        let rated = try await run(service.catalogue, "rate", "film-1", "8", "--credentials-file", file)
        #expect(rated.status == 0, "\(rated.errorText)")
    }

    @Test("a read-only service is an error that says what to do")
    func readOnly() async throws {
        try await makeLibrary()
        let service = try Service(library, isWritable: false)
        let run = try await run(service.catalogue, "remove", "film-1", "--yes")
        #expect(run.status == 2 && run.errorText.contains("405") && run.errorText.contains("--writable"))
    }

    @Test("all pages of a long list are read, and its best films in one request")
    func pages() async throws {
        try await makeLibrary(films: 2500)
        let service = try Service(library)
        let all = try await run(service.catalogue, "list", "--plain")
        #expect(Set(all.lines.map { String($0.prefix { $0 != "\t" }) }).count == 2500)
        #expect(service.server.statistics.requests == 3)
        let best = try await run(service.catalogue, "list", "--top", "3", "--plain")
        #expect(best.lines.count == 3 && service.server.statistics.requests == 4)
        let copy = try await run(service.catalogue, "import", service.catalogue, home.file("copy.db"))
        #expect(copy.text.contains("2500 films added"), "\(copy.errorText)")
        let found = try await run(service.catalogue, "show", "film 1234", "--json")
        #expect(try JSON.object(found.text)["id"] as? String == "film-1234")
    }

    @Test("eight concurrent edits of one film lose no vote and no change")
    func atOnce() async throws {
        try await makeLibrary()
        let service = try Service(library)
        let catalogue = service.catalogue
        let outcomes = try await withThrowingTaskGroup(of: (Int32, Int32).self) { group in
            for number in 1...8 {
                group.addTask {
                    let vote = try await run(catalogue, "rate", "film-1", "\(number)", "--as", "r\(number)")
                    let edit = try await run(catalogue, "edit", "film-1", "--minutes", "\(number)")
                    #expect(edit.status == 0 || edit.errorText.contains("changed since"))
                    return (vote.status, edit.status)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.allSatisfy { $0.0 == 0 } && outcomes.contains { $0.1 == 0 })
        let film = try JSON.object(try await run(catalogue, "show", "film-1", "--json").text)
        #expect(film["votes"] as? Int == 8 && film["rating"] as? Double == 4.5)
    }
}
