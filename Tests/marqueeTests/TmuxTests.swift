import FoundationEssentials
import TestSupport
import TestTraits
import Testing

/// The browser in a detached tmux.
@Suite("The browser in tmux", .bounded)
struct TmuxTests {
    @Test(
        "moves, opens and closes a film, and leaves the shell's screen unchanged",
        .enabled(if: Shell.has("tmux"), "tmux is not installed"))
    func session() async throws {
        try await inTmux(columns: 80, rows: 24, visit)
    }

    @Test(
        "a large window has the selected film beside the list, with its poster",
        .enabled(if: Shell.has("tmux"), "tmux is not installed"))
    func large() async throws {
        try await inTmux(columns: 200, rows: 60, visitLarge)
    }

    @Test(
        "a family of four emoji keeps its members, and the text behind it stays in its place",
        .enabled(if: Shell.has("tmux"), "tmux is not installed"))
    func family() async throws {
        let film = #"[{"id":"a","title":"The 👨\u200D👩\u200D👧\u200D👦 film","year":1920,"director":"Someone"}]"#
        try await inTmux(columns: 80, rows: 24) { tmux in
            try tmux.write(film, to: "family.json")
            try await tmux.shows { $0.contains("the shell's own line") }
            try await tmux.type("\"$MARQUEE\" family.json", "Enter")
            let screen = try await tmux.shows {
                $0.contains("1/1") && $0.contains("The 👨") && $0.contains("? help")
            }
            #expect(screen.contains("The 👨👩👧👦 film  Someone"), "\(screen)")
            // Filtering ignores the joiners.
            try await tmux.type("/👨👩👧👦")
            try await tmux.shows { $0.contains("/👨👩👧👦") && $0.contains("1/1") }
            try await tmux.type("Enter", "q")
            try await tmux.shows { $0.contains("ended with 0") }
        }
    }

    private func inTmux(columns: Int, rows: Int, _ visit: (Tmux) async throws -> Void) async throws {
        let tmux = try await Tmux(columns: columns, rows: rows)
        do {
            try await visit(tmux)
        } catch {
            // Ignored: the server must not outlive the test, whose own failure matters
            // more.
            try? await tmux.end()
            throw error
        }
        try await tmux.end()
    }

    private func visit(_ tmux: Tmux) async throws {
        try await tmux.shows { $0.contains("the shell's own line") }
        try await tmux.type("\"$MARQUEE\"", "Enter")
        try await tmux.shows {
            $0.contains("1/36") && $0.contains("A Trip to the Moon") && $0.contains("? help")
        }
        try await tmux.type("j", "Down")
        try await tmux.shows { $0.contains("3/36") }
        try await tmux.type("Enter")
        try await tmux.shows { $0.contains("12 minutes") && !$0.contains("A Trip to the Moon") }
        try await tmux.shows { $0.contains("▀") || $0.contains("▌") || $0.contains("▅") }
        try await tmux.type("Escape")
        try await tmux.shows { $0.contains("A Trip to the Moon") && !$0.contains("12 minutes") }
        try await tmux.type("q")
        let left = try await tmux.shows { $0.contains("ended with 0") }
        #expect(left.contains("the shell's own line") && !left.contains("? help"))
    }

    private func visitLarge(_ tmux: Tmux) async throws {
        try await tmux.shows { $0.contains("the shell's own line") }
        try await tmux.type("\"$MARQUEE\"", "Enter")
        func isDrawn(_ screen: String) -> Bool {
            // Right of the list, in the middle of the large poster, and nothing is left of its frame.
            let lines = screen.split(separator: "\n", omittingEmptySubsequences: false)
            return lines.count > 30
                && lines[25].dropFirst(90).prefix(40).contains { "▀▄▌▐█▅▂▖▗▘▝▊▋▎".contains($0) }
                && !screen.contains("╭")
        }
        try await tmux.shows { $0.contains("1/36") && $0.contains("15 minutes") && isDrawn($0) }
        try await tmux.type("j")
        let second = try await tmux.shows {
            $0.contains("2/36") && $0.contains("12 minutes") && isDrawn($0)
        }
        #expect(second.contains("A Trip to the Moon") && second.contains("The Great Train Robbery"))
        try await tmux.type("Enter")
        try await tmux.shows { !$0.contains("Les Vampires") && !$0.contains("╭") }
        try await tmux.type("Escape")
        // The page names its neighbours, the list only this film. A key directly after Escape would count as
        // Alt.
        try await tmux.shows { $0.contains("Les Vampires") && isDrawn($0) }
        try await tmux.type("q")
        let left = try await tmux.shows { $0.contains("ended with 0") }
        #expect(left.contains("the shell's own line") && !left.contains("? help"))
    }
}

/// A separate tmux server with one shell.
private struct Tmux {
    struct NeverShown: Error { let screen: String }

    private let sample: SmallSample
    private var home: TemporaryFolder { sample.folder }
    private let environment: [String: String]

    init(columns: Int, rows: Int) async throws {
        sample = try SmallSample()
        let home = sample.folder
        environment = [
            "HOME": home.path, "XDG_CACHE_HOME": home.path, "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh",
        ]
        // The shell prints the status of the program it ran.
        let shell =
            "cd \"$HOME\"; echo \"the shell's own line\"; read -r line; eval \"$line\"; echo \"ended with $?\"; read -r line"
        try home.write(shell, to: "shell.sh")
        try await run("new-session -d -x \(columns) -y \(rows) -e MARQUEE=\"$MARQUEE\" \"sh $HOME/shell.sh\"")
    }

    func write(_ text: String, to name: String) throws {
        try home.write(text, to: name)
    }

    func type(_ keys: String...) async throws {
        for key in keys { try await run("send-keys -- '\(key)'") }
    }

    /// The screen, once it satisfies the condition.
    @discardableResult
    func shows(_ isWanted: (String) -> Bool) async throws -> String {
        var screen = ""
        do {
            try await eventually {
                screen = try await run("capture-pane -p").text
                return isWanted(screen)
            }
        } catch is CancellationError {
            throw NeverShown(screen: screen)
        }
        return screen
    }

    func end() async throws { try await run("kill-server") }

    @discardableResult
    private func run(_ command: String) async throws -> Program.Outcome {
        try await Program.shell(
            "exec tmux -u -f /dev/null -S \"$HOME/tmux\" \(command)", environment: environment)
    }
}
