import FoundationEssentials
import Glibc

/// The terminal the program runs in, as far as plain output needs it.
enum Terminal {
    /// The width in cells of the terminal that standard output goes to; nil if it goes to none.
    static var width: Int? { width(of: STDOUT_FILENO) }

    /// The width in cells of the terminal behind a descriptor; nil if there is none, or it does not say.
    static func width(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard isatty(descriptor) == 1, unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0
        else { return nil }
        return Int(size.ws_col)
    }

    /// Whether the terminal's encoding is UTF-8, by the first of the three variables that is set (POSIX 8.2).
    static var isUnicode: Bool {
        let environment = ProcessInfo.processInfo.environment
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        let name = locale?.lowercased() ?? ""
        return name.contains("utf-8") || name.contains("utf8")
    }

    /// Whether messages go to a person's terminal that can redraw a line.
    static var showsProgress: Bool {
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }
}
