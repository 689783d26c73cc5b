import TerminalGraphics

/// A piece of a line, in one style. The text is harmless already (`TerminalText.visible`).
struct StyledText: Equatable {
    var text: String
    var style: CellStyle

    init(_ text: String, _ style: CellStyle = CellStyle()) {
        self.text = text
        self.style = style
    }
}

extension [StyledText] {
    /// In cells.
    var width: Int { reduce(0) { $0 + TerminalText.width($1.text) } }

    /// Puts the pieces one after the other, cut to so many cells.
    func put(on grid: inout CellGrid, at position: CellPosition, width: Int, clip: CellRectangle? = nil) {
        var (position, room) = (position, width)
        for part in self where room > 0 {
            let text = TerminalText.truncated(part.text, toWidth: room)
            let taken = grid.put(text, at: position, style: part.style, clip: clip)
            position.column += taken
            room -= taken
        }
    }
}
