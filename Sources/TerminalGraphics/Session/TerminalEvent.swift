/// What reaches a program from its terminal.
public enum TerminalEvent: Sendable, Hashable {
    /// A key was pressed.
    case key(TerminalKey)
    /// The wheel was turned: one notch, up towards the beginning or down.
    case wheel(WheelDirection, at: CellPosition)
    /// The mouse's first button was pressed on a cell.
    case click(at: CellPosition)
    /// Text was pasted: as it came, so it has to be made visible before it is shown.
    case paste(String)
    /// The answer to a query, whole, from `ESC` to its end. Who asked nothing takes no notice of it.
    case answer([UInt8])
    /// The window has another size.
    case resized
    /// The process is asked to stop (SIGTSTP).
    case stopRequested
    /// The process goes on after a stop (SIGCONT); what is on the screen is unknown.
    case continued
    /// The terminal is gone.
    case closed

    /// Which way the wheel was turned.
    public enum WheelDirection: Sendable, Hashable {
        case up, down
    }
}

/// A key with the modifiers that were held.
public struct TerminalKey: Sendable, Hashable {
    /// Which key; letters as they are typed, so that Shift shows in the letter.
    public let code: Code
    /// What was held with it, as far as terminals tell.
    public let modifiers: Modifiers

    /// A key, by default without modifiers.
    public init(_ code: Code, _ modifiers: Modifiers = []) {
        self.code = code
        self.modifiers = modifiers
    }

    /// The keys terminals report.
    public enum Code: Sendable, Hashable {
        case character(Character)
        case up, down, left, right
        case home, end, pageUp, pageDown
        case enter, escape, tab, backspace, delete, insert
        /// F1 and up.
        case function(Int)
    }

    /// Keys held with another.
    public struct Modifiers: OptionSet, Sendable, Hashable {
        /// One bit a modifier, as in xterm's parameter less 1.
        public let rawValue: UInt8

        /// Modifiers from their bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Shift, where it does not show in the character.
        public static let shift = Modifiers(rawValue: 1)
        /// Alt, also sent as `ESC` before the key.
        public static let alt = Modifiers(rawValue: 2)
        /// Control.
        public static let control = Modifiers(rawValue: 4)
    }
}
