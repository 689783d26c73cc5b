internal import FoundationEssentials

/// Copies text by OSC 52, which xterm, kitty, iTerm2, foot, WezTerm and others support (xterm's ctlseqs, "Manipulate
/// Selection Data"). The text is in base64.
///
///     ESC ] 52 ; c ; aHR0cHM6Ly9leGFtcGxlLm9yZy8= ESC \
package enum TerminalClipboard {
    /// The most bytes of text: terminals accept about 100,000 of base64.
    package static let limit = 64 * 1024

    /// The sequence that copies a text; nil if the text is too long.
    ///
    /// tmux copies it itself if its option `set-clipboard` is `on`. Otherwise it passes the sequence on if
    /// `allow-passthrough` is on.
    /// - Parameter isInTmux: whether tmux is between the program and the terminal.
    package static func copying(_ text: String, isInTmux: Bool) -> [UInt8]? {
        guard text.utf8.count <= limit else { return nil }
        let data = Data(text.utf8).base64EncodedString()
        let sequence = Array("\u{1B}]52;c;\(data)\u{1B}\\".utf8)
        return isInTmux ? sequence + TmuxPassthrough.wrapped(sequence) : sequence
    }
}
