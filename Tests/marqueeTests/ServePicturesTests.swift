import FilmSources
import FoundationEssentials
import Glibc
import HTTPSemantics
import LazyImages
import PictureServer
import TestSupport
import TestTraits
import Testing

@testable import marquee

/// The options of `marquee serve` about pictures, and what the commands store of a poster.
@Suite("marquee serve: pictures", .bounded)
struct ServePicturesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var reader: SettingsReader { SettingsReader(output: Output(isQuiet: true), isRunning: true) }

    private func arguments(_ words: String...) throws -> Arguments {
        try Arguments(["serve"] + words)
    }

    @Test("a changed file of keys is read anew for a running service")
    func readAgain() async throws {
        let keys = try folder.write(String(repeating: "0a", count: 32), to: "keys")
        let arguments = try arguments("--sign-key-file", keys, "--source", "*.example.org")
        let service = PictureServer(.init(rules: try await ServeCommand.rules(arguments, reader)))
        #expect(service.replaceRules(by: try await ServeCommand.rules(arguments, reader)).isEmpty)
        let lines = "new \(String(repeating: "0b", count: 32))\n\(String(repeating: "0a", count: 32))\n"
        try folder.write(lines, to: "keys")
        #expect(service.replaceRules(by: try await ServeCommand.rules(arguments, reader)) == ["keys"])
    }

    /// A JPEG with a comment, and the same without.
    private func posters() throws -> (telling: String, plain: [UInt8]) {
        let plain = SampleImages.jpeg
        let comment: [UInt8] = [0xFF, 0xFE, 0, 8] + Array("secret".utf8)
        let path = try folder.write(Data(plain.prefix(2) + comment + plain.dropFirst(2)), to: "telling.jpg")
        return (path, plain)
    }

    private func run(_ words: String...) async throws -> Program.Outcome {
        try await Program.run(words, environment: ["XDG_CACHE_HOME": folder.path])
    }

    @Test("import, add and edit store a poster without its metadata")
    func stripped() async throws {
        let (telling, plain) = try posters()
        let library = folder.file("films.db")
        let films = try folder.write(#"[{"id":"a","title":"A","poster":"telling.jpg"}]"#, to: "films.json")
        #expect(try await run("import", films, library).status == 0)
        let added = try await run(
            "add", "--title", "B", "--id", "b", "--poster", telling, "--catalogue", library)
        #expect(added.status == 0)
        #expect(try await run("add", "--title", "C", "--id", "c", "--catalogue", library).status == 0)
        #expect(try await run("edit", "c", "--poster", telling, "--catalogue", library).status == 0)
        let stored = try FilmLibrary(path: library, access: .reading)
        for id in ["a", "b", "c"] { #expect(try stored.poster(of: id)?.bytes == plain, "\(id)") }
        #expect(try await run("import", films, library).lines == ["\(library): 1 film unchanged"])
    }

    @Test("an import keeps a picture that cannot be stripped as it is, and says so")
    func unstripped() async throws {
        let library = folder.file("films.db")
        let gif = Array("GIF89a\u{1}\0\u{1}\0\0\0\0;".utf8)
        let damaged = SampleImages.png.dropLast(20)
        try folder.write(gif, to: "a.gif")
        try folder.write(damaged, to: "b.png")
        let films = try folder.write(
            #"[{"id":"a","title":"A","poster":"a.gif"},{"id":"b","title":"B","poster":"b.png"}]"#,
            to: "films.json")
        let imported = try await run("import", films, library)
        #expect(imported.status == 0 && imported.errorLines.count == 1)
        #expect(imported.errorText.contains("the poster of \"b\" keeps its metadata, because it is cut off"))
        let stored = try FilmLibrary(path: library, access: .reading)
        #expect(try stored.poster(of: "a")?.bytes == gif)
        #expect(try stored.poster(of: "b")?.bytes == Array(damaged))
    }

    @Test("the service stores an upload without its metadata, or with it if it is told so")
    func served() async throws {
        let (telling, plain) = try posters()
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: telling)))
        let token = "a-token-of-22-characters-or-more"
        let tokens = try folder.write(token, to: "tokens")
        for (words, stored) in [([], plain), (["--keep-metadata"], bytes)] as [([String], [UInt8])] {
            let library = folder.file("\(stored.count).db")
            _ = try FilmLibrary(path: library, access: .creating)
            let program = try Program(
                ["serve", library, "--writable", "--token-file", tokens, "--quiet", "--no-disk-cache"] + words
            )
            let client = try RawClient(port: try await program.nextPort())
            func send(_ method: String, _ path: String, _ type: String, _ body: [UInt8]) throws -> Int {
                let fields = ["Authorization: Bearer \(token)", "Content-Type: \(type)"]
                return try client.send(method, path, fields, body: body).status
            }
            let film = Array(#"{"id":"a","title":"A"}"#.utf8)
            #expect(try send("POST", "/films", "application/json", film) == 201)
            #expect(try send("PUT", "/films/a/poster", "image/jpeg", bytes) == 201)
            for path in ["/films/a/poster", "/films/a/poster/original"] {
                #expect(try client.get(path).body == stored)
            }
            await program.end(SIGTERM)
        }
    }
}
