/// What a full-screen program switches on in a terminal, and how it switches it off again.
public struct TerminalModes: Sendable, Hashable {
    /// The bytes that switch the modes on.
    public let enter: [UInt8]
    /// The bytes that undo them, in reverse; they also end a frame that was cut off, and its colours.
    public let leave: [UInt8]

    /// The alternate screen without a cursor, mouse clicks and wheel with SGR reports, bracketed paste.
    public static let fullScreen = TerminalModes(on: [1049, 1000, 1006, 2004], off: [25])

    /// Reading answers and keys, and nothing else.
    public static let plain = TerminalModes(on: [], off: [])

    /// DEC private modes, by number, to switch on and off.
    private init(on: [Int], off: [Int]) {
        let onText = on.map { "\u{1B}[?\($0)h" }
        let offText = off.map { "\u{1B}[?\($0)l" }
        enter = Array((onText.prefix(1) + offText + onText.dropFirst()).joined().utf8)
        let undoneOn = on.map { "\u{1B}[?\($0)l" }
        let undoneOff = off.map { "\u{1B}[?\($0)h" }
        let undone = (undoneOn.prefix(1) + undoneOff + undoneOn.dropFirst()).reversed()
        leave = on.isEmpty && off.isEmpty ? [] : Array(("\u{1B}[?2026l\u{1B}[m" + undone.joined()).utf8)
    }
}
