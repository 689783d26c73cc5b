import FoundationEssentials
import TestSupport
import TestTraits
import Testing

/// What a scripted Jellyfin and a scripted TMDB do, and what the program makes of it. Each server wants a credential, which
/// must be nowhere but in requests to it.
@Suite("What servers of films do", .bounded)
struct SourceBehaviourTests {
    enum Kind: CaseIterable { case jellyfin, tmdb }

    struct Behaviour: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var kinds = Kind.allCases
        /// The films of the server.
        var films = 3
        /// Follows the server's name.
        var parameters = ""
        /// Sets up the server. Redirects lead to the other one.
        var prepare: @Sendable (SourceServer, _ other: SourceServer) -> Void = { _, _ in }
        var status = 0
        /// The films that are listed.
        var listed = 3
        /// A part of the messages. SERVER and OTHER stand for the places of both servers, NAME and NEW for their names, and
        /// BASE for the address in NEW.
        var message = ""
        /// What is in no message.
        var noMessage = "?userId"
    }

    private static let behaviours = [
        Behaviour(testDescription: "all is well"),
        Behaviour(
            testDescription: "a proxy caps the pages", kinds: [.jellyfin], films: 120,
            prepare: { server, _ in server.configure { $0.pageSize = 50 } }, listed: 120),
        Behaviour(
            testDescription: "a proxy caps the pages and has counted nothing", kinds: [.jellyfin], films: 120,
            prepare: { server, _ in server.configure { ($0.pageSize, $0.total) = (50, 0) } }, listed: 120),
        Behaviour(
            testDescription: "it says a total of 0", kinds: [.jellyfin],
            prepare: { server, _ in server.configure { $0.total = 0 } }),
        Behaviour(
            testDescription: "it redirects to another origin that is open",
            prepare: { server, other in server.fail(.redirect(other.place)) }, status: 2, listed: 0,
            message: "NAME: the server redirects to BASE; use NEW\n"),
        Behaviour(
            testDescription: "it redirects to another origin that wants a credential",
            prepare: { server, other in
                other.fail(.answer(FilmServer.response("401 Unauthorized")))
                server.fail(.redirect(other.place))
            }, status: 2, listed: 0, message: "NAME: the server redirects to BASE; use NEW\n"),
        Behaviour(
            testDescription: "it redirects to a page for signing in",
            prepare: { server, other in
                server.fail(.signIn(other.place))
            }, status: 2, listed: 0,
            message: "NAME: the server redirects to http://OTHER/login; check the address\n"),
        Behaviour(
            testDescription: "it answers 401",
            prepare: { server, _ in server.fail(.answer(FilmServer.response("401 Unauthorized"))) },
            status: 2,
            listed: 0,
            message:
                "NAME: SERVER refuses the credential; make another token, and set MARQUEE_CREDENTIALS to "),
        Behaviour(
            testDescription: "it answers 404",
            prepare: { server, _ in server.fail(.answer(FilmServer.response("404 Not Found"))) }, status: 2,
            listed: 0, message: ": the server has no such list; check the address\n"),
        Behaviour(
            testDescription: "it answers 503 with Retry-After once",
            prepare: { server, _ in
                server.fail(
                    .first(FilmServer.response("503 Service Unavailable", fields: "Retry-After: 001\r\n")))
            }),
        Behaviour(
            testDescription: "it sends half a page",
            prepare: { server, _ in server.fail(.halfPage) }, status: 2, listed: 0, message: "not JSON"),
        Behaviour(
            testDescription: "one of its libraries is named", kinds: [.jellyfin], parameters: "?library=kids",
            listed: 1),
        Behaviour(
            testDescription: "an unknown library is named", kinds: [.jellyfin], parameters: "?library=Music",
            status: 2, listed: 0, message: "NAME: there is no library \"Music\"; there are Films, Kids\n"),
        Behaviour(
            testDescription: "the token is an API key", kinds: [.jellyfin], films: 250,
            prepare: { server, _ in server.configure { $0.hasUser = false } }, listed: 250,
            message: "NAME: the token names no user, so there are no marks; add ?userId=ID\n",
            noMessage: "\n\n"),
        Behaviour(
            testDescription: "the token is an API key, and the user is named", kinds: [.jellyfin],
            parameters: "?userId=8f2c", prepare: { server, _ in server.configure { $0.hasUser = false } }),
        Behaviour(
            testDescription: "the token is an API key, and a library is named", kinds: [.jellyfin],
            parameters: "?library=Kids", prepare: { server, _ in server.configure { $0.hasUser = false } },
            listed: 1, message: "the token names no user", noMessage: "no library"),
    ]

    private static let cases = behaviours.flatMap { behaviour in behaviour.kinds.map { (behaviour, $0) } }
    private static let tokens = ["c4n4ry-t0ken", "0123456789abcdef0123456789abcdef"]

    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    @Test("the films are listed, or one line says what to do", arguments: cases)
    func listing(_ behaviour: Behaviour, _ kind: Kind) async throws {
        // Only TMDB tells tokens from keys.
        for token in kind == .tmdb ? Self.tokens : [Self.tokens[0]] {
            let other = try SourceServer(films: 2)
            let server = try SourceServer(films: behaviour.films, token: token)
            behaviour.prepare(server, other)
            func name(_ server: SourceServer) -> String {
                kind == .tmdb ? server.tmdb("popular") : server.jellyfin
            }
            let words = ["list", "--plain", "--catalogue", name(server) + behaviour.parameters]
            let cache = try home.makeFolder(token == Self.tokens[0] ? "first" : "second")
            let environment = [
                "XDG_CACHE_HOME": cache, "XDG_DATA_HOME": cache,
                "MARQUEE_CREDENTIALS": "\(server.place) Bearer \(token)",
            ]
            let outcome = try await Program.run(words, environment: environment)
            #expect(outcome.status == behaviour.status && outcome.lines.count == behaviour.listed)
            let message = behaviour.message.replacing("SERVER", with: server.place)
                .replacing("NAME", with: name(server)).replacing("NEW", with: name(other))
                .replacing("BASE", with: "http://OTHER" + (kind == .tmdb ? "/3" : ""))
                .replacing("OTHER", with: other.place)
            #expect(message.isEmpty || outcome.errorText.contains(message), "\(outcome.errorText)")
            #expect(outcome.errorLines.count == (message.isEmpty ? 0 : 1), "\(outcome.errorText)")
            #expect(!outcome.errorText.contains(behaviour.noMessage))
            for more in [
                ["list", "--verbose", "--json"], ["doctor", "--verbose"], ["prewarm", "--verbose"],
            ] {
                let outcome = try await Program.run(more + words.suffix(2), environment: environment)
                #expect(!(outcome.text + outcome.errorText).contains(token), "\(outcome.errorText)")
            }
            #expect(server.origin.heads.contains { $0.contains(token) })
            #expect(other.origin.heads.allSatisfy { !$0.contains(token) })
            try expectNoFile(with: token)
        }
    }

    /// Looks into all files of the test, and at their names.
    private func expectNoFile(with token: String) throws {
        for file in try #require(FileManager.default.subpaths(atPath: home.path)) {
            let bytes = FileManager.default.contents(atPath: home.file(file)) ?? Data()
            #expect(bytes.firstRange(of: Data(token.utf8)) == nil && !file.contains(token), "\(file)")
        }
    }

    @Test(
        "a list of TMDB is browsed and searched, and its pictures on another host get no credential",
        arguments: tokens)
    func browsing(token: String) throws {
        let pictures = try SourceServer()
        let server = try SourceServer(films: 45, token: token)
        server.configure { $0.pictures = pictures.place }
        let cache = try home.makeFolder("cache")
        let terminal = try PseudoTerminal(
            BuiltProgram.path("marquee"), ["--graphics", "kitty", "--catalogue", server.tmdb("popular")],
            environment: [
                "COLORTERM": "truecolor", "XDG_CACHE_HOME": cache, "XDG_DATA_HOME": cache,
                "MARQUEE_CREDENTIALS": "\(server.place) Bearer \(token)",
            ], columns: 100, rows: 40)
        #expect(terminal.waits { $0.text(ofRow: 0).contains("1/40+") }, "\(terminal.screen.rows)")
        terminal.type("/film 7\r")
        #expect(
            terminal.waits { $0.text(ofRow: 0).contains("film 7 ") && $0.text(ofRow: 0).contains("1/40+") })
        try terminal.type("\r") { $0.row(containing: "Anna Director") != nil }
        #expect(!terminal.screen.rows.contains { $0.contains(token) })
        terminal.quit("\u{3}")
        #expect(server.targets.contains { $0.hasPrefix("/3/search/movie?query=film%207") })
        #expect(pictures.targets.contains { $0.hasPrefix("/t/p/w") })
        #expect(pictures.origin.heads.allSatisfy { !$0.contains(token) })
        try expectNoFile(with: token)
    }

    @Test("a film of TMDB is shown with its own facts, and its picture at a size", arguments: tokens)
    func showing(token: String) async throws {
        let pictures = try SourceServer()
        let server = try SourceServer(films: 3, token: token)
        server.configure { $0.pictures = pictures.place }
        let cache = try home.makeFolder("cache")
        let outcome = try await Program.run(
            [
                "show", "Film 1", "--verbose", "--color", "always", "--size", "20x10", "--catalogue",
                server.tmdb("popular"),
            ],
            environment: ["XDG_CACHE_HOME": cache, "MARQUEE_CREDENTIALS": "\(server.place) Bearer \(token)"])
        #expect(outcome.status == 0 && outcome.text.contains("Anna Director"), "\(outcome.errorText)")
        #expect(pictures.targets == ["/t/p/w185/p1.jpg"])
        #expect(!(outcome.text + outcome.errorText).contains(token), "\(outcome.errorText)")
        #expect(pictures.origin.heads.allSatisfy { !$0.contains(token) })
        try expectNoFile(with: token)
    }
}
