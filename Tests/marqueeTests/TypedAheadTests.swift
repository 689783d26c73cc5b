import FoundationEssentials
import TestSupport
import TestTraits
import Testing

/// Keys typed before the browser is ready, and keys that it does not use.
@Suite("Keys typed ahead", .bounded, .ownThread)
struct TypedAheadTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let films = (1...9).map { #"{"id": "\#($0)", "title": "Film \#($0).", "minutes": 1\#($0)}"# }
        try folder.write("[\(films.joined(separator: ","))]", to: "films.json")
    }

    private func started(
        _ program: String, _ arguments: [String], catalogue: String? = nil, ownKeys: String = ""
    ) throws -> PseudoTerminal {
        try folder.write(ownKeys, to: "config/marquee/config")
        return try PseudoTerminal(
            program, arguments,
            environment: [
                "XDG_CACHE_HOME": folder.path, "MARQUEE": BuiltProgram.path("marquee"), "HOME": folder.path,
                "XDG_CONFIG_HOME": folder.file("config"),
                "MARQUEE_CATALOGUE": catalogue ?? folder.file("films.json"), "PS1": "$ ", "HISTFILE": "",
            ])
    }

    /// A command that runs the browser, and then reads a line as a shell does.
    private static let reader =
        "\"$MARQUEE\"; echo \"ended with $?\"; IFS= read -r line; echo \"read <$line>\""

    @Test("keys behind the one that quits reach the shell", arguments: ["q", "\u{3}", "jj\rqq"])
    func behindQuit(keys: String) throws {
        let terminal = try started("/bin/sh", ["-c", Self.reader])
        try #require(terminal.waits { $0.row(containing: "Film 1.") != nil })
        try terminal.type(keys + "echo typed\r") { $0.row(containing: "read <echo typed>") != nil }
        #expect(terminal.waitForEnd() == .exited(0))
        #expect(terminal.settings == terminal.settingsBefore)
    }

    @Test(
        "keys behind one's own key to quit reach the shell, and q is no such key",
        arguments: ["\u{18}", "\u{1B}[21~"])
    func behindOwnQuit(key: String) throws {
        let terminal = try started("/bin/sh", ["-c", Self.reader], ownKeys: "key-quit = ctrl-x F10\n")
        try #require(terminal.waits { $0.row(containing: "Film 1.") != nil })
        try terminal.type("q" + key + "echo typed\r") { $0.row(containing: "read <echo typed>") != nil }
        #expect(terminal.waitForEnd() == .exited(0))
    }

    @Test(
        "reports of the mouse behind it do not",
        .enabled(if: PseudoTerminal.takesPushedInput, "the kernel forbids pushed input"))
    func mouse() throws {
        let terminal = try started("/bin/sh", ["-c", Self.reader])
        try #require(terminal.waits { $0.row(containing: "Film 1.") != nil })
        try terminal.type("q\u{1B}[<65;3;4Mec\u{1B}[<65;3;4Mho\u{1B}[<0;3;4m typed\r") {
            $0.row(containing: "read <echo typed>") != nil
        }
        #expect(terminal.waitForEnd() == .exited(0))
    }

    @Test("a whole session typed at once is shared by a real shell and the browser")
    func wholeSession() throws {
        let terminal = try started("/bin/bash", ["--norc", "--noprofile", "-i"])
        try terminal.type("\"$MARQUEE\"\rjj\rqqecho $((6*7))\r") { $0.rows.contains("42") }
        // The browser has used its keys, and no more: the shell was given no other command.
        #expect(terminal.output.contains(sequence: "\u{1B}[?1049h"))
        #expect(terminal.screen.row(containing: "not found") == nil, "\(terminal.screen.rows)")
        terminal.quit("exit\r")
    }

    @Test("keys typed behind Ctrl-Z reach the shell, and the browser comes back with fg")
    func behindStop() throws {
        let terminal = try started("/bin/bash", ["--norc", "--noprofile", "-i"])
        try terminal.type("\"$MARQUEE\"\r") { $0.row(containing: "Film 1.") != nil && $0.isAlternate }
        try terminal.type("\u{1A}echo $((6*7))\r") { !$0.isAlternate && $0.rows.contains("42") }
        try terminal.type("fg\r") { $0.isAlternate && $0.row(containing: "Film 1.") != nil }
        terminal.quit("qexit\r")
    }

    @Test("keys typed while the catalogue is being read act on its films")
    func loading() throws {
        let gate = Gate()
        let server = try CatalogueServer(
            CatalogueServer.film("a"), CatalogueServer.film("b"), CatalogueServer.film("c"), gate: gate)
        let terminal = try started(BuiltProgram.path("marquee"), [], catalogue: server.catalogue)
        try #require(terminal.waits { $0.row(containing: "Loading") != nil })
        // The help never waits: it shows that the keys have been read.
        try terminal.type("j?") { $0.row(containing: "Esc goes back") != nil }
        try terminal.type("\u{1B}") { $0.row(containing: "Loading") != nil }
        gate.open()
        #expect(terminal.waits { $0.text(ofRow: 0).hasSuffix("2/3") })
        terminal.quit("q")
    }
}
