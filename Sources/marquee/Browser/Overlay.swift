import LazyImages
import TerminalGraphics

/// What covers the films for a while.
enum Overlay: Sendable {
    case help
    /// An address is being typed in the title line.
    case address(LineEditor)
    /// An address loads; the title line shows it, dim.
    case opening(String)
    /// The picture of an address.
    case picture(LoadedImage, of: String)
    /// The answer of an address that has no picture.
    case answer(AnswerText)

    /// Whether it hides the films.
    var hidesFilms: Bool {
        switch self {
        case .help, .picture, .answer: true
        case .address, .opening: false
        }
    }
}

extension BrowserState {
    var isHelpShown: Bool { if case .help = overlay { true } else { false } }

    /// Whether an address loads.
    var isOpening: Bool { if case .opening = overlay { true } else { false } }

    /// Shows the content of an address.
    mutating func show(_ overlay: Overlay) {
        self.overlay = overlay
        overlayTop = 0
    }

    mutating func handleOverlayKey(_ key: TerminalKey, _ overlay: Overlay) -> [Effect] {
        switch overlay {
        case .help, .answer:
            if let movement = Movement(key), scrollText(by: movement) { return [] }
            self.overlay = nil
        case .picture: self.overlay = nil
        case .opening:
            guard [.escape, .character("q")].contains(key.code) else { return [] }
            self.overlay = nil
            return [.stopOpening]
        case .address(let editor): return handleAddressKey(key, editor)
        }
        return []
    }

    private mutating func handleAddressKey(_ key: TerminalKey, _ editor: LineEditor) -> [Effect] {
        var editor = editor
        switch key.code {
        case .enter:
            if editor.text.contains(where: { $0 != " " }) { return [.open(editor.text)] }
            overlay = nil
        case .escape: overlay = nil
        case .backspace where editor.text.isEmpty: overlay = nil
        default:
            if editor.take(key) { overlay = .address(editor) }
        }
        return []
    }
}
