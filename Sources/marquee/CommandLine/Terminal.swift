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

    /// Whether messages go to a person's terminal that can redraw a line.
    static var showsProgress: Bool {
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }
}
