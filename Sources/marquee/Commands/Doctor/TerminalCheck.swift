import FoundationEssentials
import Glibc
import TerminalGraphics

/// The terminal's answers, and what follows from them.
enum TerminalCheck {
    static func findings(_ settings: Settings) async -> [Finding] {
        let term = ProcessInfo.processInfo.environment["TERM"] ?? ""
        guard isatty(STDIN_FILENO) == 1, !term.isEmpty else {
            return [Finding("terminal", "none; marquee lists films and draws no pictures")]
        }
        guard term != "dumb" else {
            return [
                Finding("terminal", .warning, "TERM is dumb", advice: "set TERM to the terminal's type")
            ]
        }
        let answers = await TerminalInquiry.answers(isInTmux: Terminal.isInTmux, limit: Terminal.answerLimit)
        return findings(answers ?? TerminalAnswers(), settings, isInTmux: Terminal.isInTmux)
    }

    static func findings(_ answers: TerminalAnswers, _ settings: Settings, isInTmux: Bool) -> [Finding] {
        let name = [answers.name, answers.version.map(String.init).joined(separator: ".")]
            .compactMap { $0?.isEmpty == true ? nil : $0 }.joined(separator: " ")
        var findings: [Finding] = []
        let called = TerminalText.visible(name.isEmpty ? "an unnamed terminal" : name)
        if answers.isComplete || isInTmux {
            findings.append(Finding("terminal", isInTmux && name.isEmpty ? "tmux" : called))
        } else {
            findings.append(
                Finding(
                    "terminal", .warning, "it did not answer in time",
                    advice: "choose a protocol with --graphics if pictures are coarse"))
        }
        let mode = answers.graphics
        let depth = answers.showsTrueColour ? ColourDepth.trueColour : settings.colourDepth
        let cell = answers.cell.map { ", cells of \($0.width)x\($0.height) pixels" } ?? ""
        findings.append(
            Finding("pictures", (mode.map { "in pixels, by \($0.rawValue)" } ?? "in block characters") + cell)
        )
        findings.append(colours(depth))
        if isInTmux, mode == nil, !answers.isComplete {
            findings.append(
                Finding(
                    "tmux", .warning, "it passes no pictures through to the terminal",
                    advice: "add this to ~/.tmux.conf: set -g allow-passthrough on"))
        }
        return findings
    }

    private static func colours(_ depth: ColourDepth) -> Finding {
        switch depth {
        case .trueColour: Finding("colours", "24 bits")
        case .indexed256:
            Finding(
                "colours", .warning, "256", advice: "set COLORTERM=truecolor if the terminal has more")
        case .ansi16:
            Finding("colours", .warning, "16", advice: "set TERM=xterm-256color if the terminal has more")
        case .none: Finding("colours", "none (because of --color, NO_COLOR or TERM)")
        }
    }
}
