import Glibc

/// The terminal the program runs in, as far as plain output needs it.
enum Terminal {
    /// Its width in cells; nil if standard output is none.
    static var width: Int? {
        guard Output.isTerminal else { return nil }
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Whether messages go to a person.
    static var showsMessages: Bool { isatty(STDERR_FILENO) == 1 }
}
