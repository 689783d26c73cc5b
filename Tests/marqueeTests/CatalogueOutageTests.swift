import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@Suite("marquee list without an answer", .bounded)
struct CatalogueOutageTests {
    private typealias Feed = CatalogueServer

    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    private func list(_ catalogue: String, _ words: String...) async throws -> Program.Outcome {
        try await Program.run(
            ["list", "--catalogue", catalogue] + words, environment: ["XDG_CACHE_HOME": home.path])
    }

    @Test(
        "cached films are listed, with the reason and their age, and the status is 1",
        arguments: [
            "", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n{\"movies\": [",
            "SSH-2.0-x\r\n\r\n",
        ])
    func outage(answer: String) async throws {
        let feed = try Feed(Feed.film("a"), Feed.film("b"))
        let before = try await list(feed.catalogue, "--plain")
        #expect(before.status == 0 && before.errors.isEmpty)
        feed.answer(answer)
        for form in ["--plain", "--json"] {
            let after = try await list(feed.catalogue, form)
            #expect(after.status == 1)
            #expect(form == "--json" ? try JSON.array(after.text).count == 2 : after.lines == before.lines)
            #expect(after.errorLines.count == 1)
            #expect(after.errorText.hasPrefix("marquee: \(feed.catalogue): "))
            #expect(after.errorText.contains("; showing the cached films, "))
            #expect(after.errorText.hasSuffix(" old\n"), "\(after.errorText)")
        }
    }

    @Test(
        "show and fetch use the cached films too, with the same message, and without any they name the catalogue"
    )
    func otherCommands() async throws {
        let feed = try Feed(Feed.film("a"), Feed.film("b"))
        func run(_ words: String...) async throws -> Program.Outcome {
            try await Program.run(
                words + ["--catalogue", feed.catalogue], environment: ["XDG_CACHE_HOME": home.path])
        }
        #expect(try await run("list").status == 0)
        feed.disconnect()
        let shown = try await run("show", "a")
        #expect(shown.status == 1 && shown.text.contains("Film a."), "\(shown.text)")
        #expect(shown.errorText.hasPrefix("marquee: \(feed.catalogue): "), "\(shown.errorText)")
        #expect(shown.errorText.contains("; showing the cached films, "))
        let fetched = try await run("fetch", "a", "--json")
        #expect(fetched.errorText.contains("; showing the cached films, "), "\(fetched.errorText)")
        #expect(fetched.text.contains("no-poster"), "\(fetched.text)")
        try FileManager.default.removeItem(atPath: home.file("marquee"))
        for command in ["show", "list", "fetch"] {
            let words = command == "list" ? [command] : [command, "a"]
            let none = try await Program.run(
                words + ["--catalogue", feed.catalogue], environment: ["XDG_CACHE_HOME": home.path])
            #expect(none.status == 2)
            #expect(
                none.errorText.hasPrefix("marquee: \(feed.catalogue): "), "\(none.errorText)")
        }
    }

    @Test("the best of the cached films are listed if the server does not answer")
    func top() async throws {
        let feed = try Feed(Feed.film("a"), Feed.film("b", score: 9))
        _ = try await list(feed.catalogue)
        feed.disconnect()
        let top = try await list(feed.catalogue, "--top", "1", "--plain")
        #expect(top.status == 1 && top.lines.map { $0.prefix { $0 != "\t" } } == ["b"])
    }

    @Test(
        "an uncached catalogue is an error; so is an answer in another format, which does not replace the cached one"
    )
    func noCatalogue() async throws {
        let feed = try Feed()
        feed.disconnect()
        let nothing = try await list(feed.catalogue)
        #expect(nothing.status == 2 && nothing.text.isEmpty && nothing.errorLines.count == 1)
        feed.setFilms([Feed.film("a")])
        #expect(try await list(feed.catalogue).status == 0)
        feed.answer(FilmServer.response("200 OK", "<!DOCTYPE html><html><p>Log in</p></html>"))
        let page = try await list(feed.catalogue)
        #expect(page.status == 2 && page.errorText.contains("it is a web page"), "\(page.errorText)")
        feed.answer(FilmServer.response("401 Unauthorized"))
        #expect(try await list(feed.catalogue).status == 2)
        let offline = try await list(feed.catalogue, "--offline", "--plain")
        #expect(offline.status == 0 && offline.lines.count == 1, "\(offline.errorText)")
    }

    @Test("the pages of an incomplete read do not replace those of a complete one")
    func pages() async throws {
        @Sendable func page(_ film: String, next: String? = nil) -> String {
            FilmServer.response(
                "200 OK", "{\"movies\":[\(film)]}",
                fields: next.map { "Link: <\($0)>; rel=\"next\"\r\n" } ?? "")
        }
        // The second read finds another first page, whose next page fails.
        let firstPages = Shared([page(Feed.film("a"), next: "?a")])
        let origin = try ScriptedOrigin([
            .forever([
                .respond { head, _ in
                    switch head.split(separator: " ")[1] {
                    case "/films.json":
                        firstPages.change { $0.popLast() } ?? page(Feed.film("new"), next: "?new")
                    case "/films.json?a": page(Feed.film("b"))
                    default: FilmServer.response("500 Internal Server Error")
                    }
                }
            ])
        ])
        let catalogue = origin.url("/films.json").absoluteString
        #expect(try await list(catalogue, "--plain").lines.count == 2)
        for _ in 0..<2 {
            let run = try await list(catalogue, "--plain")
            #expect(run.status == 1 && run.lines.map { $0.prefix { $0 != "\t" } } == ["a", "b"])
            // The catalogue's name, not the page's.
            #expect(run.errorText.contains("films.json: the server answered 500"), "\(run.errorText)")
        }
    }

    @Test("the cached catalogue is revalidated each time")
    func validation() async throws {
        let origin = try ScriptedOrigin([
            .forever([
                .respond { head, _ in
                    head.contains("If-None-Match: \"1\"")
                        ? "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n"
                        : FilmServer.response(
                            "200 OK", "{\"movies\":[\(Feed.film("a"))]}",
                            fields: "ETag: \"1\"\r\nCache-Control: max-age=3600\r\n")
                }
            ])
        ])
        let catalogue = origin.url("/films.json").absoluteString
        for number in 1...3 {
            let run = try await list(catalogue, "--plain")
            #expect(run.status == 0 && run.lines.count == 1)
            #expect(origin.requests.count == number)
        }
        #expect(origin.heads.last?.contains("If-None-Match") == true)
    }
}
