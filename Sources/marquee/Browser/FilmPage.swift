import TerminalGraphics

/// The place of one film in full: its poster, and beside it all facts of the catalogue. It has a page of its own, or
/// stands beside the list. Poster and text are one block in the middle of their area.
struct FilmPage: Equatable {
    /// The widest text that is easy to read, in columns.
    private static let widestText = 72
    /// The fewest columns of the text, where the window has as many.
    private static let narrowestText = 34
    /// The columns between poster and text.
    private static let gap = 3

    /// The poster's cells: as large as fits beside the text.
    let poster: CellRectangle
    /// The cells of the text.
    let text: CellRectangle

    /// - Parameters:
    ///   - isAlone: whether nothing stands beside it. A poster kept small by the window's width is then in the middle
    ///     of the height.
    ///   - hasPoster: whether a poster has room.
    init(in area: CellRectangle, cellAspect: Double, isAlone: Bool, hasPoster: Bool = true) {
        let gap = hasPoster ? Self.gap : 0
        let width = max(0, area.size.columns - 2 * BrowserLayout.margin - gap)
        let columns = max(width * 2 / 5, width - Self.narrowestText)
        let size = CellSize(columns: hasPoster ? columns : 0, rows: area.size.rows)
            .fitting(imageWidth: 2, imageHeight: 3, cellAspect: cellAspect)
        let words = max(0, min(width - size.columns, Self.widestText))
        let left = area.origin.column + BrowserLayout.margin + (width - size.columns - words) / 2
        let top = area.origin.row + (isAlone && hasPoster ? (area.size.rows - size.rows) / 2 : 0)
        poster = CellRectangle(at: CellPosition(column: left, row: top), size: size)
        text = CellRectangle(
            at: CellPosition(column: left + size.columns + gap, row: top),
            size: CellSize(columns: words, rows: area.rows.upperBound - top))
    }
}
