@testable import TerminalGraphics

extension CellGrid {
    /// Changes the colours and attributes of a rectangle's cells, and keeps their text.
    mutating func restyle(_ rectangle: CellRectangle, _ change: (inout CellStyle) -> Void) {
        let area = rectangle.clipped(to: bounds)
        for row in area.rows {
            for column in area.columns { change(&cells[row * size.columns + column].style) }
        }
    }
}
