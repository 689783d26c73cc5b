import FilmSources
import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite("A library on the command line", .bounded)
struct LibraryProgramTests {
    private let fixture: Fixture
    private let path: String

    init() throws {
        fixture = try Fixture()
        path = fixture.home.file("films.db")
    }

    private func run(_ words: String...) async throws -> Program.Outcome {
        try await Program.run(words, environment: fixture.environment)
    }

    @Test(
        "films are imported with their posters and exported again, in JSON and XML",
        arguments: ["json", "xml"])
    func roundTrip(format: String) async throws {
        let films = try fixture.folder.write(
            """
            {"name":"Mine & \\"yours\\"","movies":[
            {"id":"a","title":"A","shelf":{"row":3,"tags":["x"]},"poster":"posters/1.png","price":1.50,"seen":null},
            {"id":"b","title":"<B>","year":1920,"poster":"http://example.org/b.png"}]}
            """, to: "films.json")
        let imported = try await run("import", films, path)
        #expect(imported.status == 0 && imported.lines == ["\(path): 2 films added; 1 poster stored"])
        let library = try FilmLibrary(path: path, access: .writing)
        _ = try library.rate("a", rater: "ann", value: 8)
        _ = try library.rate("a", rater: "ben", value: 9.5)
        let exported = try await run("export", path, "--format", format)
        #expect(exported.status == 0 && exported.errors.isEmpty)

        let copy = fixture.home.file("copy.db")
        let again = try await run("import", try fixture.folder.write(exported.text, to: "export"), copy)
        #expect(again.lines == ["\(copy): 2 films added; 1 poster stored"])
        let second = try FilmLibrary(path: copy, access: .reading)
        #expect(try second.name == "Mine & \"yours\"")
        for id in ["a", "b"] {
            let (old, new) = (try library.film(id), try second.film(id))
            #expect(new?.completeDocument() == old?.completeDocument())
            #expect(try second.poster(of: id)?.bytes == library.poster(of: id)?.bytes)
        }
        #expect(try second.rating(of: "a", by: "ben") == 9.5)
        #expect(try second.film("a")?.document.json().contains("\"price\":1.50") == true)
    }

    @Test("the films of a file, a folder and the sample are exported as those of a library are")
    func exportOfOtherSources() async throws {
        let text =
            #"{"name":"Mine","movies":[{"id":"a","title":"A","shelf":7},{"id":"b","title":"B","poster":"posters/1.png"}]}"#
        let file = try fixture.folder.write(text, to: "films.json")
        let exported = try await run("export", file)
        #expect(exported.status == 0 && exported.errors.isEmpty, "\(exported.errorText)")
        let films = try #require(JSON.object(exported.text)["movies"] as? [[String: Any]])
        #expect(films.map { $0["id"] as? String } == ["a", "b"] && films[0]["shelf"] as? Int == 7)
        #expect(films[0]["created_at"] == nil && (films[1]["poster"] as? String)?.hasPrefix("data:") == true)
        let pictures = try await run("export", fixture.folder.file("posters"), "--no-posters")
        let names = try #require(JSON.object(pictures.text)["movies"] as? [[String: Any]])
        #expect(pictures.status == 0 && !names.isEmpty && names.allSatisfy { $0["poster"] == nil })
        let sample = try await run("export", "sample", "--format", "xml", "--no-posters")
        #expect(sample.status == 0 && sample.text.components(separatedBy: "<movie ").count == 37)
    }

    @Test("an export that leaves out a film says so, and the status is 1; without a source it is an error")
    func exportOfWrongSources() async throws {
        let file = try fixture.folder.write(
            #"[{"id":"a","title":"A"},{"id":"b"},{"id":"c","title":"C"}]"#, to: "films.json")
        let part = try await run("export", file)
        #expect(part.status == 1 && part.errorText.contains("it is left out"), "\(part.errorText)")
        let films = try #require(JSON.object(part.text)["movies"] as? [[String: Any]])
        #expect(films.count == 2)
        let nothing = try await run("export", fixture.folder.file("none.json"))
        #expect(nothing.status == 2 && nothing.text.isEmpty && nothing.errorLines.count == 1)
    }

    @Test("an import that would replace a film imports nothing without --replace or --skip")
    func conflicts() async throws {
        _ = try await run(
            "import",
            try fixture.folder.write(#"[{"id":"a","title":"A"},{"id":"b","title":"B"}]"#, to: "a.json"), path)
        let other = try fixture.folder.write(
            #"[{"id":"c","title":"C"},{"id":"b","title":"New"},{"id":"a","title":"A"}]"#, to: "b.json")
        let refused = try await run("import", other, path)
        #expect(
            refused.status == 2 && refused.errorText.contains("these ids: b;")
                && refused.errorText.contains("--replace"))
        #expect(try FilmLibrary(path: path, access: .reading).count == 2)
        #expect(
            try await run("import", other, path, "--skip").lines == [
                "\(path): 1 film added, 1 unchanged, 1 skipped"
            ])
        #expect(
            try await run("import", other, path, "--replace").lines == [
                "\(path): 1 film replaced, 2 unchanged"
            ])
        #expect(
            try FilmLibrary(path: path, access: .reading).film("b")?.document.json() == #"{"title":"New"}"#)
        #expect(try await run("import", other, path, "--replace", "--skip").status == 2)
    }

    @Test("invalid ids are changed, and entries that are not films are left out, each with a message")
    func warnings() async throws {
        let films = try fixture.folder.write(
            #"[{"id":"top3","title":"Top"},{"id":"x.json","title":"X","year":1920},{"title":"No id"},{"id":"a"},7,"#
                + #"{"id":"d","title":"D","poster":"nothing.png"},{"id":"d","title":"E"}]"#, to: "films.json")
        let run = try await run("import", films, path)
        #expect(run.status == 1)
        #expect(run.lines == ["\(path): 4 films added, 3 left out"])
        for word in [
            "it becomes \"top-film\"", "it becomes \"x-1920\"", "it becomes \"no-id\"", "has no title",
            "film 5",
            "poster of \"d\"", "used twice",
        ] {
            #expect(run.errorText.contains(word), "\(word)")
        }
        #expect(try FilmLibrary(path: path, access: .reading).count == 4)
    }

    @Test("a film that is too large is left out with a message that names it and the limit")
    func sizes() async throws {
        let text = String(repeating: "x", count: FilmLibrary.filmBytes)
        let members = (0..<1000).map { "\"m\($0)\":1" }.joined(separator: ",")
        let films = try fixture.folder.write(
            #"[{"id":"big","title":"B","overview":"\#(text)"},{"id":"a","title":"A"},{"id":"many","title":"M",\#(members)}]"#,
            to: "films.json")
        let run = try await run("import", films, path)
        #expect(run.status == 1 && run.lines == ["\(path): 1 film added, 2 left out"])
        #expect(
            run.errorText.contains(
                "the film \"big\" has 262171 bytes as JSON, and at most 262144 are stored; make it smaller; it is left out"
            ))
        #expect(
            run.errorText.contains(
                "the film \"many\" has 1001 members, and at most 1000 are stored; remove some; it is left out"
            ))
    }

