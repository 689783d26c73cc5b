/// An event from the terminal.
public enum TerminalEvent: Sendable, Hashable {
    /// A key was pressed.
    case key(TerminalKey)
    /// The wheel turned one notch, up towards the beginning or down.
    case wheel(WheelDirection, at: CellPosition)
    /// The first mouse button was pressed on a cell.
    case click(at: CellPosition)
    /// Text was pasted, unfiltered: make it visible before showing it.
    case paste(String)
    /// A complete answer to a query, from `ESC` to its end. Ignore unexpected ones.
    case answer([UInt8])
    /// The window changed its size.
    case resized
    /// SIGTSTP asks the process to stop.
    case stopRequested
    /// The process continues after a stop (SIGCONT); the screen's content is unknown.
    case continued
    /// The terminal is gone.
    case closed

    /// The direction of the wheel.
    public enum WheelDirection: Sendable, Hashable {
        case up, down
    }
}

/// A key with its modifiers.
public struct TerminalKey: Sendable, Hashable {
    /// The key; letters as typed, so that Shift shows in the letter.
    public let code: Code
    /// The modifiers, as far as the terminal tells.
    public let modifiers: Modifiers

    /// Creates a key, by default without modifiers.
    public init(_ code: Code, _ modifiers: Modifiers = []) {
        self.code = code
        self.modifiers = modifiers
    }

    /// The keys that terminals report.
    public enum Code: Sendable, Hashable {
        case character(Character)
        case up, down, left, right
        case home, end, pageUp, pageDown
        case enter, escape, tab, backspace, delete, insert
        /// A function key, from F1.
        case function(Int)
    }

    /// Modifier keys.
    public struct Modifiers: OptionSet, Sendable, Hashable {
        /// One bit per modifier: xterm's parameter minus 1.
        public let rawValue: UInt8

        /// Modifiers from their bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Shift, if it does not show in the character.
        public static let shift = Modifiers(rawValue: 1)
        /// Alt, which terminals also send as `ESC` before the key.
        public static let alt = Modifiers(rawValue: 2)
        /// Control.
        public static let control = Modifiers(rawValue: 4)
    }
}
