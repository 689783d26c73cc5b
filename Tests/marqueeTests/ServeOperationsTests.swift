import FilmSources
import Foundation
import Glibc
import HTTPSemantics
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("marquee serve for operators", .bounded, .ownThread)
struct ServeOperationsTests {
    /// - Parameter library: the path of the library to serve. Default: nil, the fixture's folder.
    private func serve(
        _ fixture: Fixture, _ words: String..., library: String? = nil, environment: [String: String] = [:]
    ) async throws -> Service {
        try await Service(
            library ?? fixture.folder.path, words, environment: environment, keeping: fixture)
    }

    @Test("after SIGTERM the service is not ready, serves during the drain, and ends with 0")
    func drain() async throws {
        let service = try await serve(try Fixture(), "--drain", "3600", "--quiet")
        #expect(try service.ready() == 200)
        let old = try RawClient(port: service.port)
        #expect(try old.get("/").fields["connection"] == nil)
        service.program.send(SIGTERM)
        try await eventually { try service.ready() == 503 }
        #expect(try RawClient(port: service.admin).get("/health/live").status == 200)
        for client in [old, try RawClient(port: service.port)] {
            try await eventually {
                let answer = try client.get("/")
                #expect(answer.status == 200)
                return answer.fields["connection"] == "close"
            }
            #expect(client.isEnded())
        }
        // A second signal ends it at once. If it came too soon, it would count as the same one.
        #expect(await service.program.end(SIGINT).status == -SIGINT)
    }

    @Test("a served library has counts of its writes, and a library that is gone is in its health")
    func library() async throws {
        let fixture = try Fixture()
        let path = fixture.home.file("films.db")
        _ = try FilmLibrary(path: path, access: .creating)
        let service = try await serve(fixture, "--quiet", library: path)
        func admin(_ target: String) throws -> String { try RawClient(port: service.admin).get(target).text }
        let metrics = try admin("/metrics")
        #expect(metrics.contains("\nmarquee_library_writes_total 0\n"))
        for reason in ["busy", "full", "replaced", "read-only", "other"] {
            #expect(metrics.contains("\nmarquee_library_failed_writes_total{reason=\"\(reason)\"} 0\n"))
        }
        #expect(try admin("/health/ready") == "200 OK\n")
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        try await eventually { try admin("/health/ready").contains("films.db: the file is gone") }
        #expect(try RawClient(port: service.port).get("/films").status == 200)
        #expect(await service.program.end(SIGTERM).errorText.contains("films.db: the file is gone"))
    }

