/// Sequences that tmux passes to the terminal around it if its option `allow-passthrough` is on (tmux(1)): each in `ESC
/// P tmux ; ... ESC \` with every `ESC` doubled.
package enum TmuxPassthrough {
    private static let escape: UInt8 = 0x1B

    /// Wraps sequences that end with `ESC \` one by one, because tmux drops any longer than a mebibyte.
    package static func wrapped(_ sequences: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var start = 0
        for end in sequences.indices.dropFirst()
        where sequences[end] == UInt8(ascii: "\\") && sequences[end - 1] == escape {
            output += envelope(sequences[start...end])
            start = end + 1
        }
        return output
    }

    /// Wraps all bytes at once: complete sequences of at most a mebibyte in total.
    package static func envelope(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var output = Array("\u{1B}Ptmux;".utf8)
        for byte in bytes {
            if byte == escape { output.append(escape) }
            output.append(byte)
        }
        return output + Array("\u{1B}\\".utf8)
    }
}
