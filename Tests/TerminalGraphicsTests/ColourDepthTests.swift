import TerminalGraphics
import TestTraits
import Testing

@Suite("The colour depth of a terminal", .bounded)
struct ColourDepthTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let environment: [String: String]
        var choice = ColourChoice.auto
        var isTerminal = true
        let expected: ColourDepth

        var testDescription: String {
            let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return "\(variables.joined(separator: " ")) --color \(choice) terminal \(isTerminal)"
        }
    }

    private static let xterm256 = ["TERM": "xterm-256color"]
    private static let full = ["TERM": "xterm-256color", "COLORTERM": "truecolor"]

    private static let cases = [
        Case(environment: full, expected: .trueColour),
        Case(environment: ["TERM": "xterm", "COLORTERM": "24bit"], expected: .trueColour),
        Case(environment: xterm256, expected: .indexed256),
        Case(environment: ["TERM": "tmux-256color"], expected: .indexed256),
        Case(environment: ["TERM": "xterm"], expected: .indexed256),
        Case(environment: ["TERM": "screen"], expected: .indexed256),
        Case(environment: ["TERM": "rxvt"], expected: .ansi16),
        Case(environment: ["TERM": "xterm", "COLORTERM": "yes"], expected: .indexed256),
        Case(environment: ["TERM": "linux"], expected: .ansi16),
        Case(environment: ["TERM": "xterm-kitty"], expected: .trueColour),
        Case(environment: ["TERM": "xterm-direct"], expected: .trueColour),
        Case(environment: with(xterm256, "TERM_PROGRAM", "iTerm.app"), expected: .trueColour),
        Case(environment: ["TERM": "dumb", "COLORTERM": "truecolor"], expected: .none),
        Case(environment: [:], expected: .none),
        Case(environment: full, isTerminal: false, expected: .none),
        Case(environment: full, choice: .never, expected: .none),
        Case(environment: full, choice: .always, isTerminal: false, expected: .trueColour),
        Case(environment: ["TERM": "dumb"], choice: .always, expected: .ansi16),
        Case(environment: [:], choice: .always, isTerminal: false, expected: .ansi16),
        Case(environment: with(full, "NO_COLOR", "1"), expected: .none),
        Case(environment: with(full, "NO_COLOR", ""), expected: .trueColour),
        Case(environment: with(full, "NO_COLOR", "1"), choice: .always, expected: .trueColour),
        Case(environment: with(full, "NO_COLOR", "1", "CLICOLOR_FORCE", "1"), expected: .none),
        Case(environment: with(full, "NO_COLOR", "1", "FORCE_COLOR", "3"), expected: .none),
        Case(environment: with(xterm256, "CLICOLOR_FORCE", "1"), isTerminal: false, expected: .indexed256),
        Case(environment: with(xterm256, "CLICOLOR_FORCE", "0"), isTerminal: false, expected: .none),
        Case(environment: ["CLICOLOR_FORCE": "1"], isTerminal: false, expected: .ansi16),
        Case(environment: ["FORCE_COLOR": "1"], isTerminal: false, expected: .ansi16),
        Case(environment: ["FORCE_COLOR": "2"], isTerminal: false, expected: .indexed256),
        Case(environment: ["FORCE_COLOR": "3"], isTerminal: false, expected: .trueColour),
        Case(environment: ["FORCE_COLOR": "3", "TERM": "dumb"], expected: .trueColour),
        Case(environment: with(full, "FORCE_COLOR", "0"), expected: .none),
        Case(environment: with(full, "FORCE_COLOR", ""), isTerminal: false, expected: .none),
        Case(environment: with(full, "CLICOLOR", "0"), expected: .none),
    ]

    private static func with(_ base: [String: String], _ added: String...) -> [String: String] {
        var result = base
        for index in stride(from: 0, to: added.count, by: 2) { result[added[index]] = added[index + 1] }
        return result
    }

    @Test(
        "the user's choice goes first, then NO_COLOR, then variables that force colours, then the terminal",
        arguments: cases)
    func decisions(given: Case) {
        let depth = ColourDepth.decided(
            by: given.choice, environment: given.environment, isTerminal: given.isTerminal)
        #expect(depth == given.expected)
    }
}
