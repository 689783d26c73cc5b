import FoundationEssentials
import TestSupport
import Testing

/// The browser in a tmux of 80 x 24 that nobody is attached to, as a person would see it there.
@Suite("The browser in tmux", .timeLimit(.minutes(3)))
struct TmuxTests {
    private static let isInstalled = ["/usr/bin", "/usr/local/bin"].contains {
        FileManager.default.isExecutableFile(atPath: $0 + "/tmux")
    }

    @Test(
        "moves, opens a film and closes it, and leaves the shell's screen as it was",
        .enabled(if: isInstalled, "tmux is not installed"))
    func session() async throws {
        let tmux = try await Tmux()
        do {
            try await visit(tmux)
        } catch {
            // The server must not outlive the test; why the test failed matters more than how ending it went.
            try? await tmux.end()
            throw error
        }
        try await tmux.end()
    }

    private func visit(_ tmux: Tmux) async throws {
        try await tmux.shows { $0.contains("the shell's own line") }
        try await tmux.type("\"$MARQUEE\"", "Enter")
        try await tmux.shows {
            $0.contains("1/36") && $0.contains("A Trip to the Moon") && $0.contains("visible")
        }
        try await tmux.type("j", "Down")
        try await tmux.shows { $0.contains("3/36") }
        try await tmux.type("Enter")
        try await tmux.shows { $0.contains("12 minutes") && !$0.contains("The Great Train Robbery") }
        try await tmux.shows { $0.contains("▀") || $0.contains("▌") || $0.contains("▅") }
        try await tmux.type("Escape")
        try await tmux.shows { $0.contains("The Great Train Robbery") && !$0.contains("12 minutes") }
        try await tmux.type("q")
        let left = try await tmux.shows { $0.contains("ended with 0") }
        #expect(left.contains("the shell's own line") && !left.contains("visible"))
    }
}

/// A tmux server of its own with one shell in it.
private struct Tmux {
    struct NeverShown: Error { let screen: String }

    private let home: TemporaryFolder
    private let environment: [String: String]

    init() async throws {
        home = try TemporaryFolder()
        environment = [
            "HOME": home.path, "XDG_CACHE_HOME": home.path, "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh",
        ]
        // The shell says how the program it is told to run ended.
        let shell =
            "echo \"the shell's own line\"; read -r line; eval \"$line\"; echo \"ended with $?\"; read -r line"
        try Data(shell.utf8).write(to: URL(filePath: home.file("shell.sh")))
        try await run("new-session -d -x 80 -y 24 \"MARQUEE='$MARQUEE' sh $HOME/shell.sh\"")
    }

    func type(_ keys: String...) async throws {
        for key in keys { try await run("send-keys -- '\(key)'") }
    }

    /// The screen once it is as wanted.
    @discardableResult
    func shows(_ isWanted: (String) -> Bool) async throws -> String {
        let deadline = ContinuousClock.now + .seconds(100)
        var screen = ""
        repeat {
            screen = try await run("capture-pane -p").text
            if isWanted(screen) { return screen }
        } while ContinuousClock.now < deadline
        throw NeverShown(screen: screen)
    }

    func end() async throws { try await run("kill-server") }

    @discardableResult
    private func run(_ command: String) async throws -> Program.Outcome {
        try await Program.shell(
            "exec tmux -u -f /dev/null -S \"$HOME/tmux\" \(command)", environment: environment)
    }
}
