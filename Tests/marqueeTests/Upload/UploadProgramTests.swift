import FoundationEssentials
import Glibc
import LazyImages
import TestSupport
import TestTraits
import Testing

@testable import marquee

@Suite("marquee upload", .bounded, .ownThread)
struct UploadProgramTests {
    private let folder: TemporaryFolder
    /// Empty, unless the program leaves files there.
    private let temporary: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        temporary = try TemporaryFolder()
    }

    private var environment: [String: String] {
        [
            "HOME": folder.path, "XDG_CACHE_HOME": folder.path, "TMPDIR": temporary.path,
            "MARQUEE_CREDENTIALS": "127.0.0.1 anna:secret",
        ]
    }

    private func run(_ words: String..., input: String = "") async throws -> Program.Outcome {
        try await Program.run(["upload"] + words, input: input, environment: environment)
    }

    private func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        try folder.write(bytes, to: name)
        return folder.file(name)
    }

    private func file(_ name: String, _ text: String) throws -> String { try file(name, Array(text.utf8)) }

    /// A sparse file of zeros.
    private func file(_ name: String, size: Int) throws -> String {
        try #require(Shell.output("truncate -s \(size) '\(folder.file(name))' && echo made") == "made\n")
        return folder.file(name)
    }

    private func leftovers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: temporary.path)
    }

    @Test("a file is sent unchanged, with its type, and the answer's body is printed unchanged")
    func raw() async throws {
        let answer = "\u{1B}[2J{\"id\":1}"
        let origin = try ScriptedOrigin(.acceptingBodies(status: "201 Created", answer: answer))
        let path = try file("a.jpg", SampleImages.jpeg)
        let run = try await run(path, origin.url("/p").absoluteString, "--header", "X-Own: 1")
        #expect(run.status == 0 && run.text == answer)
        #expect(
            run.errorLines.count == 1
                && run.errorText.contains("201 Created, \(SampleImages.jpeg.count) bytes"))
        #expect(origin.bodies == [SampleImages.jpeg])
        let head = try #require(origin.heads.first)
        #expect(head.hasPrefix("PUT /p HTTP/1.1") && head.contains("Content-Type: image/jpeg"))
        #expect(head.contains("X-Own: 1") && !head.contains("Cookie"))
        let posted = try await self.run(
            path, origin.url("/p").absoluteString, "--method", "post", "--type", "a/b", "--quiet")
        #expect(posted.status == 0 && posted.errors.isEmpty)
        #expect(origin.heads[1].hasPrefix("POST ") && origin.heads[1].contains("Content-Type: a/b"))
    }

    @Test("fields alone are url-encoded, and with a file they are parts of a form")
    func forms() async throws {
        let origin = try ScriptedOrigin(.acceptingBodies())
        let url = origin.url("/f").absoluteString
        #expect(try await run(url, "--form", "title=El Camino", "--form", "a=b=c").status == 0)
        #expect(origin.heads[0].hasPrefix("POST "))
        #expect(origin.heads[0].contains("Content-Type: application/x-www-form-urlencoded"))
        #expect(String(decoding: origin.bodies[0], as: UTF8.self) == "title=El%20Camino&a=b%3Dc")

        let path = try file("a.png", SampleImages.png)
        #expect(try await run(path, url, "--form", "title=A", "--field", "poster").status == 0)
        #expect(try await run("-", url, "--form", "title=A", input: "piped").status == 0)
        let field = "Content-Disposition: form-data; name=\"title\"\r\n\r\nA\r\n--"
        for (body, part) in [
            (
                origin.bodies[1],
                "name=\"poster\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n"
            ),
            (
                origin.bodies[2],
                "name=\"file\"; filename=\"file\"\r\nContent-Type: application/octet-stream\r\n\r\npiped\r\n--"
            ),
        ] {
            let text = String(decoding: body, as: UTF8.self)
            #expect(text.contains(field) && text.contains(part), "\(text)")
        }
        #expect(
            origin.heads[1].contains("POST ") && origin.heads[1].contains("multipart/form-data; boundary="))
    }

    @Test("a picture is resized, with its new type and extension")
    func recipe() async throws {
        let origin = try ScriptedOrigin(.acceptingBodies())
        let path = try file("a.b.png", [UInt8](Fixture.pixel))
        let url = origin.url("/f").absoluteString
        #expect(try await run(path, url, "--recipe", "w10", "--field", "p").status == 0)
        let picture = folder.file("made")
        _ = try await Program.run(["picture", path, "w10", "-o", picture], environment: environment)
        let made = try #require(FileManager.default.contents(atPath: picture))
        #expect(origin.bodies[0].contains(sequence: Array(made)))
        let (ending, type) = made.first == 0x89 ? ("png", "image/png") : ("jpg", "image/jpeg")
        let text = String(decoding: origin.bodies[0], as: UTF8.self)
        #expect(
            text.contains(
                "filename=\"a.b.\(ending)\"\r\nContent-Type: \(type)\r\n"),
            "\(text)")
        let none = try await run(try file("no.png", "no picture"), url, "--recipe", "w10")
        #expect(none.status == 2 && none.errorLines.count == 1 && origin.requests.count == 1)
    }

    @Test("standard input is sent again after a 401 and a 307, from an unnamed file")
    func inputAgain() async throws {
        let body = String(repeating: "0123456789abcdef", count: 20_000)
        let origin = try ScriptedOrigin([
            .readHead, .readBody,
            .send("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n"),
            .readHead, .readBody,
            .send("HTTP/1.1 307 Moved\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"),
            .readHead, .readBody, .send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
        ])
        let run = try await run("-", origin.url("/p").absoluteString, input: body)
        #expect(run.status == 0, "\(run.errorText)")
        #expect(origin.bodies == Array(repeating: Array(body.utf8), count: 3))
        #expect(origin.heads.map { $0.contains("Authorization: Basic") } == [false, true, true])
        #expect(try leftovers().isEmpty)
    }

    @Test("an error is one line, with its code in JSON")
    func errors() async throws {
        let other = try ScriptedOrigin(.acceptingBodies())
        let elsewhere = "Location: \(other.url("/x").absoluteString)\r\n"
        let gate = Gate()
        let path = try file("a.bin", [UInt8](repeating: 1, count: 700_000))
        for (steps, code) in [
            (.acceptingBodies(status: "422 No"), "http-status"),
            (.acceptingBodies(status: "307 Moved", fields: elsewhere), "redirect-refused"),
            ([.readHead, .readSome(100_000), .wait(gate)], "timed-out"),
            ([.readHead, .readSome(100_000), .reset], "connection-lost"),
        ] as [([ScriptedOrigin.Step], String)] {
            let origin = try ScriptedOrigin(steps)
            let run = try await run(
                path, origin.url("/p").absoluteString, "--method", "POST", "--json",
                "--timeout", code == "timed-out" ? "1" : "600")
            let record = try JSON.object(run.text)
            #expect(run.status == 1 && run.errorLines.count == 1, "\(run.errorText)")
            #expect((record["error"] as? [String: Any])?["code"] as? String == code)
            #expect(record["outcome"] as? String == "failed" && origin.requests.count == 1)
        }
        gate.open()
        #expect(other.requests.count == 0)
        let missing = try await run(folder.file("nosuch"), other.url().absoluteString, "--json")
        #expect(missing.status == 2 && missing.text.contains("unreadable-file"))
    }

    @Test("a file that changes while it is sent is an error, and is not sent again")
    func changed() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .readSome(100_000), .wait(gate), .readBody,
        ])
        let path = try file("a.bin", size: 64 << 20)
        let program = try Program(
            ["upload", path, origin.url("/p").absoluteString, "--timeout", "600"], environment: environment)
        try await origin.requests.wait(for: 1)
        _ = Shell.output("printf x >>'\(path)'")
        gate.open()
        let outcome = await program.outcome()
        #expect(outcome.status == 1 && outcome.errorLines.count == 1 && origin.requests.count == 1)
        #expect(outcome.errorText.contains("changed while it was sent"), "\(outcome.errorText)")
    }

    @Test("a PUT is sent again from its beginning when the server dies half-way")
    func dying() async throws {
        let body = variedBytes(700_000)
        let origin = try ScriptedOrigin { connection in
            connection == 0 ? [.readHead, .readSome(100_000), .reset] : .acceptingBodies()
        }
        let run = try await run(try file("a", body), origin.url("/p").absoluteString)
        #expect(run.status == 0 && origin.bodies == [body] && origin.requests.count == 2)
    }

    @Test("a cancelled upload ends at once and leaves no files")
    func cancelled() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin([.readHead, .readSome(100_000), .wait(gate)])
        let input = String(repeating: "0123456789abcdef", count: 500_000)
        let program = try Program(
            ["upload", "-", origin.url("/p").absoluteString, "--json"], input: input, environment: environment
        )
        try await origin.requests.wait(for: 1)
        let outcome = await program.end(SIGINT)
        gate.open()
        #expect(outcome.status == -SIGINT && outcome.errors.isEmpty, "\(outcome.errorText)")
        #expect(outcome.text.contains("\"code\":\"cancelled\""))
        #expect(try leftovers().isEmpty)
    }

    @Test(
        "an impossible command line is an error, and nothing is sent",
        arguments: [
            ["URL"], ["URL", "--form", "a"], ["URL", "--form", "=a"],
            ["URL", "--form", "a=b", "--field", "f"],
            ["f", "URL", "--method", "GET"], ["f", "URL", "--type", "jpeg"], ["f", "URL", "--recipe", "big"],
            ["f", "URL", "--recipe", "w9", "--type", "a/b"], ["f", "URL", "--offline"], ["f", "ftp://a/b"],
            ["f", "http://films.example/"],
            ["f", "URL", "--field="], ["f", "URL", "more"],
        ])
    func usage(words: [String]) async throws {
        let origin = try ScriptedOrigin(.acceptingBodies())
        let path = try file("f", "x")
        let run = try await Program.run(
            ["upload"] + words.map { $0 == "URL" ? origin.url().absoluteString : $0 == "f" ? path : $0 },
            environment: environment)
        #expect(run.status == 2 && run.errorLines.count == 1)
        #expect(origin.requests.count == 0)
    }

    @Test("on a terminal progress, rate and remaining time are shown, and only the text of an answer")
    func terminal() throws {
        let gate = Gate()
        let origin = try ScriptedOrigin([
            .readHead, .wait(gate), .readBody,
            .send(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 15\r\n\r\n\u{1B}[2Jthere\nbelow"
            ),
        ])
        let path = try file("a.bin", size: 64 << 20)
        let terminal = try PseudoTerminal(
            BuiltProgram.path("marquee"), ["upload", path, origin.url().absoluteString, "--timeout", "600"],
            environment: environment)
        let shown = terminal.waits { screen in
            ["sending a.bin", "of 64 MiB", "/s"].allSatisfy { screen.row(containing: $0) != nil }
        }
        #expect(shown, "\(terminal.screen.rows)")
        gate.open()
        #expect(terminal.waitForEnd() == .exited(0))
        #expect(terminal.screen.row(containing: "/s") == nil && terminal.screen.unknown.isEmpty)
        let row = try #require(terminal.screen.row(containing: "there"))
        #expect(terminal.screen.row(containing: "below") == row + 1)
        #expect(terminal.screen.row(containing: "200 OK, 67108864 bytes sent") != nil)
    }
}
