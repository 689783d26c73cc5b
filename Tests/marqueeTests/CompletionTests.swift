import TestSupport
import TestTraits
import Testing

@testable import marquee

@Suite("Completion of command lines", .bounded)
struct CompletionTests {
    @Test(
        "completes options of the command and common ones, without those already used",
        arguments: [
            (["list", "--so"], ["--sort"]), (["list", "--top", "3", "--to"], []),
            (["list", "--top=3", "--to"], []),
            (["fetch", "-o", "x", "--outp"], []), (["list", "--header", "a: b", "--head"], ["--header"]),
            (["list", "--quie"], ["--quiet"]), (["list", "--", "--quie"], []),
            (["f.json", "--so"], ["--sort"]), (["cache", "info", ""], []),
        ])
    func options(words: [String], expected: [String]) {
        #expect(Completion(words).candidates.map(\.text) == expected)
    }
}

/// Completion in real shells.
@Suite("Completion in shells", .bounded, .ownThread)
struct CompletionShellTests {
    /// A shell, and its set-up of completion.
    struct CompletingShell: Sendable, CustomTestStringConvertible {
        let path: String
        let arguments: [String]
        let setup: String
        var testDescription: String { path }
        var isInstalled: Bool { Shell.has(path) }
    }

    private static let all = [
        CompletingShell(
            path: "/bin/bash", arguments: ["--norc", "--noprofile", "-i"],
            setup: #"eval "$(marquee completions bash)""#),
        CompletingShell(
            path: "/usr/bin/zsh", arguments: ["-f", "-i"],
            setup: #"autoload -U compinit; compinit -u -D; eval "$(marquee completions zsh)""#),
        CompletingShell(
            path: "/usr/bin/fish", arguments: ["--no-config", "-i"],
            setup: "marquee completions fish | source"),
    ]

    @Test(
        "completes a command, a film, a value and a file",
        .enabled(if: all.allSatisfy(\.isInstalled), "needs bash, zsh and fish"), arguments: all)
    func completes(shell: CompletingShell) throws {
        let folder = try TemporaryFolder()
        try folder.write(program: "", to: "films with space.json")
        let terminal = try PseudoTerminal(
            shell.path, shell.arguments,
            environment: [
                "PATH": "\(BuiltProgram.folder):/usr/bin:/bin", "HOME": folder.path,
                "XDG_CACHE_HOME": folder.path,
                "TERM": "xterm-256color",
                // Otherwise fish finds no program in a folder whose name is not ASCII.
                "LC_ALL": "C.UTF-8",
            ], columns: 160)
        try terminal.type("cd \(folder.path); \(shell.setup); echo rea''dy\r") {
            $0.row(containing: "ready") != nil
        }
        for (typed, whole) in [
            ("marquee prew", "marquee prewarm"), ("marquee show metr", "marquee show metropolis"),
            ("marquee list --graphics ki", "marquee list --graphics kitty"),
            ("marquee list --graphics=si", "marquee list --graphics=sixel"),
            ("marquee list --catalogue fil", #"films\ with\ space.json"#),
        ] {
            terminal.type(typed + "\t")
            #expect(terminal.waits { $0.row(containing: whole) != nil }, "\(typed): \(terminal.screen.rows)")
            terminal.type("\u{5}\u{15}")
        }
        terminal.type("\rexit\r")
        _ = terminal.waitForEnd()
    }
}

@Suite("The manual page", .bounded)
struct ManualPageTests {
    @Test("mandoc finds no fault", .enabled(if: Shell.has("mandoc"), "needs mandoc"))
    func lint() {
        let program = Shell.quoted(BuiltProgram.path("marquee"))
        #expect(Shell.output("\(program) man | mandoc -Tlint 2>&1") == "")
    }

    @Test(
        "the page has every command, option, variable and status",
        .enabled(if: Shell.has("mandoc"), "needs mandoc"))
    func whole() {
        let program = Shell.quoted(BuiltProgram.path("marquee"))
        let page = Shell.output("\(program) man | mandoc -Tutf8 -O width=400 | col -b")
        // A line may break anywhere, and two spaces end a sentence.
        let words = spaced(page)
        for command in CommandSpecification.all {
            #expect(page.contains("\n   \(command.name)"), "\(command.name)")
            for option in command.options { #expect(page.contains("--\(option.name)"), "\(option.name)") }
            for note in command.notes {
                let start = note.prefix { $0 != "." }
                #expect(words.contains(spaced(String(start))), "\(start)")
            }
        }
        for option in CommandSpecification.global {
            #expect(words.contains(spaced(option.help)), "\(option.name)")
        }
        for variable in Help.environment { #expect(page.contains(variable.name)) }
    }

    private func spaced(_ text: String) -> String { text.split { $0.isWhitespace }.joined(separator: " ") }
}
