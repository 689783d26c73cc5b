import Glibc
import TerminalGraphics
import TestSupport
import TestTraits
import Testing

/// Every end of the browser gives the terminal back as it was.
@Suite("The browser's exit", .serialized, .ownThread, .timeLimit(.minutes(30)))
struct BrowserExitTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func started(environment: [String: String] = [:]) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(
            BuiltProgram.path("marquee"),
            environment: environment.merging(["XDG_CACHE_HOME": folder.path]) { $1 })
        try #require(terminal.waits { $0.row(containing: "A Trip to the Moon") != nil })
        return terminal
    }

    #if THREAD_SANITIZER
        // The sanitizer takes signals of faults for itself, or handles them even in the middle of its own work, where that now
        // and then blocks the program or ends it otherwise.
        private static let crashes = [SIGQUIT]
        private static let faults: [Int32] = []
    #else
        private static let crashes = [SIGQUIT, SIGILL, SIGABRT, SIGSEGV, SIGTRAP, SIGBUS, SIGFPE]
        private static let faults = [SIGSYS]
    #endif

    /// Signals that end a program and are no crash: of those with names, and of the real-time ones.
    private static let others =
        [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR, SIGSTKFLT, 34, 50, 64]
        + faults

    @Test(
        "q, Ctrl-C and every polite signal give the terminal back", arguments: ["q", "\u{3}"],
        [0, SIGTERM, SIGHUP, SIGINT])
    func waysOut(key: String, signal: Int32) throws {
        let terminal = try started()
        #expect(!terminal.settings.isCooked)
        if signal == 0 { terminal.type(key) } else { terminal.send(signal) }
        let end = terminal.waitForEnd()
        #expect(end == .exited(signal == 0 ? 0 : 128 + signal))
        #expect(terminal.settings == terminal.settingsBefore)
        #expect(terminal.screen.modes == [7, 25])
    }

    @Test(
        "a terminal that is gone ends it, in the middle of a glide too, whether or not the hang-up is to be ignored",
        arguments: ["", "trap '' HUP; "], ["", "G"])
    func hangUp(shell: String, keys: String) throws {
        let terminal = try PseudoTerminal(
            "/bin/sh", ["-c", shell + "exec \"$MARQUEE\""],
            environment: ["XDG_CACHE_HOME": folder.path, "MARQUEE": BuiltProgram.path("marquee")])
        try #require(terminal.waits { $0.text(ofRow: 2).contains("A Trip to the Moon") })
        terminal.type(keys)
        terminal.hangUp()
        let end = terminal.waitForEnd()
        // The signal, where it is heeded, and the end of the input come at the same time.
        #expect(end == .exited(0) || shell.isEmpty && end == .exited(128 + SIGHUP))
    }

    @Test("every other signal that ends a program gives the terminal back too", arguments: others)
    func otherSignals(signal: Int32) throws {
        let terminal = try started()
        terminal.send(signal)
        #expect(terminal.waitForEnd() == .killed(signal: signal))
        #expect(terminal.settings == terminal.settingsBefore)
        #expect(terminal.screen.modes == [7, 25])
    }

    @Test("SIGQUIT ends it at once, without a question of the runtime's on the terminal")
    func quit() throws {
        let terminal = try started(environment: ["SWIFT_BACKTRACE": "enable=yes,interactive=yes"])
        terminal.send(SIGQUIT)
        #expect(terminal.waitForEnd() == .killed(signal: SIGQUIT))
        #expect(terminal.settings == terminal.settingsBefore)
        #expect(terminal.screen.row(containing: "backtrace") == nil)
    }

    @Test("a crash gives the terminal back, and is one", arguments: crashes)
    func crash(signal: Int32) throws {
        let terminal = try started()
        terminal.send(signal)
        #expect(terminal.waitForEnd() == .killed(signal: signal))
        #expect(terminal.settings == terminal.settingsBefore)
        #expect(terminal.screen.modes == [7, 25])
    }
}
