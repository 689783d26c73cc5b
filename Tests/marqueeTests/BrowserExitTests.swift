import Glibc
import TestSupport
import TestTraits
import Testing

/// However the browser ends, it restores the terminal.
@Suite("The browser's exit", .bounded, .ownThread)
struct BrowserExitTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func started(environment: [String: String] = [:]) throws -> PseudoTerminal {
        try .browser([], in: folder, environment: environment, showing: "A Trip to the Moon")
    }

    #if THREAD_SANITIZER
        // The sanitizer handles fault signals itself, even during its own work, which can block the program
        // or end it differently.
        private static let crashes = [SIGQUIT]
        private static let faults: [Int32] = []
    #else
        private static let crashes = [SIGQUIT, SIGILL, SIGABRT, SIGSEGV, SIGTRAP, SIGBUS, SIGFPE]
        private static let faults = [SIGSYS]
    #endif

    /// Signals that end a program without being crashes: named and real-time ones.
    private static let others =
        [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR, SIGSTKFLT, 34, 50, 64]
        + faults

    @Test(
        "q, Ctrl-C, SIGTERM, SIGHUP and SIGINT restore the terminal", arguments: ["q", "\u{3}"],
        [0, SIGTERM, SIGHUP, SIGINT])
    func waysOut(key: String, signal: Int32) throws {
        let terminal = try started()
        #expect(!terminal.settings.isCooked)
        if signal == 0 { terminal.type(key) } else { terminal.send(signal) }
        let end = terminal.waitForEnd()
        #expect(end == (signal == SIGINT ? .killed(signal: SIGINT) : .exited(signal == 0 ? 0 : 128 + signal)))
        #expect(terminal.settings == terminal.settingsBefore)
        #expect(terminal.screen.modes == [7, 25])
    }

    @Test(
        "the browser ends when its terminal is closed, also during a glide, and whether or not SIGHUP is ignored",
        arguments: ["", "trap '' HUP; "], ["", "G"])
    func hangUp(shell: String, keys: String) throws {
        let terminal = try PseudoTerminal(
            "/bin/sh", ["-c", shell + "exec \"$MARQUEE\""],
            environment: ["XDG_CACHE_HOME": folder.path, "MARQUEE": BuiltProgram.path("marquee")])
        try #require(terminal.waits { $0.text(ofRow: 2).contains("A Trip to the Moon") })
        terminal.type(keys)
        terminal.hangUp()
        let end = terminal.waitForEnd()
        // SIGHUP, unless it is ignored, and the end of the input come at the same time.
        #expect(end == .exited(0) || shell.isEmpty && end == .exited(128 + SIGHUP))
    }

    @Test(
        "every other signal that ends a program restores the terminal, also a crash",
        arguments: others + crashes)
    func otherSignals(signal: Int32) throws {
        let terminal = try started()
        terminal.send(signal)
        #expect(terminal.waitForEnd() == .killed(signal: signal))
        #expect(terminal.settings == terminal.settingsBefore)
        #expect(terminal.screen.modes == [7, 25])
    }

    @Test("SIGQUIT ends the browser at once, without a prompt of the Swift runtime")
    func quit() throws {
        let terminal = try started(environment: ["SWIFT_BACKTRACE": "enable=yes,interactive=yes"])
        terminal.send(SIGQUIT)
        #expect(terminal.waitForEnd() == .killed(signal: SIGQUIT))
        #expect(terminal.settings == terminal.settingsBefore)
        #expect(terminal.screen.row(containing: "backtrace") == nil)
    }
}
