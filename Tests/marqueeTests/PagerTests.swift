import FoundationEssentials
import TestSupport
import TestTraits
import Testing

/// Lists and help that are longer than the terminal.
@Suite("The pager", .bounded, .ownThread)
struct PagerTests {
    private func terminal(
        _ words: [String], pager: String, rows: Int = 24, kind: String = "xterm"
    ) throws -> PseudoTerminal {
        let folder = try TemporaryFolder()
        return try PseudoTerminal(
            BuiltProgram.path("marquee"), words,
            environment: [
                "PAGER": pager, "HOME": folder.path, "XDG_CACHE_HOME": folder.path, "PATH": "/usr/bin:/bin",
                "TERM": kind,
            ], rows: rows)
    }

    @Test(
        "text longer than the terminal goes to $PAGER, which may be a command with options",
        arguments: [["list"], ["help"], ["fetch", "--help"]])
    func long(words: [String]) throws {
        let terminal = try terminal(words, pager: "sed -n '$=' && echo paged")
        #expect(terminal.waitForEnd() == .exited(0))
        #expect(terminal.screen.row(containing: "paged") != nil, "\(terminal.screen.rows)")
    }

    @Test(
        "short text, --no-pager and an empty PAGER write to the terminal",
        arguments: [
            (["version"], "false", 24), (["list"], "false", 60), (["list", "--no-pager"], "false", 24),
            (["list"], "", 24),
        ])
    func direct(words: [String], pager: String, rows: Int) throws {
        let terminal = try terminal(words, pager: pager, rows: rows)
        #expect(terminal.waitForEnd() == .exited(0))
        let output = String(decoding: terminal.output, as: UTF8.self)
        #expect(output.contains("Metropolis") || output.contains("marquee 0"), "\(output)")
    }

    @Test(
        "a terminal that moves no cursor, such as an editor's, gets the text itself", arguments: ["dumb", ""])
    func plainTerminal(kind: String) throws {
        let terminal = try terminal(["list"], pager: "false", kind: kind)
        #expect(terminal.waitForEnd() == .exited(0))
        #expect(String(decoding: terminal.output, as: UTF8.self).contains("Metropolis"))
    }

    @Test("a terminal whose type is not set gets the text itself")
    func unknownTerminal() throws {
        let folder = try TemporaryFolder()
        let terminal = try PseudoTerminal(
            "/usr/bin/env", ["-u", "TERM", BuiltProgram.path("marquee"), "list"],
            environment: ["PAGER": "false", "HOME": folder.path, "XDG_CACHE_HOME": folder.path])
        #expect(terminal.waitForEnd() == .exited(0))
        #expect(String(decoding: terminal.output, as: UTF8.self).contains("Metropolis"))
    }

    @Test("a pager that is not there does not lose the text; one that ends early is no error")
    func endings() throws {
        let missing = try terminal(["list"], pager: "no-such-pager")
        #expect(missing.waitForEnd() == .exited(0))
        #expect(String(decoding: missing.output, as: UTF8.self).contains("Metropolis"))
        let early = try terminal(["list"], pager: "head -n 1")
        #expect(early.waitForEnd() == .exited(0))
        #expect(!String(decoding: early.output, as: UTF8.self).contains("Metropolis"))
    }
}
