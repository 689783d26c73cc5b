import FilmSources
import Films
import FoundationEssentials
import Glibc
import HTTPSemantics
import TestSupport
import TestTraits
import Testing

@Suite("How a service starts, and how its library is copied", .bounded, .ownThread)
struct ServeStartTests {
    private let home: TemporaryFolder
    private let library: String

    init() throws {
        home = try TemporaryFolder()
        library = home.file("films.db")
        let films = try FilmLibrary(path: library, access: .creating)
        for number in 0..<50 {
            _ = try films.insert(
                try FilmDocument(json: JSONText(parsing: Array(#"{"title":"F\#(number)"}"#.utf8))),
                id: "f\(number)", poster: nil)
        }
    }

    private func run(_ words: String..., environment: [String: String] = [:]) async throws -> Program.Outcome
    {
        try await Program.run(
            words,
            environment: ["HOME": home.path, "XDG_CACHE_HOME": home.path].merging(environment) { $1 })
    }

    @Test("--check says whether the service could start, beside one that runs, and opens no port")
    func check() async throws {
        let running = try await Service(library, [])
        let passed = try await run(
            "serve", library, "--port", "\(running.port)", "--admin", "127.0.0.1:\(running.admin)", "--check")
        #expect(passed.status == 0 && passed.text == "the service can start\n", "\(passed.errorText)")
        let tokens = try home.write("# a\nshort\n", to: "tokens")
        let refused = try await run("serve", library, "--private", "--token-file", tokens, "--check")
        #expect(refused.status == 2 && refused.errorText.contains("line 2: a token has at least 22"))
        let absent = try await run("serve", home.file("none.db"), "--check")
        #expect(absent.status == 2 && absent.errorText.contains("none.db"))
    }

    @Test("--create makes an empty library, and leaves one that is there as it is")
    func create() async throws {
        let path = home.file("new.db")
        for _ in 0..<2 {
            let made = try await run("serve", path, "--writable", "--create", "--check")
            #expect(made.status == 0 && made.errors.isEmpty, "\(made.errorText)")
            let films = try FilmLibrary(path: path, access: .writing)
            _ = try? films.insert(
                try FilmDocument(json: JSONText(parsing: Array(#"{"title":"A"}"#.utf8))), id: "a", poster: nil
            )
        }
        #expect(try FilmLibrary(path: path, access: .reading).count == 1)
    }

    @Test("options without effect and variables that nothing reads are named")
    func warnings() async throws {
        let tokens = try home.write("0123456789abcdefghijklmn\n", to: "tokens")
        unsafe chmod(tokens, 0o600)
        let checked = try await run(
            "serve", library, "--token-file", tokens, "--keep-metadata", "--follow-links", "--check",
            environment: ["MARQUEE_PROT": "80", "MARQUEE_PORT": "0", "MARQUEE_SERVICE_HOST": "10.0.0.1"])
        #expect(checked.status == 0)
        for line in [
            "--token-file has no effect without --writable or --private",
            "--keep-metadata has no effect without --writable",
            "--follow-links has no effect without a folder",
            "MARQUEE_PROT is no variable of marquee; did you mean MARQUEE_PORT?",
        ] {
            #expect(checked.errorText.contains("marquee: \(line)\n"), "\(line)")
        }
        #expect(checked.errorLines.count == 4, "\(checked.errorText)")
    }

    @Test("a private service is read with a token by the commands")
    func privately() async throws {
        let token = "0123456789abcdefghijklmn"
        let tokens = try home.write("# guest read\n\(token)\n", to: "tokens")
        unsafe chmod(tokens, 0o600)
        let service = try await Service(library, ["--private", "--token-file", tokens])
        let refused = try await run("list", "--catalogue", service.url)
        #expect(refused.status == 2 && refused.errorText.contains("401"))
        let read = try await run(
            "list", "--plain", "--catalogue", service.url,
            environment: ["MARQUEE_CREDENTIALS": "127.0.0.1:\(service.port) Bearer \(token)"])
        #expect(read.lines.count == 50, "\(read.errorText)")
    }

    @Test("a backup has all films of a library that a service serves, and takes no file's place")
    func backup() async throws {
        let service = try await Service(library, ["--writable"])
        let copy = home.file("copy.db")
        let written = try await run("backup", library, copy)
        #expect(written.status == 0 && written.text.hasPrefix("\(copy): "), "\(written.errorText)")
        let (films, original) = (
            try FilmLibrary(path: copy, access: .reading), try FilmLibrary(path: library, access: .reading)
        )
        #expect(try films.count == 50 && films.revision == original.revision)
        #expect(try films.films(FilmQuery(search: "F49", limit: 5)).films.map(\.id) == ["f49"])
        let again = try await run("backup", library, copy)
        #expect(again.status == 2 && again.errorText.contains("is there already"))
        let nowhere = try await run("backup", library, home.file("none/copy.db"))
        #expect(nowhere.status == 2 && nowhere.errorLines.count == 1, "\(nowhere.errorText)")
        let names = try FileManager.default.contentsOfDirectory(atPath: home.path)
        #expect(!names.contains { $0.hasSuffix(".part") }, "\(names)")
        withExtendedLifetime(service) {}
    }

    /// Listens, and becomes the program with the sockets and the variables of a service manager.
    private static let manager = """
        import os, signal, socket, sys
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); notify.bind(sys.argv[1])
        films = socket.socket(); films.bind(("127.0.0.1", 0)); films.listen(8)
        admin = socket.socket(); admin.bind(("127.0.0.1", 0)); admin.listen(8)
        print(films.getsockname()[1], admin.getsockname()[1], flush=True)
        child = os.fork()
        if child == 0:
            copies = [os.dup(films.fileno()), os.dup(admin.fileno())]
            os.dup2(copies[0], 3); os.dup2(copies[1], 4)
            for number in (3, 4): os.set_inheritable(number, True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="2", LISTEN_FDNAMES="films:admin",
                NOTIFY_SOCKET=sys.argv[1], WATCHDOG_USEC="150000", WATCHDOG_PID=str(os.getpid()))
            os.execv(sys.argv[2], sys.argv[2:])
        seen = set()
        while "WATCHDOG=1" not in seen or "READY=1" not in seen: seen.add(notify.recv(99).decode())
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        print("alive", flush=True)
        signal.sigwait({signal.SIGUSR1})
        os.kill(child, 15); os.waitpid(child, 0)
        socket.create_connection(films.getsockname()).close()
        print("listening", flush=True)
        """

    @Test(
        "the sockets of the service manager are served, it hears that the service is alive, and they outlive it",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs Python"))
    func passed() async throws {
        let program = try Program(
            [
                "-c", Self.manager, home.file("notify"), BuiltProgram.path("marquee"), "serve", library,
                "--quiet", "--drain", "0",
            ], of: "/usr/bin/python3", environment: ["HOME": home.path])
        let ports = try #require(await program.nextLine()).split(separator: " ").compactMap { UInt16($0) }
        #expect(try RawClient(port: try #require(ports.first)).get("/films/f1").status == 200)
        #expect(try RawClient(port: try #require(ports.last)).get("/health/live").status == 200)
        var line = await program.nextLine()
        while let text = line, text != "alive" { line = await program.nextLine() }
        #expect(line == "alive")
        program.send(SIGUSR1)
        line = await program.nextLine()
        while let text = line, text != "listening" { line = await program.nextLine() }
        #expect(line == "listening")
    }
}
