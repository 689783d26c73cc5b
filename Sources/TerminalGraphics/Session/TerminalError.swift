/// Why a terminal cannot be used.
public enum TerminalError: Error, Sendable, Hashable {
    /// There is no terminal at the path: the process has none, or it is something else.
    case notATerminal(path: String)
    /// The terminal is gone: its window was closed or the connection broke.
    case closed
    /// A call of the system failed with an error number.
    case system(call: String, number: Int32)
}