    @Test("an import beside the log of a library that was moved away fails, and leaves the log")
    func strangeLog() async throws {
        let films = try fixture.folder.write(#"[{"id":"a","title":"A"}]"#, to: "films.json")
        try Data("log".utf8).write(to: URL(filePath: path + "-wal"))
        let run = try await run("import", films, path)
        #expect(run.status == 2 && run.errorText.contains("there is a log of another library, \(path)-wal"))
        #expect(try Data(contentsOf: URL(filePath: path + "-wal")) == Data("log".utf8))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("posters on the network stay there, as absolute addresses")
    func network() async throws {
        let run = try await run("import", fixture.base + "movies.json", path)
        #expect(run.lines == ["\(path): 6 films added"])
        #expect(
            try FilmLibrary(path: path, access: .reading).film("film-1")?.poster
                == .address(fixture.base + "posters/1.png"))
    }

    @Test("list, show and prewarm accept a library, and its posters need no network")
    func asCatalogue() async throws {
        _ = try await run("import", fixture.folder.file("movies.json"), path)
        let requests = fixture.service.statistics.requests
        let list = try await run("list", "--plain", "--catalogue", path)
        #expect(list.lines.count == 6 && list.lines[0].hasSuffix("cached"))
        let top = try await run("list", "--top", "2", "--plain", "--catalogue", path)
        #expect(top.lines.map { $0.split(separator: "\t")[0] } == ["film-6", "film-5"])
        let oldest = try await run("--catalogue", path, "list", "--top", "1", "--sort", "year", "--plain")
        #expect(oldest.lines.map { $0.split(separator: "\t")[0] } == ["film-1"])
        let show = try await run("show", "film 3", "--catalogue", path, "--offline", "--json")
        #expect(
            show.status == 0 && show.text.contains("\"status\":200")
                && show.text.contains("\"format\":\"png\""))
        let several = try await run("show", "film", "--catalogue", path)
        #expect(several.status == 2 && several.errorText.contains("several films"))
        let none = try await run("show", "flim 3", "--catalogue", path)
        #expect(none.errorText.contains("did you mean film-3"))
        #expect(
            try await run("prewarm", "--catalogue", path).errorText.contains("every poster is in the library")
        )
        #expect(fixture.service.statistics.requests == requests)
    }

    @Test("a file that is not a library is refused in one line, and a failed import leaves no file")
    func refused() async throws {
        let text = try fixture.folder.write(
            "not a database, but long enough to look like one at first sight", to: "text.db")
        #expect(try await run("list", "--catalogue", text).errorText.contains("not a Marquee library"))
        let missing = try await run("list", "--catalogue", fixture.home.file("none.db"))
        #expect(missing.status == 2 && missing.errorText.contains("there is no such file"))
        let bad = try await run("import", try fixture.folder.write("[1,]", to: "bad.json"), path)
        #expect(bad.status == 2 && bad.errorText.contains("line 1, column 4"))
        #expect(!FileManager.default.fileExists(atPath: path))
        let without = try await Program.run(
            ["list", "--catalogue", path],
            environment: fixture.environment.merging(["MARQUEE_LIBSQLITE": "/nowhere"]) { $1 })
        #expect(without.status == 2 && without.errorText.contains("libsqlite3-0"))
        let listed = try await Program.run(
            ["list", "--plain"],
            environment: fixture.environment.merging(["MARQUEE_LIBSQLITE": "/nowhere"]) { $1 })
        #expect(listed.status == 0 && listed.lines.count == 6)
    }

    @Test("reading a library leaves no other file beside it")
    func oneFile() async throws {
        _ = try await run("import", fixture.folder.file("movies.json"), path)
        _ = try await run("list", "--catalogue", path)
        let files = try FileManager.default.contentsOfDirectory(atPath: fixture.home.path).filter {
            $0.hasPrefix("films")
        }
        #expect(files == ["films.db"])
    }
}
