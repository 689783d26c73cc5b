import TestSupport
import TestTraits
import Testing

/// Answers that come after a program has given up waiting for them, while it still reads them for a long time.
@Suite("Late answers of a terminal", .bounded, .serialized, .ownThread)
struct LateAnswersTests {
    /// A command that reads the terminal next, as a shell does, and shows the bytes that it read.
    private static let shell = """
        "$0" "$@"; echo "ended with $?"; IFS= read -r line; printf %s "$line" | od -An -v -tx1; echo over
        """

    private func started(_ words: String...) throws -> PseudoTerminal {
        try PseudoTerminal("/bin/sh", ["-c", Self.shell, BuiltProgram.path("TerminalProbe")] + words)
    }

    /// Checks that the program ends well, that nothing of an answer was echoed, and that none reaches the shell.
    private func expectEnd(_ terminal: PseudoTerminal) throws {
        try expectKeys("", terminal)
        let output = String(decoding: terminal.output, as: UTF8.self)
        #expect(!output.contains("^[") && !output.contains("late"))
    }

    /// An inquiry that has given up.
    private func inquiry() throws -> PseudoTerminal {
        let terminal = try started("inquire")
        try #require(terminal.waits { $0.row(containing: "gave up") != nil })
        return terminal
    }

    /// A session that has asked, and has reset its modes.
    private func session() throws -> PseudoTerminal {
        let terminal = try started()
        try #require(terminal.waits { $0.text(ofRow: 0) == "ready" })
        terminal.type("r")
        try #require(terminal.waits { _ in terminal.output.contains(sequence: "\u{1B}[c") })
        terminal.type("q")
        try #require(terminal.waits { $0.modes == [7, 25] })
        return terminal
    }

    @Test("an inquiry that gave up reads them until the last one, at the program's end")
    func inquiryEnds() throws {
        let terminal = try inquiry()
        terminal.type("\u{1B}P>|late\u{1B}\\\u{1B}[?62c")
        try expectEnd(terminal)
    }

    @Test("a session that ends reads them with its modes reset")
    func sessionEnds() throws {
        let terminal = try session()
        terminal.type("\u{1B}P>|late\u{1B}\\\u{1B}[?64;4c")
        try expectEnd(terminal)
    }

    /// Checks that the shell reads these keys, and no answer.
    private func expectKeys(_ codes: String, _ terminal: PseudoTerminal) throws {
        try #require(terminal.waits { $0.row(containing: "ended with 0") != nil }, "\(terminal.screen.rows)")
        terminal.type("!\n")
        try #require(terminal.waits { $0.row(containing: "over") != nil })
        #expect(terminal.screen.row(containing: codes + " 21") != nil, "\(terminal.screen.rows)")
        #expect(terminal.screen.row(containing: "1b") == nil, "\(terminal.screen.rows)")
        #expect(terminal.settings == terminal.settingsBefore)
    }

    @Test(
        "keys typed among them reach the shell in order",
        .enabled(if: PseudoTerminal.takesPushedInput, "the kernel forbids pushed input"))
    func keysAmongAnswers() throws {
        for start in [inquiry, session] {
            let terminal = try start()
            terminal.type("ab\u{1B}P>|late\u{1B}\\c\u{1B}[?62cd")
            try expectKeys("61 62 63 64", terminal)
        }
    }
}
