import FoundationEssentials
import Glibc
import TerminalGraphics

/// The program's terminal, as far as plain output needs it.
enum Terminal {
    /// The width of standard output's terminal in cells; nil if there is none.
    static var width: Int? { width(of: STDOUT_FILENO) }

    /// The width of a descriptor's terminal in cells; nil if there is none, or it does not tell.
    static func width(of descriptor: Int32) -> Int? { TerminalSize(of: descriptor)?.cells.columns }

    /// The size of standard output's terminal; nil if there is none, or it does not tell.
    static var size: TerminalSize? { TerminalSize(of: STDOUT_FILENO) }

    /// Whether tmux is between the program and the terminal.
    static var isInTmux: Bool { !(ProcessInfo.processInfo.environment["TMUX"] ?? "").isEmpty }

    /// Whether the terminal is Konsole, which sets a variable for its programs.
    static var isKonsole: Bool { ProcessInfo.processInfo.environment["KONSOLE_VERSION"] != nil }

    /// Whether the terminal may be asked for its features: it is a person's.
    static var canBeAsked: Bool {
        let term = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && !term.isEmpty && term != "dumb"
    }

    /// How long to wait for its answers.
    static var answerLimit: Duration {
        (ProcessInfo.processInfo.environment["SSH_CONNECTION"] ?? "").isEmpty ? .seconds(1) : .seconds(3)
    }

    /// Whether a descriptor leads to a terminal that shows no UTF-8 according to the locale (`LC_ALL=C`). All other
    /// output is UTF-8 in any locale.
    static func showsOnlyASCII(_ descriptor: Int32) -> Bool { !localeHasUTF8 && isatty(descriptor) == 1 }

    private static let localeHasUTF8 = hasUTF8(ProcessInfo.processInfo.environment)

    /// Whether the locale's variables say UTF-8: the first that is not empty decides (POSIX, section 8.2). Without any,
    /// UTF-8 is assumed.
    static func hasUTF8(_ environment: [String: String]) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        guard let locale = names.lazy.compactMap({ environment[$0] }).first(where: { !$0.isEmpty }) else {
            return true
        }
        let encoding = locale.lowercased()
        return encoding.contains("utf-8") || encoding.contains("utf8")
    }

    /// Whether the terminal is remote, over SSH; sshd sets a variable.
    static var isRemote: Bool { ProcessInfo.processInfo.environment["SSH_TTY"] != nil }

    /// Whether messages go to a person's terminal that can redraw a line.
    static var showsProgress: Bool {
        let term = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return isatty(STDERR_FILENO) == 1 && !term.isEmpty && term != "dumb"
    }
}
