import FoundationEssentials
import Glibc
import TerminalGraphics
import TestSupport
import TestTraits
import Testing

@Suite("A session restores the terminal", .bounded, .ownThread)
struct TerminalSessionTests {
    #if THREAD_SANITIZER
        // The sanitizer handles the other signals and stack overflows itself, even during its own work, where
        // a signal from another process can block it for ever.
        private static let deadlySignals = [SIGTERM, SIGHUP, SIGINT, SIGQUIT]
        private static let crashKeys = [("t", [SIGILL]), ("a", [SIGABRT])]
    #else
        private static let deadlySignals = [
            SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE,
        ]
        private static let crashKeys = [
            ("t", [SIGILL, SIGTRAP]), ("a", [SIGABRT]), ("o", [SIGSEGV, SIGBUS]),
        ]
    #endif

    /// Starts the probe and waits until it is on the screen.
    private func started(
        _ arguments: [String] = [], columns: Int = 60, rows: Int = 12
    ) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(
            BuiltProgram.path("TerminalProbe"), arguments, columns: columns, rows: rows)
        try #require(terminal.waits { $0.text(ofRow: 0) == "ready" }, "\(terminal.screen.rows)")
        return terminal
    }

    private func quit(_ terminal: PseudoTerminal) {
        terminal.type("q")
        #expect(terminal.waitForEnd() == .exited(0))
    }

    /// Starts the probe from a shell, and waits until it is on the screen.
    private func started(byShell script: String) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal("/bin/sh", ["-c", script, BuiltProgram.path("TerminalProbe")])
        try #require(terminal.waits { $0.text(ofRow: 0) == "ready" })
        return terminal
    }

    /// A shell that runs the probe, and after a line continues it. The kernel does not stop a program that nobody could
    /// continue.
    private static let continuing = "set -m; \"$0\"; echo stopped; read line; fg"

    /// Checks the modes, and that a picture was deleted before the alternate screen was left.
    private func isRestored(_ terminal: PseudoTerminal) -> Bool {
        let output = String(decoding: terminal.output, as: UTF8.self)
        return terminal.settings == terminal.settingsBefore && terminal.screen.modes == [7, 25]
            && output.contains("\u{1B}_Ga=d,d=I,i=7,q=2\u{1B}\\\u{1B}[?2026l")
    }

    @Test("entering makes input raw and sets the modes")
    func entering() throws {
        let terminal = try started()
        #expect(terminal.settingsBefore.isCooked)
        #expect(!terminal.settings.isCooked)
        #expect(terminal.screen.modes == [7, 1049, 1000, 1006, 2004])
        #expect(terminal.screen.unknown.isEmpty)
    }

    @Test("leaving restores everything")
    func leaving() throws {
        let terminal = try started()
        quit(terminal)
        #expect(isRestored(terminal))
    }

    @Test(
        "a terminating signal restores the terminal, and still ends the program",
        arguments: deadlySignals)
    func signals(signal: Int32) throws {
        let terminal = try started()
        terminal.send(signal)
        #expect(terminal.waitForEnd() == .killed(signal: signal))
        #expect(isRestored(terminal))
    }

    @Test(
        "a crash restores the terminal: a trap, abort, and a stack overflow",
        arguments: crashKeys)
    func crashes(key: String, signals: [Int32]) throws {
        let terminal = try started()
        terminal.type(key)
        let ending = terminal.waitForEnd()
        #expect(signals.contains { ending == .killed(signal: $0) }, "\(String(describing: ending))")
        #expect(isRestored(terminal))
    }

    @Test(
        "a stop, by Ctrl-Z or by a signal, gives the terminal to the shell; fg takes it back and redraws",
        arguments: ["z", "s"])
    func suspending(key: String) throws {
        let terminal = try started(byShell: Self.continuing)
        terminal.type(key)
        try #require(terminal.waits { $0.row(containing: "stopped") != nil })
        #expect(isRestored(terminal))
        terminal.type("\r")
        let isBack = terminal.waits { $0.row(containing: "continued") != nil && $0.text(ofRow: 0) == "ready" }
        #expect(isBack, "\(terminal.screen.rows)")
        #expect(terminal.screen.isAlternate)
        #expect(!terminal.settings.isCooked)
        quit(terminal)
        #expect(isRestored(terminal))
    }

    @Test("after leaving, a stop has its default action again")
    func stopAfterLeaving() throws {
        let terminal = try started(byShell: Self.continuing)
        terminal.type("l")
        try #require(terminal.waits { $0.row(containing: "stopped") != nil })
        #expect(terminal.screen.row(containing: "left") == nil)
        terminal.type("\r")
        #expect(terminal.waits { $0.row(containing: "left") != nil })
        #expect(terminal.waitForEnd() == .exited(0))
    }

    @Test("a program that nobody could continue does not stop")
    func orphaned() throws {
        let terminal = try started()
        terminal.type("z")
        #expect(terminal.waits { $0.isAlternate && $0.row(containing: "character(\"z\")") != nil })
        quit(terminal)
    }

    @Test("a program that exits anywhere, without leaving, restores the terminal")
    func exiting() throws {
        let terminal = try started()
        terminal.type("x")
        #expect(terminal.waitForEnd() == .exited(4))
        #expect(isRestored(terminal))
    }

    @Test("what another thread draws while the program exits does not reach the restored terminal")
    func drawing() throws {
        let terminal = try started(["draw"])
        terminal.type("d")
        #expect(terminal.waitForEnd() == .exited(5))
        #expect(isRestored(terminal))
        #expect(String(decoding: terminal.output, as: UTF8.self).hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    }

    @Test("a signal that was ignored at the start, as under nohup, stays ignored")
    func ignored() throws {
        let terminal = try started(byShell: "trap '' HUP; exec \"$0\"")
        terminal.send(SIGHUP)
        terminal.type("k")
        #expect(terminal.waits { $0.row(containing: "character(\"k\")") != nil })
        #expect(terminal.screen.isAlternate)
        quit(terminal)
    }

    @Test("keys, mouse events and a new size arrive as events")
    func events() throws {
        let terminal = try started()
        terminal.type("\u{1B}[<65;3;4M")
        #expect(terminal.waits { $0.row(containing: "wheel(") != nil })
        terminal.type("\u{1B}")
        #expect(terminal.waits { $0.row(containing: "escape") != nil })
        terminal.type("\u{3}")
        #expect(terminal.waits { $0.row(containing: "4 character(\"c\")") != nil })
        terminal.resize(columns: 40, rows: 5)
        #expect(terminal.waits { $0.row(containing: "resized") == 4 })
        #expect(terminal.screen.unknown.isEmpty)
    }

    @Test(
        "a sequence that breaks off does not swallow keys for ever",
        arguments: ["\u{1B}P>|kit", "\u{1B}[?6;", "\u{1B}[200~paste", "\u{1B}[M!", "\u{C3}"])
    func brokenOff(sequence: String) throws {
        let terminal = try started()
        let isCharacter = sequence == "\u{C3}"
        terminal.type(isCharacter ? [0xC3] : Array(sequence.utf8))
        // Keys typed at once may be read as parts of it.
        let isHeard = terminal.types("k") { $0.row(containing: "character(\"k\")") != nil }
        #expect(isHeard, "\(terminal.screen.rows)")
        quit(terminal)
    }

    @Test("a file that is not a terminal is refused with its name")
    func noTerminal() {
        #expect(throws: TerminalError.notATerminal(path: "/dev/null")) {
            try TerminalSession(path: "/dev/null")
        }
        #expect(throws: TerminalError.notATerminal(path: "/nowhere")) {
            try TerminalSession(path: "/nowhere")
        }
        #expect(TerminalSize(of: -1) == nil)
    }

    @Test("a file that is not a terminal is closed once: its number may be another file's a moment later")
    func closedOnce() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a")
        try Data().write(to: URL(filePath: path))
        errno = 0
        // Ignored: the expected failure.
        _ = try? TerminalSession(path: path)
        // The last failed call is tcgetattr. A second close of the number would fail after it, with EBADF.
        #expect(errno == ENOTTY)
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        // Ignored: a descriptor that another test has closed meanwhile.
        let files = descriptors.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
        }
        #expect(!files.isEmpty && !files.contains(path), "it is still open")
    }
}