    @Test("after SIGTERM under writers a library is one file, with every write that was acknowledged")
    func oneFile() async throws {
        for round in 0..<Rounds.count(2, many: 10) {
            let fixture = try Fixture()
            let path = fixture.home.file("films.db")
            _ = try FilmLibrary(path: path, access: .creating)
            let service = try await serve(
                fixture, "--quiet", "--writable", "--trust-local", "--drain", "0", library: path)
            let (acknowledged, ended) = (Shared<[String]>([]), Tally())
            let isFirst = Tally()
            for writer in 0..<4 {
                try BlockingThreads.startThread {
                    defer { ended.add() }
                    guard let client = try? RawClient(port: service.port) else { return }
                    for number in 0... {
                        let (id, body) = ("w\(writer)-\(number)", #"{"title":"A"}"#.utf8)
                        // Ignored: a service that has ended gives no answer.
                        guard let answer = try? client.send("PUT", "/films/\(id)", [Self.json], body: body)
                        else { return }
                        if answer.status == 201 { acknowledged.change { $0.append(id) } }
                        isFirst.add()
                        if answer.fields["connection"] == "close" { return }
                    }
                }
            }
            try await isFirst.wait(for: 20 + round)
            #expect(await service.program.end(SIGTERM).status == 0)
            try await ended.wait(for: 4)
            let files = try FileManager.default.contentsOfDirectory(atPath: fixture.home.path)
            #expect(files.filter { $0.hasPrefix("films.db") } == ["films.db"])
            let copy = fixture.home.file("copy.db")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            var found: Set<String> = []
            try FilmLibrary(path: copy, access: .reading).forEach { film throws(FilmLibraryError) in
                found.insert(film.id)
                return true
            }
            #expect(found.isSuperset(of: acknowledged.value) && acknowledged.value.count >= 20)
        }
    }

    @Test("no request fails between the signal and the clients' move to another instance")
    func load() async throws {
        // Longer than any client needs to notice.
        let service = try await serve(try Fixture(), "--drain", "3600", "--quiet")
        let failures = Shared<[String]>([])
        let answered = Tally()
        let ended = Tally()
        let isReady = Shared(true)
        for _ in 0..<8 {
            try BlockingThreads.startThread {
                do {
                    while isReady.value {
                        let client = try RawClient(port: service.port)
                        while true {
                            let answer = try client.get("/posters/1.png")
                            if answer.status != 200 { failures.change { $0.append("\(answer.status)") } }
                            answered.add()
                            if answer.fields["connection"] == "close" { break }
                        }
                    }
                } catch {
                    failures.change { $0.append("\(error)") }
                }
                ended.add()
            }
        }
        try await answered.wait(for: 500)
        service.program.send(SIGTERM)
        // A load balancer's part: it polls until the service is not ready.
        try await eventually { try service.ready() == 503 }
        isReady.change { $0 = false }
        try await ended.wait(for: 8)
        #expect(failures.value.isEmpty)
        await service.program.end(SIGINT)
    }

    @Test("Ctrl-C ends the service at once, whatever the drain")
    func interrupt() async throws {
        let service = try await serve(try Fixture(), "--drain", "3600", "--quiet")
        #expect(await service.program.end(SIGINT).status == -SIGINT)
    }

    @Test("the metrics count its requests, and not those for metrics")
    func metrics() async throws {
        let service = try await serve(try Fixture(), "--quiet", "--log", "json")
        let client = try RawClient(port: service.port)
        #expect(try client.get("/posters/1.png").status == 200)
        let missing = try client.get("/films/none", "X-Request-Id: from-a-proxy")
        #expect(missing.status == 404 && missing.fields["x-request-id"] == "from-a-proxy")
        // The client gets the last byte before the service has counted it.
        try await eventually {
            try RawClient(port: service.admin).get("/metrics").text
                .contains("\nmarquee_http_request_seconds_count{route=\"film\"} 1\n")
        }
        for _ in 0..<2 {
            let text = try RawClient(port: service.admin).get("/metrics").text
            #expect(text.contains("\nmarquee_http_requests_total{status=\"200\",route=\"file\"} 1\n"))
            #expect(text.contains("\nmarquee_http_requests_total{status=\"404\",route=\"film\"} 1\n"))
            #expect(text.contains("\nmarquee_http_request_seconds_count{route=\"film\"} 1\n"))
            #expect(text.contains("\nmarquee_log_dropped_lines_total 0\n"))
            #expect(text.contains("\nmarquee_build_info{version="))
        }
        let outcome = await service.program.end(SIGINT)
        // The address is the first line, and each request is one more.
        #expect(outcome.lines.count == 3)
        let lines = try outcome.lines.map(JSON.object)
        #expect(lines[1]["path"] as? String == "/posters/1.png" && lines[1]["status"] as? Int == 200)
        #expect(lines[2]["path"] as? String == "/films/none" && lines[2]["client"] as? String == "127.0.0.1")
        #expect((lines[1]["id"] as? String)?.count == 15 && lines[2]["id"] as? String == "from-a-proxy")
    }

    @Test("systemd is notified of readiness and of the stop")
    func serviceManager() async throws {
        let fixture = try Fixture()
        let path = fixture.home.file("notify")
        let socket = try NotifySocket(path)
        let service = try await serve(
            fixture, "--quiet", "--drain", "0", environment: ["NOTIFY_SOCKET": path])
        #expect(socket.message() == "READY=1")
        service.program.send(SIGTERM)
        #expect(socket.message() == "STOPPING=1")
        _ = await service.program.outcome()
    }

    @Test(
        "without a terminal SIGHUP reads files anew, and neither the service nor a connection ends",
        .enabled(if: Shell.has("setsid"), "setsid is not installed (Debian package util-linux)"))
    func hangUp() async throws {
        let fixture = try Fixture()
        let path = fixture.home.file("notify")
        let socket = try NotifySocket(path)
        let program = try Program(
            ["setsid", BuiltProgram.path("marquee"), "serve", fixture.folder.path], of: "/usr/bin/env",
            environment: ["NOTIFY_SOCKET": path])
        let port = try await program.nextPort()
        #expect(socket.message() == "READY=1")
        let client = try RawClient(port: port)
        #expect(try client.get("/posters/1.png").status == 200)
        for _ in 0..<2 {
            program.send(SIGHUP)
            #expect(socket.message().hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
            #expect(socket.message() == "READY=1")
            #expect(try client.get("/posters/1.png").status == 200)
        }
        program.send(SIGTERM)
        #expect(socket.message() == "STOPPING=1")
        let outcome = await program.outcome()
        #expect(outcome.status == 0)
        #expect(outcome.errorLines.prefix(2).allSatisfy { $0 == "marquee: there is no file to read anew" })
        #expect(outcome.errorLines.count == 3)
    }

    @Test("SIGHUP takes new tokens, keys and sizes at once, and a wrong file leaves the old ones")
    func newFiles() async throws {
        let fixture = try Fixture()
        let (library, tokens, sizes) = (
            fixture.home.file("films.db"), fixture.home.file("tokens"), fixture.home.file("sizes")
        )
        #expect(try await fixture.run("import", fixture.folder.file("movies.json"), library).status == 0)
        let (first, second) = (String(repeating: "a", count: 24), String(repeating: "b", count: 24))
        try fixture.home.write(first, to: "tokens")
        try fixture.home.write("w92\n", to: "sizes")
        let socket = try NotifySocket(fixture.home.file("notify"))
        let program = try Program(
            [
                "setsid", BuiltProgram.path("marquee"), "serve", library, "--writable", "--token-file",
                tokens,
                "--sizes-file", sizes,
            ], of: "/usr/bin/env", environment: ["NOTIFY_SOCKET": fixture.home.file("notify")])
        let port = try await program.nextPort()
        #expect(socket.message() == "READY=1")
        let client = try RawClient(port: port)
        func rate(_ token: String) throws -> Int { try Self.rate(token, client) }
        func size(_ recipe: String) throws -> Int { try client.get("/films/film-1/poster/\(recipe)").status }
        #expect(try rate(first) == 201 && rate(second) == 401)
        #expect(try size("w92") == 200 && size("w92") == 200 && size("w154") == 403)
        try fixture.home.write("\(second)\n", to: "tokens")
        try fixture.home.write("w154\n", to: "sizes")
        program.send(SIGHUP)
        _ = (socket.message(), socket.message())
        #expect(try rate(first) == 401 && rate(second) == 200)
        // The picture in memory is refused too.
        #expect(try size("w92") == 403 && size("w154") == 200)
        try fixture.home.write("short\n", to: "tokens")
        try fixture.home.write("huge\n", to: "sizes")
        program.send(SIGHUP)
        _ = (socket.message(), socket.message())
        #expect(try rate(second) == 200 && size("w154") == 200)
        let outcome = await program.end(SIGTERM)
        for line in [
            "marquee: read tokens anew: 1 added, 1 removed", "marquee: read keys and sizes anew: new sizes",
            "line 1: a token has at least 22 characters", "the old ones stay",
        ] {
            #expect(outcome.errorText.contains(line), "\(outcome.errorText)")
        }
    }

    private static let json = "Content-Type: application/json"

    /// The status of a vote with this token.
    private static func rate(_ token: String, _ client: RawClient) throws -> Int {
        let fields = ["Authorization: Bearer \(token)", json]
        return try client.send("PUT", "/films/film-1/ratings/me", fields, body: #"{"value":8}"#.utf8).status
    }

    /// A writable service without a terminal, whose standard error is a file.
    private struct Reloading {
        let program: Program
        let client: RawClient
        private let errorFile: String

        /// - Parameter words: further options.
        init(_ fixture: Fixture, _ words: [String]) async throws {
            let library = fixture.home.file("films.db")
            #expect(try await fixture.run("import", fixture.folder.file("movies.json"), library).status == 0)
            errorFile = fixture.home.file("errors")
            program = try Program(
                ["-c", #"exec setsid "$0" "$@" 2>"$ERRORS""#, BuiltProgram.path("marquee"), "serve", library]
                    + ["--writable", "--no-disk-cache"] + words, of: "/bin/bash",
                environment: ["ERRORS": errorFile])
            client = try RawClient(port: try await program.nextPort())
        }

        var errors: String {
            // Ignored: nothing has been written yet.
            (try? String(contentsOfFile: errorFile, encoding: .utf8)) ?? ""
        }

        func rate(_ token: String) throws -> Int { try ServeOperationsTests.rate(token, client) }
    }

    private static let tokens = ["a", "b"].map { String(repeating: $0, count: 24) }

    /// Writes a file that only its user can read, in place of what is there.
    private func write(_ text: String, to path: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test(
        "a pipe in place of a file keeps no reload waiting: the old content stays, and the next file counts")
    func pipesAtReload() async throws {
        let fixture = try Fixture()
        let names = ["tokens", "keys", "sizes"].map { fixture.home.file($0) }
        let (tokens, keys, sizes) = (names[0], names[1], names[2])
        try write(Self.tokens[0], to: tokens)
        try write(String(repeating: "0b", count: 32), to: keys)
        try write("w92\n", to: sizes)
        let service = try await Reloading(
            fixture, ["--token-file", tokens, "--sign-key-file", keys, "--sizes-file", sizes])
        #expect(try service.rate(Self.tokens[0]) == 201)
        for name in [tokens, sizes] {
            try FileManager.default.removeItem(atPath: name)
            #expect(unsafe mkfifo(name, 0o600) == 0)
        }
        service.program.send(SIGHUP)
        try await eventually { service.errors.contains("\(sizes): it is not a file") }
        #expect(service.errors.contains("tokens were not read anew: \(tokens): it is not a file"))
        #expect(try service.rate(Self.tokens[0]) == 200)
        try write(Self.tokens[1], to: tokens)
        try write("w154\n", to: sizes)
        try FileManager.default.removeItem(atPath: keys)
        #expect(unsafe mkfifo(keys, 0o600) == 0)
        service.program.send(SIGHUP)
        try await eventually { service.errors.contains("\(keys): it is not a file") }
        #expect(service.errors.contains("read tokens anew: 1 added, 1 removed"))
        #expect(try service.rate(Self.tokens[0]) == 401 && service.rate(Self.tokens[1]) == 200)
        #expect(await service.program.end(SIGTERM).status == 0)
    }

    @Test("at the start tokens may come from a pipe, and the service says which one it waits for")
    func pipesAtStart() async throws {
        let fixture = try Fixture()
        let library = fixture.home.file("films.db")
        #expect(try await fixture.run("import", fixture.folder.file("movies.json"), library).status == 0)
        let words = ["serve", library, "--writable", "--no-disk-cache", "--quiet", "--token-file"]
        for line in [
            #"exec "$0" "$@" /dev/stdin < <(printf \#(Self.tokens[0]))"#,
            #"exec "$0" "$@" <(printf \#(Self.tokens[0]))"#,
        ] {
            let program = try Program(
                ["-c", line, BuiltProgram.path("marquee")] + words, of: "/bin/bash")
            #expect(await program.nextLine() != nil, "\(line)")
        }
        let endless = try await Program.run(words + ["/dev/zero"])
        #expect(endless.status == 2 && endless.errorText.contains("/dev/zero: it is larger than 1 MiB"))

        let (pipe, errors) = (fixture.home.file("pipe"), fixture.home.file("errors"))
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        let program = try Program(
            [
                "-c", #"exec "$0" "$@" 2>"$ERRORS""#, BuiltProgram.path("marquee"), "serve", library,
                "--writable", "--no-disk-cache", "--token-file", pipe,
            ], of: "/bin/bash", environment: ["ERRORS": errors])
        try await eventually {
            // Ignored: nothing has been written yet.
            (try? String(contentsOfFile: errors, encoding: .utf8))?.contains("waiting for \(pipe)") == true
        }
        try Data(Self.tokens[0].utf8).write(to: URL(filePath: pipe))
        #expect(await program.nextLine() != nil)
    }

    @Test("a file of tokens or keys that others can read is named at the start and when it is read anew")
    func openFiles() async throws {
        let fixture = try Fixture()
        let names = ["tokens", "keys", "shared"].map { fixture.home.file($0) }
        try write(Self.tokens[0], to: names[0], mode: 0o640)
        for name in names.dropFirst() { try write(String(repeating: "0b", count: 32), to: name, mode: 0o604) }
        let service = try await Reloading(
            fixture,
            [
                "--token-file", names[0], "--sign-key-file", names[1], "--shared", "http://127.0.0.1:1/",
                "--shared-key-file", names[2],
            ])
        func count(_ name: String) -> Int {
            service.errors.split(separator: "\n").count {
                $0 == "marquee: \(name): others can read it too; keep it to yourself with chmod 600"
            }
        }
        #expect(names.map(count) == [1, 1, 1], "\(service.errors)")
        try write(Self.tokens[1], to: names[0])
        service.program.send(SIGHUP)
        try await eventually { service.errors.contains("read keys and sizes anew") }
        #expect(names.map(count) == [1, 2, 1], "\(service.errors)")
        await service.program.end(SIGTERM)
    }

    @Test("refused tokens are counted, and standard error names the last client")
    func refusedTokens() async throws {
        let fixture = try Fixture()
        let (library, tokens) = (fixture.home.file("films.db"), fixture.home.file("tokens"))
        _ = try FilmLibrary(path: library, access: .creating)
        try write(Self.tokens[0], to: tokens)
        let service = try await serve(
            fixture, "--writable", "--token-file", tokens, "--drain", "0", "--trusted-proxy", "127.0.0.1/32",
            library: library)
        let client = try RawClient(port: service.port)
        for (number, token) in [Self.tokens[1], Self.tokens[1], Self.tokens[0], Self.tokens[1]].enumerated() {
            let fields = ["Authorization: Bearer \(token)", "X-Forwarded-For: 203.0.113.\(number)"]
            #expect(try client.get("/films", fields[0], fields[1]).status == 200)
        }
        let metrics = try RawClient(port: service.admin).get("/metrics").text
        #expect(metrics.contains("\nmarquee_refused_tokens_total 3\n"))
        let lines = await service.program.end(SIGTERM).errorLines.filter { $0.contains("tokens are refused") }
        #expect(lines.first == "marquee: tokens are refused, the last from 203.0.113.0")
        #expect(
            lines.last?.hasPrefix("marquee: tokens are refused, the last from 203.0.113.3 (2 times") == true)
        #expect(lines.count == 2)
    }

    @Test(
        "begun in a terminal, the service ends at SIGHUP, and when the terminal closes",
        arguments: [true, false])
    func terminal(closes: Bool) throws {
        let fixture = try Fixture()
        let terminal = try PseudoTerminal(BuiltProgram.path("marquee"), ["serve", fixture.folder.path])
        try #require(terminal.waits { $0.row(containing: "http://127.0.0.1:") != nil })
        if closes { terminal.hangUp() } else { terminal.send(SIGHUP) }
        #expect(terminal.waitForEnd() == .exited(128 + SIGHUP))
    }

    @Test(
        "--address unix:PATH and --admin unix:PATH leave a file at PATH as it is", arguments: [true, false])
    func socketPath(isAdmin: Bool) async throws {
        let fixture = try Fixture()
        let path = try fixture.home.write("a library", to: "films.db")
        let words =
            isAdmin
            ? ["--port", "0", "--admin", "unix:\(path)"] : ["--address", "unix:\(path)"]
        let outcome = try await Program.run(["serve", fixture.folder.path, "--quiet"] + words)
        #expect(outcome.status == 2)
        #expect(
            outcome.errorText
                == "marquee: there is a file at \(path), which no socket replaces; remove it, or choose another path\n"
        )
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("a library".utf8))
    }

    @Test("--socket-mode decides who may connect to the local sockets")
    func socketMode() async throws {
        let fixture = try Fixture()
        let (path, admin) = (fixture.home.file("socket"), fixture.home.file("admin"))
        let program = try Program(
            [
                "serve", fixture.folder.path, "--quiet", "--address", "unix:\(path)", "--admin",
                "unix:\(admin)",
                "--socket-mode", "0660",
            ])
        #expect(await program.nextLine() == "unix:\(path)")
        for path in [path, admin] {
            var status = stat()
            #expect(unsafe stat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
        }
        #expect(try RawClient(path: path).get("/posters/1.png").status == 200)
        #expect(try RawClient(path: admin).get("/metrics").status == 200)
        await program.end(SIGINT)
    }

    @Test("the metrics answer the listener's own addresses and the names of --admin-host, and no other host")
    func adminHost() async throws {
        let service = try await serve(try Fixture(), "--quiet", "--admin-host", "Metrics.example.org")
        for (host, status) in [("metrics.example.org:9090", 200), ("127.0.0.1", 200), ("evil.example", 403)] {
            let client = try RawClient(port: service.admin)
            client.send("GET /metrics HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            #expect(try client.answer().status == status)
        }
        await service.program.end(SIGINT)
    }

    @Test(
        "with every connection taken, a film is read and a picture is fetched, and one more connection gets 503"
    )
    func descriptors() async throws {
        let fixture = try Fixture()
        let origin = "127.0.0.1:\(fixture.service.port)"
        // Larger than what the system holds for a client that does not read.
        #expect(FileManager.default.createFile(atPath: fixture.folder.file("large.png"), contents: nil))
        #expect(unsafe truncate(fixture.folder.file("large.png"), 1 << 28) == 0)
        let command =
            "ulimit -n 256; exec \"$MARQUEE\" serve '\(fixture.folder.path)' --quiet --source \(origin) "
            + "--allow-private 127.0.0.0/8 --cache-dir '\(fixture.home.path)'"
        let program = try Program(
            ["-c", command], of: "/bin/sh", environment: ["MARQUEE": BuiltProgram.path("marquee")])
        let port = try await program.nextPort()
        var clients: [RawClient] = []
        var status = 200
        while status == 200, clients.count < 160 {
            let client = try RawClient(port: port)
            status = try client.get("/films/film-1").status
            if status == 200 { clients.append(client) }
        }
        #expect(status == 503)
        let picture = Base64URL.encode("http://\(origin)/posters/1.png".utf8)
        #expect(try clients[0].get("/films/film-2").status == 200)
        #expect(try clients[0].get("/image/-/w92/\(picture)").status == 200)
        // Files that nobody reads take descriptors too.
        for client in clients.dropFirst(2) {
            client.send("GET /large.png HTTP/1.1\r\nHost: localhost\r\n\r\n")
        }
        try await eventually { try clients[1].get("/posters/1.png").status == 503 }
        #expect(try clients[0].get("/films/film-3").status == 200)
        #expect(try clients[0].get("/image/-/w154/\(picture)").status == 200)
        await program.end(SIGINT)
    }
}
