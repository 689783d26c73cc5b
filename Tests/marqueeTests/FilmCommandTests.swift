import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite("Commands that write", .bounded)
struct FilmCommandTests {
    private let home: TemporaryFolder
    private let faust = #"{"id":"faust","title":"Faust","year":1926}"#

    init() throws { home = try TemporaryFolder() }

    private func run(
        _ server: FilmServer, _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> Program.Outcome {
        try await Program.run(
            arguments + ["--catalogue", server.catalogue],
            environment: ["XDG_CACHE_HOME": home.path, "USER": "anna"].merging(environment) { $1 })
    }

    // MARK: add

    @Test("add makes the id and sends the film; --json prints the server's film")
    func add() async throws {
        let server = try FilmServer()
        let run = try await run(
            server, "add", "--title", "El Camión", "--year", "1977", "--director", "Duras", "--genre",
            "Drama",
            "--genre", "Road", "--minutes", "80", "--score", "7.5")
        #expect(run.text == "added El Camión (1977) as el-camion-1977\n" && run.status == 0)
        let film =
            #"{"id":"el-camion-1977","title":"El Camión","year":1977,"director":"Duras","minutes":80,"#
            + #""genres":["Drama","Road"],"score":7.5}"#
        #expect(server.film("el-camion-1977") == film)
        let json = try await self.run(server, "add", "--title", "M", "--year", "1931", "--id", "m", "--json")
        #expect(json.text == #"{"id":"m","title":"M","year":1931}"# + "\n")
    }

    @Test("add sends a film in every format", arguments: ["xml", "form", "multipart"])
    func wires(wire: String) async throws {
        let server = try FilmServer()
        server.fail("POST", .refuse(FilmServer.response("201 Created", faust)))
        let run = try await run(
            server, "add", "--title", "Tom & Co", "--year", "1926", "--genre", "A", "--genre", "B", "--wire",
            wire)
        #expect(run.status == 0, "\(run.errorText)")
        let head = server.origin.heads[0]
        let body = String(decoding: server.origin.bodies[0], as: UTF8.self)
        switch wire {
        case "xml":
            #expect(head.contains("Content-Type: application/xml\r\n"))
            #expect(
                body.hasSuffix(
                    "<movie id=\"tom-co-1926\"><title>Tom &amp; Co</title><year>1926</year>"
                        + "<genres><genre>A</genre><genre>B</genre></genres></movie>"))
        case "form":
            #expect(head.contains("Content-Type: application/x-www-form-urlencoded\r\n"))
            #expect(
                body == "film%5Bid%5D=tom-co-1926&film%5Btitle%5D=Tom%20%26%20Co&film%5Byear%5D=1926"
                    + "&film%5Bgenres%5D%5B%5D=A&film%5Bgenres%5D%5B%5D=B")
        default:
            #expect(head.contains("Content-Type: multipart/form-data; boundary="))
            #expect(body.contains("name=\"film[title]\"\r\n\r\nTom & Co\r\n"))
            #expect(body.contains("name=\"film[genres][]\"\r\n\r\nB\r\n"))
        }
    }

    @Test("a poster is sent in the form, or after the film; a file that is not a picture is refused before")
    func poster() async throws {
        let path = try home.write(Fixture.pixel, to: "p.png")
        let along = try FilmServer()
        along.fail("POST", .refuse(FilmServer.response("201 Created", faust)))
        #expect(try await run(along, "add", "--title", "Faust", "--poster", path).status == 0)
        let body = along.origin.bodies[0]
        #expect(body.contains(sequence: Array(Fixture.pixel)))
        #expect(
            body.firstRange(
                of: Array("name=\"poster\"; filename=\"p.png\"\r\nContent-Type: image/png\r\n\r\n".utf8))
                != nil)

        let after = try FilmServer()
        let run = try await run(after, "add", "--title", "Faust", "--poster", path, "--wire", "json")
        #expect(run.status == 0 && after.requests.prefix(2) == ["POST /films", "PUT /films/faust/poster"])
        #expect(after.origin.bodies[1] == Array(Fixture.pixel))

        try home.write("text", to: "p.png")
        let refused = try await self.run(after, "add", "--title", "M", "--poster", path)
        #expect(refused.status == 2 && refused.errorText.contains("not a JPEG, PNG, WebP, GIF or BMP"))
    }

    @Test("after a lost answer the film is stored once, and add succeeds; a repeated add adds nothing")
    func lostAnswer() async throws {
        let server = try FilmServer()
        server.fail("POST", .loseAnswer)
        let first = try await run(server, "add", "--title", "Faust", "--year", "1926")
        #expect(first.text == "added Faust (1926) as faust-1926\n" && first.status == 0, "\(first.errorText)")
        let second = try await run(server, "add", "--title", "Faust", "--year", "1926")
        #expect(second.text.isEmpty && second.status == 2)
        #expect(
            second.errorText
                == "marquee: Faust (1926) is there already, as faust-1926; nothing was added\n")
        #expect(server.requests.filter { $0 == "POST /films" }.count == 3)
    }

    @Test("an id that another film has is an error with that film")
    func taken() async throws {
        let server = try FilmServer([
            "faust-1926": #"{"id":"faust-1926","title":"Faust","year":1926,"score":8}"#
        ])
        let run = try await run(server, "add", "--title", "Faust", "--year", "1926")
        #expect(run.status == 2 && run.text.isEmpty)
        #expect(
            run.errorText.contains(
                "the film faust-1926 exists already: Faust (1926); change it with marquee edit"))
    }

    @Test("problem details become one line with all faults")
    func problem() async throws {
        let server = try FilmServer()
        let details = #"""
            {"title":"Unprocessable Content","status":422,"detail":"year must be a number, and 1 more",
             "errors":[{"pointer":"/year","detail":"must be a\nnumber"},{"pointer":"/score","detail":"is too large"}]}
            """#
        server.fail("POST", .refuse(FilmServer.response("422 Unprocessable Content", details)))
        let run = try await run(server, "add", "--title", "Faust")
        #expect(run.status == 2 && run.errorLines.count == 1)
        #expect(
            run.errorText.hasPrefix(
                "marquee: \(server.catalogue): 422 Unprocessable Content: year must be a number, and 1 more (/year"
            ))
        #expect(run.errorText.contains("; /score is too large)"))
    }

    @Test(
        "an invalid command line is refused before anything is sent",
        arguments: [
            (["add"], "--title"), (["add", "--title", "T", "--id", "top"], "--id must be"),
            (["add", "--title", "T", "--year", "x"], "--year"),
            (["add", "--title", "T", "--score", "11"], "--score"),
            (["add", "--title", "T", "--wire", "yaml"], "--wire"),
            (["edit", "faust"], "something to change"),
            (["edit", "faust", "--title", ""], "needs a title"), (["rate", "faust"], "number from 0 to 10"),
            (["rate", "faust", "11"], "from 0 to 10"), (["remove", "faust"], "--yes"),
            (["rate", "faust", "8", "--remove"], "leave out \"8\""),
            (["add", "--title", "T", "--offline"], "--offline"),
        ])
    func usage(words: [String], text: String) async throws {
        let server = try FilmServer(["faust": faust])
        let run = try await Program.run(
            words + ["--catalogue", server.catalogue],
            environment: ["XDG_CACHE_HOME": home.path, "USER": "u"])
        #expect(run.status == 2 && run.errorText.contains(text), "\(run.errorText)")
        #expect(server.requests.isEmpty)
    }

    // MARK: edit, rate, remove

    @Test("edit sends the changed members, with the film's tag; an empty value removes a member")
    func edit() async throws {
        let server = try FilmServer(["faust": faust])
        let run = try await run(server, "edit", "fau", "--director", "Murnau", "--country", "", "--json")
        #expect(run.status == 0, "\(run.errorText)")
        #expect(server.requests.suffix(2) == ["GET /films/faust", "PATCH /films/faust"])
        #expect(server.origin.bodies.last == Array(#"{"director":"Murnau","country":null}"#.utf8))
        #expect(server.origin.heads.last?.contains("If-Match: \"1\"") == true)
        #expect(server.origin.heads.last?.contains("Content-Type: application/merge-patch+json") == true)
        #expect(run.text == (server.film("faust") ?? "") + "\n")
    }

    @Test("a film that was changed meanwhile stays, unless the change is our own")
    func changedMeanwhile() async throws {
        let server = try FilmServer(["faust": faust])
        server.fail("PATCH", .refuse(FilmServer.response("412 Precondition Failed", "{}")))
        let refused = try await run(server, "edit", "faust", "--year", "1925")
        #expect(refused.status == 2)
        #expect(refused.errorText == "marquee: Faust (1926) has changed since; run the command again\n")
        server.fail("PATCH", .refuse(FilmServer.response("412 Precondition Failed", "{}")))
        #expect(try await run(server, "edit", "faust", "--year", "1926").status == 0)
        server.fail("DELETE", .refuse(FilmServer.response("412 Precondition Failed", "{}")))
        let kept = try await run(server, "remove", "faust", "--yes")
        #expect(kept.status == 2 && kept.errorText.contains("changed since; run the command again"))
    }

    @Test("rate votes under the user's name, or another, and can withdraw a vote")
    func rate() async throws {
        let server = try FilmServer(["faust": #"{"id":"faust","title":"Faust","rating":8.25,"votes":2}"#])
        let mine = try await run(server, "rate", "faust", "8.5")
        #expect(mine.text == "Faust: 8.3 of 10 from 2 votes\n")
        #expect(server.requests.contains("PUT /films/faust/ratings/anna"))
        #expect(server.origin.bodies.contains(Array(#"{"value":8.5}"#.utf8)))
        #expect(try await run(server, "rate", "faust", "7", "--as", "a/b c").status == 0)
        #expect(server.requests.contains("PUT /films/faust/ratings/a%2Fb%20c"))
        #expect(try await run(server, "rate", "faust", "--remove").status == 0)
        #expect(server.requests.contains("DELETE /films/faust/ratings/anna"))
    }

    @Test("remove succeeds, also when the answer was lost")
    func remove() async throws {
        let server = try FilmServer(["faust": faust, "m": #"{"id":"m","title":"M"}"#])
        server.fail("DELETE", .loseAnswer)
        let run = try await run(server, "remove", "faust", "--yes")
        #expect(run.text == "removed Faust (1926)\n" && run.status == 0)
        #expect(server.film("faust") == nil && server.film("m") != nil)
        let gone = try await self.run(server, "remove", "faust", "--yes")
        #expect(gone.status == 2 && gone.errorText.contains("no film is called \"faust\""))
    }

    // MARK: Targets and credentials

    @Test("the error for a read-only catalogue says how to make a library")
    func readOnly() async throws {
        let file = try home.write("[\(faust)]", to: "films.json")
        for words in [["--catalogue", file], ["--catalogue", "http://localhost:1/films.txt"]] {
            let run = try await Program.run(
                ["add", "--title", "T"] + words, environment: ["XDG_CACHE_HOME": home.path])
            #expect(run.status == 2 && run.errorText.contains("films.db"), "\(run.errorText)")
        }
    }

    @Test(
        "a token comes from a file that only its user can read, and is sent over plain http only to named hosts"
    )
    func token() async throws {
        let server = try FilmServer()
        let unauthorized = FilmServer.response(
            "401 Unauthorized", #"{"detail":"writing needs a token"}"#,
            fields: "WWW-Authenticate: Bearer realm=\"films\"\r\n")
        let file = try home.write("# nas\n127.0.0.1 Bearer t0ken\nnas.example Bearer t0ken\n", to: "tokens")
        unsafe chmod(file, 0o600)
        server.fail("POST", .refuse(unauthorized))
        #expect(try await run(server, "add", "--title", "M", "--credentials-file", file).status == 0)
        #expect(
            server.origin.heads.map {
                $0.contains("Authorization: Bearer t0ken\r\n") || $0.hasSuffix("t0ken")
            }
                == [false, true])
        server.fail("POST", .refuse(unauthorized))
        let none = try await run(server, "add", "--title", "N")
        #expect(none.errorText.contains("writing needs a token; give a token with --credentials-file"))
        unsafe chmod(file, 0o644)
        let open = try await run(server, "add", "--title", "O", "--credentials-file", file)
        #expect(open.status == 2 && open.errorText.contains("chmod 600") && !open.errorText.contains("t0ken"))
        unsafe chmod(file, 0o600)
        let clear = try await Program.run(
            ["add", "--title", "O", "--credentials-file", file, "--catalogue", "http://nas.example/films"],
            environment: ["XDG_CACHE_HOME": home.path])
        #expect(clear.status == 2 && clear.errorText.contains("--insecure-http nas.example"))
    }
}
