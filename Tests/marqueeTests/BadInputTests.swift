import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite("Bad input is one clear line on standard error", .bounded)
struct BadInputTests {
    /// A command line, its exit status, and a part of its error.
    struct Case: Sendable, CustomTestStringConvertible {
        let words: [String]
        let status: Int32
        let answer: String
        var file = ""
        var input = ""
        var environment: [String: String] = [:]

        var testDescription: String { words.joined(separator: " ") + " " + file.prefix(30) }
    }

    /// FILE stands for a file with the case's contents.
    static let cases = [
        Case(words: ["lst"], status: 2, answer: "did you mean \"list\"?"),
        Case(words: ["list", "--ofline"], status: 2, answer: "did you mean --offline?"),
        Case(words: ["list", "--sort", "size"], status: 2, answer: "one of score, year, title"),
        Case(words: ["list", "--top", "0"], status: 2, answer: "whole number from 1 on"),
        Case(words: ["list", "--plain", "--json"], status: 2, answer: "exclude each other"),
        Case(words: ["list", "extra"], status: 2, answer: "does not take \"extra\""),
        Case(words: ["list", "--catalogue", "FILE"], status: 2, answer: "it is empty"),
        Case(
            words: ["list", "--catalogue", "FILE"], status: 2, answer: "line 2: a DOCTYPE is not accepted",
            file: "<?xml version=\"1.0\"?>\n<!DOCTYPE c [<!ENTITY e \"x\">]>\n<catalogue/>"),
        Case(
            words: ["list", "--catalogue", "FILE"], status: 2,
            answer: "line 3, column 8: not well-formed XML",
            file: "<catalogue>\n<movie>\n</film></catalogue>"),
        Case(
            words: ["list", "--catalogue", "FILE"], status: 2, answer: "line 2, column 6: not JSON",
            file: "[{\"id\":\n\"cut\""),
        Case(
            words: ["list", "--catalogue", "FILE"], status: 2, answer: "has no title",
            file: #"[{"id":"a","year":1920,"director":"D"}]"#),
        Case(
            words: ["list", "--catalogue", "FILE"], status: 2, answer: "neither JSON nor XML",
            file: "films, lots of them"),
        Case(
            words: ["list", "--catalogue", "/nowhere"], status: 2,
            answer: "there is no such file; check the path"),
        Case(words: ["list", "--catalogue", "/"], status: 2, answer: "there are no films and no pictures"),
        Case(words: ["list", "--catalogue", "ftp://h/x"], status: 2, answer: "the scheme ftp is not read"),
        Case(
            words: ["list", "--catalogue", "http://example.org/x"], status: 2,
            answer: "or allow it with --insecure-http example.org"),
        Case(
            words: ["fetch", "CLOSED/x"], status: 2, answer: "no connection: Connection refused"),
        Case(words: ["fetch", "http:///x"], status: 2, answer: "it names no host"),
        Case(words: ["fetch", "data:,text"], status: 2, answer: "not an image: it is text"),
        Case(
            words: ["fetch", "file:///nowhere"], status: 2, answer: "/nowhere: cannot be read: No such file"),
        Case(words: ["fetch", "-"], status: 2, answer: "standard input names no address"),
        Case(words: ["fetch", "-"], status: 2, answer: "no film is called \"garbage\"", input: "garbage"),
        Case(words: ["fetch", "data:,x", "-o", "/proc/none"], status: 2, answer: "choose another with -o"),
        Case(
            words: ["fetch", "data:,x", "-o", "FILE"], status: 2, answer: "choose another with -o", file: "x"),
        Case(words: ["fetch"], status: 2, answer: "fetch needs FILM|URL|FILE...; see marquee fetch --help"),
        Case(
            words: ["fetch", "CLOSED/x"], status: 2, answer: "apt-get install libcurl4",
            environment: ["MARQUEE_LIBCURL": "/nowhere"]),
        Case(words: ["prewarm", "-"], status: 2, answer: "standard input: it is empty"),
        Case(words: ["prewarm", "--no-disk-cache"], status: 2, answer: "leave out --no-disk-cache"),
        Case(words: ["prewarm", "/nowhere"], status: 2, answer: "there is no such file"),
        Case(
            words: ["cache", "info", "--cache-dir", "FILE"], status: 1, answer: "choose another folder",
            file: "x"),
        Case(words: ["list", "--header", "none"], status: 2, answer: "--header needs 'Name: value'"),
        Case(words: ["list", "--timeout", "soon"], status: 2, answer: "--timeout needs seconds"),
        Case(words: ["list", "--max-bytes", "1Q"], status: 2, answer: "a number of bytes such as"),
        Case(words: ["list", "--insecure-http", "http://h"], status: 2, answer: "needs a host name"),
    ]

    @Test("case", arguments: cases)
    func each(bad: Case) async throws {
        let folder = try TemporaryFolder()
        try Data(bad.file.utf8).write(to: URL(filePath: folder.file("file")))
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let words = bad.words.map { word in
            word == "FILE"
                ? folder.file("file") : word.replacing("CLOSED", with: "http://127.0.0.1:\(closed.port)")
        }
        let environment = ["XDG_CACHE_HOME": folder.path].merging(bad.environment) { _, given in given }
        let outcome = try await Program.run(words, input: bad.input, environment: environment)
        #expect(outcome.status == bad.status)
        #expect(outcome.errorLines.count == 1, "\(outcome.errorText)")
        #expect(
            outcome.errorText.hasPrefix("marquee: ") && outcome.errorText.contains(bad.answer),
            "\(outcome.errorText)")
        if bad.words[0] != "cache" { #expect(outcome.output.isEmpty) }
    }

    @Test("an unusable cache folder disables only the cache, with one warning")
    func unusableCache() async throws {
        let fixture = try Fixture()
        let fetched = try await fixture.run("prewarm", "--cache-dir", fixture.folder.file("movies.json"))
        #expect(fetched.status == 1)
        #expect(fetched.errorText.contains("marquee: 6 fetched"))
        #expect(fetched.errorLines.count == 2)
        #expect(fetched.errorText.contains("choose another folder with --cache-dir"))
    }

    @Test("an error never shows a password from an address")
    func password() async throws {
        let fixture = try Fixture()
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let nowhere = "http://u:geheim@127.0.0.1:\(closed.port)/x"
        let picture = "http://u:geheim@127.0.0.1:\(fixture.service.port)/posters/1.png"
        for words in [
            ["list", "--catalogue", nowhere],
            ["fetch", nowhere, "--json"],
            ["prewarm", nowhere],
            ["list", "--catalogue", picture, "--no-disk-cache"],
            ["prewarm", picture, "--cache-dir", fixture.home.file("cache")],
        ] {
            let outcome = try await Program.run(words)
            #expect(outcome.status != 0)
            #expect(!(outcome.text + outcome.errorText).contains("geheim"), "\(outcome.errorText)")
        }
    }

    @Test("help and version go to standard output with status 0")
    func help() async throws {
        for words in [["--help"], ["-h"], ["fetch", "--help"], ["--version"], ["list", "-V"]] {
            let outcome = try await Program.run(words)
            #expect(outcome.status == 0)
            #expect(!outcome.output.isEmpty && outcome.errors.isEmpty)
        }
        #expect(try await Program.run(["serve", "--help"]).text.contains("--bandwidth BYTES"))
    }

    @Test(
        "a pipe in place of a file is named as such",
        arguments: [
            (
                "list --credentials-file p",
                "--credentials-file: cannot read p: it is not a file; name one that only you can read"
            ),
            ("add --title T --catalogue f.db --poster p", "p: it is not a file; name a picture"),
            ("add --title T --catalogue f.db --poster .", ".: it is a folder; name a picture"),
            ("import x.json p", "p: it is not a file; name another library"),
            (
                "list --credentials-file .",
                "--credentials-file: cannot read .: it is a folder; name one that only you can read"
            ),
            (
                "list --insecure-http x --shared http://x/ --shared-key-file p",
                "--shared-key-file p: it is not a file; name one that only you can read"
            ),
            ("list --catalogue p.db", "p.db: it is not a file; name another library"),
        ])
    func pipes(line: String, answer: String) async throws {
        let folder = try TemporaryFolder()
        let run = try await Program.shell(
            "cd '\(folder.path)' && mkfifo p p.db && echo '[{\"id\":\"a\",\"title\":\"A\"}]' > x.json && "
                + "$MARQUEE import x.json f.db -q && $MARQUEE \(line)",
            environment: ["HOME": folder.path, "XDG_CACHE_HOME": folder.path])
        #expect(run.status == 2)
        #expect(run.errorText == "marquee: \(answer)\n")
    }

    @Test("the help of --timeout names each phase's own limit")
    func timeoutHelp() async throws {
        let help = try await Program.run(["help", "options"]).text
        let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            words.contains("(default: 10 to connect, 30 for an answer's first byte, else 15)"), "\(words)")
    }
}
