internal import FoundationEssentials

/// Copying by OSC 52, which xterm, kitty, iTerm2, foot, WezTerm and others take (xterm's ctlseqs, "Manipulate Selection
/// Data"): the text in base64.
///
///     ESC ] 52 ; c ; aHR0cHM6Ly9leGFtcGxlLm9yZy8= ESC \
package enum TerminalClipboard {
    /// Bytes of a text that is copied at most: terminals take some 100,000 of base64.
    package static let limit = 64 * 1024

    /// What makes the terminal copy a text; nil for one that is too long.
    ///
    /// tmux takes it itself where its option `set-clipboard` is `on`, and else hands it to the terminal around it where
    /// `allow-passthrough` is on.
    /// - Parameter isInTmux: whether tmux is between the program and the terminal.
    package static func copying(_ text: String, isInTmux: Bool) -> [UInt8]? {
        guard text.utf8.count <= limit else { return nil }
        let data = Data(text.utf8).base64EncodedString()
        let sequence = Array("\u{1B}]52;c;\(data)\u{1B}\\".utf8)
        return isInTmux ? sequence + TmuxPassthrough.wrapped(sequence) : sequence
    }
}
