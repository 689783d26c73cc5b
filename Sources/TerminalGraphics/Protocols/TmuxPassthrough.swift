/// Sequences that tmux passes to the terminal around it if its option `allow-passthrough` is on (tmux(1)): each in `ESC
/// P tmux ; ... ESC \` with every `ESC` doubled.
package enum TmuxPassthrough {
    private static let escape: UInt8 = 0x1B

    /// Wraps sequences that end with `ESC \` one by one, because tmux drops any longer than a mebibyte.
    package static func wrapped(_ sequences: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var isInside = false
        var previous: UInt8 = 0
        for byte in sequences {
            if !isInside { output += Array("\u{1B}Ptmux;".utf8) }
            isInside = true
            output.append(byte)
            if byte == escape { output.append(byte) }
            if previous == escape, byte == UInt8(ascii: "\\") {
                output += Array("\u{1B}\\".utf8)
                isInside = false
            }
            previous = byte
        }
        return output
    }

    /// Wraps all bytes at once: complete sequences of at most a mebibyte in total.
    package static func envelope(_ bytes: [UInt8]) -> [UInt8] {
        Array("\u{1B}Ptmux;".utf8) + bytes.flatMap { $0 == escape ? [$0, $0] : [$0] } + Array("\u{1B}\\".utf8)
    }
}
