import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite("Bad input is one clear line on standard error", .bounded)
struct BadInputTests {
    /// A command line, its exit status, and a part of its error.
    struct Case: Sendable, CustomTestStringConvertible {
        let line, answer: String
        let status: Int32
        let file, input: String
        let environment: [String: String]

        init(
            _ line: String, _ answer: String, status: Int32 = 2, file: String = "", input: String = "",
            environment: [String: String] = [:]
        ) {
            (self.line, self.answer, self.status) = (line, answer, status)
            (self.file, self.input, self.environment) = (file, input, environment)
        }

        var testDescription: String { line + " " + file.prefix(30) }
    }

    /// FILE stands for a file with the case's contents, CLOSED for an address where nobody answers, TAKEN for a port that
    /// is in use, and ~ for a space within a word.
    static let cases: [Case] = [
        Case("lst", "did you mean \"list\"?"),
        Case("list --ofline", "did you mean --offline?"),
        Case("list --sort size", "one of score, year, title"),
        Case("list --top 0", "whole number from 1 on"),
        Case("list --plain --json", "exclude each other"),
        Case(
            "list extra",
            "list does not take \"extra\"; to find it, write marquee list --search extra; to see a film, marquee show extra"
        ),
        Case("list --catalogue FILE", "it is empty"),
        Case(
            "list --catalogue FILE", "line 2: a DOCTYPE is not accepted",
            file: "<?xml version=\"1.0\"?>\n<!DOCTYPE c [<!ENTITY e \"x\">]>\n<catalogue/>"),
        Case(
            "list --catalogue FILE", "line 3, column 8: not well-formed XML",
            file: "<catalogue>\n<movie>\n</film></catalogue>"),
        Case("list --catalogue FILE", "line 2, column 6: not JSON", file: "[{\"id\":\n\"cut\""),
        Case("list --catalogue FILE", "has no title", file: #"[{"id":"a","year":1920,"director":"D"}]"#),
        Case("list --catalogue FILE", "neither JSON nor XML", file: "films, lots of them"),
        Case("list --catalogue /nowhere", "there is no such file; check the path"),
        Case("list --catalogue /", "there are no films and no pictures"),
        Case("list --catalogue ftp://h/x", "the scheme ftp is not read"),
        Case("list --catalogue http://example.org/x", "or allow it with --insecure-http example.org"),
        Case("fetch CLOSED/x", "no connection: Connection refused"),
        Case("fetch http:///x", "it names no host"),
        Case("fetch data:,text", "not an image: it is text"),
        Case("fetch file:///nowhere", "/nowhere: cannot be read: No such file"),
        Case("fetch -", "standard input names no address"),
        Case("fetch -", "no film is called \"garbage\"", input: "garbage"),
        Case("fetch data:,x -o /proc/none", "choose another with -o"),
        Case("fetch data:,x -o FILE", "choose another with -o", file: "x"),
        Case("fetch", "fetch needs FILM|URL|FILE...; see marquee fetch --help"),
        Case("fetch CLOSED/x", "apt-get install libcurl4", environment: ["MARQUEE_LIBCURL": "/nowhere"]),
        Case("prewarm -", "standard input: it is empty"),
        Case("prewarm --no-disk-cache", "leave out --no-disk-cache"),
        Case("prewarm /nowhere", "there is no such file"),
        Case("cache info --cache-dir FILE", "choose another folder", status: 1, file: "x"),
        Case("list --header none", "--header needs 'Name: value'"),
        Case("list --timeout soon", "--timeout needs seconds"),
        Case("list --max-bytes 1Q", "a number of bytes such as"),
        Case("list --insecure-http http://h", "needs a host name"),
        Case(
            "list films.json",
            "list does not take \"films.json\"; for the file, write marquee list --catalogue "
                + "films.json, or marquee films.json"),
        Case("list --year 1929..1920", "--year needs 1927, 1920..1929, 1920.. or ..1929, not \"1929..1920\""),
        Case("list --year 192x", "--year needs 1927"),
        Case("list --year=", "--year needs 1927"),
        Case("list --search year:~1929..1920", "--search: year: needs 1927"),
        Case("list --limit 0", "--limit needs a whole number from 1 on"),
        Case("nowhere.json", "nowhere.json: there is no such file"),
        Case("NOWHERE.XML", "NOWHERE.XML: there is no such file"),
        Case("./nowhere", "there is no such file"),
        Case("http://example.org/films", "or allow it with --insecure-http example.org"),
        Case("films.json --catalogue b.xml", "are two catalogues; name one"),
        Case("show film-3 --graphics regis", "auto, kitty, iterm2, sixel, blocks, sextants, ascii, none"),
        Case("fetch --include film-1", "--include needs one address"),
        Case("fetch --include CLOSED/a CLOSED/b", "--include needs one address"),
        Case("fetch --include CLOSED/a --json", "--include needs one address"),
        Case("picture w30", "picture needs URL|FILE... RECIPE"),
        Case("picture 342", "picture needs URL|FILE... RECIPE"),
        Case("picture FILE w0 -o x", "\"w0\" is not a recipe"),
        Case("picture FILE w30", "picture needs -o OUT"),
        Case("prewarm --sizes w92", "--sizes works only with prewarm --through"),
        Case("prewarm --sign-key-file keys", "--sign-key-file works only with prewarm --through"),
        Case("prewarm --through http://127.0.0.1:1/", "needs the sizes"),
        Case("prewarm --through pictures --sizes w92", "--through needs an address"),
        Case("prewarm --through http://127.0.0.1:1/ --sizes large", "--sizes: "),
        Case("prewarm --through http://127.0.0.1:1/ --sizes w92 --detach", "--detach does not go"),
        Case("cache", "cache needs info|verify|trim|clear|path"),
        Case("cache bogus", "unknown action \"bogus\""),
        Case("cache trim", "trim needs --to BYTES"),
        Case("cache trim --to x", "--to needs a number of bytes"),
        Case("cache info --to 1K", "--to works only with cache trim"),
        Case("cache verify --host h", "--host works only with cache clear"),
        Case("cache info verify", "cache does not take \"verify\""),
        Case("cache info --no-disk-cache", "leave out --no-disk-cache"),
        Case("serve --port TAKEN", " of 127.0.0.1 is in use; choose another"),
        Case("serve FILE", "is not a catalogue; name JSON, XML, a library or a folder", file: "not films"),
        Case("serve /nowhere", "there is no /nowhere; name a folder"),
        Case("serve /nowhere.db", "/nowhere.db: there is no such file; create a library with marquee import"),
        Case("serve --writable", "only a library is writable"),
        Case("serve --writable --trust-local --address 0.0.0.0", "--trust-local works only at a loopback"),
        Case("serve --trust-local --token-file tokens", "exclude each other"),
        Case("serve --public-url films", "--public-url needs an address"),
        Case("serve --port 70000", "--port needs a whole number from 0 to 65535"),
        Case("serve --fail 1.5", "--fail needs a rate from 0 to 1"),
        Case("serve --latency -1", "--latency needs a whole number"),
        Case("serve --bandwidth fast", "--bandwidth needs a number of bytes"),
        Case("serve --address localhost", "localhost is not an IP address; use 127.0.0.1"),
        Case("serve --source *", "or *.example.org for all its subdomains, not \"*\""),
        Case("serve --source *.org", "not \"*.org\""),
        Case("serve --source a.*.example.org", "--source needs a host"),
        Case(
            "serve --sizes-file FILE", "/file: line 3: not a recipe; write one recipe on each line",
            file: "w92\n# more\nbig\n"),
        Case("serve --sizes-file FILE", "/file: no size; write a recipe on a line", file: "# nothing\n"),
        Case("serve --sizes-file /nowhere", "/nowhere: there is no such file"),
        Case("serve --sizes w92 --sizes-file FILE", "--sizes and --sizes-file exclude each other"),
        Case("serve --queue-time -1", "--queue-time needs a whole number from 0 to 600"),
        Case("serve --admin 9090", "--admin needs an address and a port such as 127.0.0.1:9090"),
        Case("serve --admin localhost:1", "--admin needs an address and a port"),
        Case("serve --log xml", "--log needs json, text or off"),
        Case("serve --drain soon", "--drain needs a whole number"),
        Case(
            "serve --address unix:/nowhere/a --socket-mode 0888",
            "--socket-mode needs permissions in octal from 0 to 0777, such as 0660, not \"0888\""),
        Case("serve --admin unix:/nowhere/a --socket-mode 1777", "from 0 to 0777"),
        Case("serve --admin unix:/nowhere/a --socket-mode -1", "from 0 to 0777"),
        Case("serve --admin unix:/nowhere/a --socket-mode=", "from 0 to 0777"),
        Case("serve --socket-mode 0660", "--socket-mode needs --address unix:PATH or --admin unix:PATH"),
        Case(
            "serve --admin 127.0.0.1:0 --admin-host a~b",
            "--admin-host needs a host name such as films.example.org"),
        Case("serve --admin 127.0.0.1:0 --admin-host a:9090", "--admin-host needs a host name"),
        Case("serve --admin-host a", "--admin-host needs --admin ADDRESS"),
        Case(
            "serve", "MARQUEE_SOCKET_MODE needs permissions in octal",
            environment: ["MARQUEE_SOCKET_MODE": "rw"]),
        Case("serve", "MARQUEE_DRAIN needs a whole number", environment: ["MARQUEE_DRAIN": "soon"]),
        Case(
            "serve", "MARQUEE_PORT needs a whole number from 0 to 65535",
            environment: ["MARQUEE_PORT": "70000"]),
        Case("serve", "MARQUEE_QUIET needs 1, true, yes or on", environment: ["MARQUEE_QUIET": "x"]),
    ]

    @Test("case", arguments: cases)
    func each(bad: Case) async throws {
        let folder = try TemporaryFolder()
        try folder.write(bad.file, to: "file")
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let places = [
            "FILE": folder.file("file"), "CLOSED": "http://127.0.0.1:\(closed.port)",
            "TAKEN": "\(closed.port)", "~": " ",
        ]
        let words = bad.line.split(separator: " ").map { word in
            places.reduce(String(word)) { $0.replacing($1.key, with: $1.value) }
        }
        let environment = ["XDG_CACHE_HOME": folder.path].merging(bad.environment) { _, given in given }
        let outcome = try await Program.run(words, input: bad.input, environment: environment)
        #expect(outcome.status == bad.status)
        #expect(outcome.errorLines.count == 1, "\(outcome.errorText)")
        #expect(
            outcome.errorText.hasPrefix("marquee: ") && outcome.errorText.contains(bad.answer),
            "\(outcome.errorText)")
        if bad.status == 2 { #expect(outcome.output.isEmpty) }
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
            "mkfifo p p.db && echo '[{\"id\":\"a\",\"title\":\"A\"}]' > x.json && "
                + "marquee import x.json f.db -q && marquee \(line)", in: folder)
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
