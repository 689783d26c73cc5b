import Foundation
import Glibc
import TestSupport
import TestTraits
import Testing

/// The token that a service makes for itself, and the same user's programs.
@Suite("The token of a running service", .bounded)
struct TokenProgramTests {
    private let home: TemporaryFolder
    private let library: String

    init() async throws {
        home = try TemporaryFolder()
        library = home.file("films.db")
        let films = try home.write(#"[{"id":"faust","title":"Faust","year":1926}]"#, to: "films.json")
        #expect(try await run("import", films, library).status == 0)
    }

    private var environment: [String: String] {
        ["XDG_CACHE_HOME": home.path, "XDG_STATE_HOME": home.file("state"), "USER": "anna"]
    }

    private func run(_ words: String...) async throws -> Program.Outcome {
        try await Program.run(words, environment: environment)
    }

    private func serve(_ words: String...) throws -> Program {
        try Program(["serve", library] + words, environment: environment)
    }

    private func post(_ address: String, token: String?) async throws -> Int {
        var words = [
            "upload", "-", "\(address)films", "--json", "--method", "POST", "--type", "application/json",
        ]
        if let token { words += ["--header", "Authorization: Bearer \(token)"] }
        // Another user's program does not find the token.
        let run = try await Program.run(
            words, input: #"{"title":"Metropolis"}"#,
            environment: ["XDG_CACHE_HOME": home.path, "XDG_STATE_HOME": home.file("other")])
        return try #require(try JSON.object(run.text)["status"] as? Int)
    }

    @Test("writing needs the token, which the same user's commands find and `token` prints")
    func ownToken() async throws {
        let service = try serve("--writable")
        let address = try #require(await service.nextLine())
        #expect(try await post(address, token: nil) == 401)
        let token = try await run("token")
        #expect(token.status == 0 && token.lines.count == 1)
        #expect(try await post(address, token: token.lines[0]) == 201)
        for catalogue in [address, address.replacing("127.0.0.1", with: "localhost")] {
            let rated = try await run("rate", "faust", "8", "--catalogue", catalogue)
            #expect(rated.status == 0, "\(rated.errorText)")
        }
        let port = try #require(URL(string: address)?.port)
        for name in [address, "127.0.0.1:\(port)", ":\(port)", "\(port)", "localhost:\(port)"] {
            #expect(try await run("token", name).text == token.text, "\(name)")
        }
        #expect(try await run("token", "127.0.0.1:1").status == 2)
        // A second service has a token of its own.
        let second = try serve("--writable")
        _ = try #require(await second.nextLine())
        let several = try await run("token")
        #expect(several.status == 2 && several.errorText.contains("name one of your services: "))
        await second.end(SIGTERM)

        let outcome = await service.end(SIGTERM)
        let file = "the token for writing is in \(home.file("state"))/marquee/tokens/127.0.0.1%3A\(port)"
        #expect(outcome.errorText.contains(file))
        let folder = home.file("state") + "/marquee/tokens"
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        #expect(try await run("token").errorText.contains("you run no service that has made a token"))
    }

    @Test("only its user can read the file, and nobody reads that of a killed service")
    func leftover() async throws {
        let service = try serve("--writable")
        let address = try #require(await service.nextLine())
        let folder = home.file("state") + "/marquee/tokens"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let file = "\(folder)/\(try #require(names.first))"
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(names.count == 1 && mode == 0o600)
        await service.end(SIGKILL)
        #expect(FileManager.default.fileExists(atPath: file))
        #expect(try await run("token", address).status == 2)
    }

    @Test("a local socket takes the token too")
    func socket() async throws {
        let path = home.file("socket")
        let service = try serve("--writable", "--address", "unix:\(path)")
        _ = try #require(await service.nextLine())
        let token = try await run("token", "unix:\(path)")
        #expect(token.status == 0)
        for (authorization, status) in [([], 401), (["Authorization: Bearer \(token.lines[0])"], 201)] {
            let fields = authorization + ["Content-Type: application/json"]
            let client = try RawClient(path: path)
            let answer = try client.send("POST", "/films", fields, body: #"{"title":"Metropolis"}"#.utf8)
            #expect(answer.status == status)
        }
    }

    @Test("without a place for the token a service says what to do")
    func noPlace() async throws {
        try home.write("", to: "state")
        let run = try await run("serve", library, "--writable")
        #expect(run.status == 2 && run.errorText.contains("name a file of tokens with --token-file"))
    }
}
