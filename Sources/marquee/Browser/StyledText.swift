import TerminalGraphics

/// A piece of a line in one style. The text is safe for a terminal already (`TerminalText.visible`).
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

    /// Puts the pieces side by side, cut to this width in cells.
    func put(on grid: inout CellGrid, at position: CellPosition, width: Int, clip: CellRectangle? = nil) {
        var (position, room) = (position, width)
        for (index, part) in enumerated() where room > 0 {
            // If the next piece has no room, this one shows that the text is cut.
            let isLast = self[(index + 1)...].allSatisfy { $0.text.isEmpty }
            let isCut = !isLast && TerminalText.width(part.text) >= room
            let text = TerminalText.truncated(part.text + (isCut ? " " : ""), toWidth: room)
            let taken = grid.put(text, at: position, style: part.style, clip: clip)
            position.column += taken
            room -= taken
        }
    }
}
