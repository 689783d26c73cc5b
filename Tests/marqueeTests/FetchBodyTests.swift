import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import marquee

@Suite("marquee fetch -o -", .bounded, .ownThread)
struct FetchBodyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a pipe gets the bytes unchanged")
    func bytes() async throws {
        let everything = (0...255).map { UInt8($0) } + SampleImages.jpeg
        let origin = try ScriptedOrigin(.answering(everything, fields: "Content-Type: text/plain\r\n"))
        let fixture = try Fixture()
        let run = try await fixture.run("fetch", origin.url().absoluteString, "-o", "-")
        #expect(run.status == 0 && run.output == everything && run.errors.isEmpty)
        let film = try await fixture.run("fetch", "film-1", "-o", "-")
        #expect(film.status == 0 && film.output == [UInt8](Fixture.pixel))
        for words in [["film-1", "film-2"], ["-"], ["film-1", "--json"]] {
            let run = try await Program.run(
                ["fetch", "-o", "-"] + words, environment: fixture.environment)
            #expect(run.status == 2 && run.output.isEmpty && run.errorLines.count == 1)
        }
    }

    /// A terminal's screen after a body of this type.
    private func shown(_ body: [UInt8], _ type: String) throws -> (screen: PseudoTerminal, isRefused: Bool) {
        let fields = type.isEmpty ? "" : "Content-Type: \(type)\r\n"
        let origin = try ScriptedOrigin(.answering(body, fields: fields))
        let terminal = try PseudoTerminal(
            BuiltProgram.path("marquee"),
            ["fetch", origin.url().absoluteString, "-o", "-", "--no-disk-cache"],
            environment: ["XDG_CACHE_HOME": folder.path])
        let end = terminal.waitForEnd()
        #expect(end == .exited(0) || end == .exited(2))
        return (terminal, end == .exited(2))
    }

    @Test(
        "on a terminal, text is decoded by its charset and cannot control the terminal",
        arguments: [
            ("text/plain; charset=utf-8", Array("Häxan\n\u{1B}[2J\u{9B}31m".utf8), "Häxan"),
            ("text/html; charset=iso-8859-1", [0x48, 0xE4, 0x78, 0x61, 0x6E, 0x0A, 0x9B, 0x33], "Häxan"),
            ("text/plain", [0x48, 0xE4, 0x78, 0x61, 0x6E, 0x0A, 0x1B, 0x63], "Häxan"),
            ("application/json; charset=UTF-16LE", [0x48, 0, 0xE4, 0, 0x0A, 0, 0x1B, 0, 0x63, 0], "Hä"),
            ("text/plain", [0xFE, 0xFF, 0, 0x48, 0, 0xE4, 0, 0x0A, 0, 0x1B, 0, 0x63], "Hä"),
            ("", Array("Häxan\nand more".utf8), "Häxan"),
        ])
    func text(type: String, body: [UInt8], line: String) throws {
        let (terminal, isRefused) = try shown(body, type)
        #expect(!isRefused && terminal.screen.row(containing: line) == 0, "\(terminal.screen.rows)")
        #expect(terminal.screen.unknown.isEmpty)
        // Here the program sends no sequence but the one that ends its progress.
        #expect(!String(decoding: terminal.output, as: UTF8.self).contains("\u{1B}c"))
    }

    @Test(
        "on a terminal, other data is refused with the way to save it",
        arguments: [
            ("image/jpeg", SampleImages.jpeg), ("text/plain; charset=shift_jis", [0x82, 0xA0]),
            ("", [0x1B, 0x63, 0x00]), ("application/octet-stream", [0xFF, 0xD8]),
        ])
    func refused(type: String, body: [UInt8]) throws {
        let (terminal, isRefused) = try shown(body, type)
        #expect(isRefused && terminal.screen.row(containing: "-o DIR") != nil, "\(terminal.screen.rows)")
    }
}
