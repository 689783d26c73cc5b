import MovieCatalogue
import TerminalGraphics

/// The films as posters side by side.
extension BrowserScreen {
    /// A poster, its title below, and then the year and the score. The selected poster has a frame; every tile has room
    /// for one:
    ///
    ///     ┏━━━━━━━━━━━━┓
    ///     ┃            ┃
    ///     ┗Metropolis━━┛
    ///      1927   ★ 8.9
    func drawTile(_ row: Int, in area: CellRectangle, on grid: inout CellGrid) {
        let movie = list.movie(inRow: row)
        let poster = state.layout.poster
        let origin = CellPosition(column: area.origin.column, row: area.origin.row + 1)
        drawPoster(
            self.poster(row, poster), of: movie, in: CellRectangle(at: origin, size: poster), on: &grid)
        let foot = origin.row + poster.rows
        if row == list.selected {
            drawFrame(around: CellRectangle(at: origin, size: poster), on: &grid)
        }
        titleParts(row).put(
            on: &grid, at: CellPosition(column: origin.column, row: foot), width: poster.columns, clip: body)
        if let note = hitNote(movie, width: poster.columns, besides: [.year]) {
            note.put(
                on: &grid, at: CellPosition(column: origin.column, row: foot + 1), width: poster.columns,
                clip: body)
            return
        }
        let year = movie.year.map(String.init) ?? ""
        let score = MovieText.score(movie) ?? ""
        var room = poster.columns - TerminalText.width(year)
        StyledText(year, Self.dim).marked(list.words, .year).put(
            on: &grid, at: CellPosition(column: origin.column, row: foot + 1), width: poster.columns,
            clip: body)
        // Where the star has no room, the number is enough.
        let number = movie.rankingScore?.formatted(decimals: 1) ?? ""
        let shown = TerminalText.width(score) < room ? score : TerminalText.width(number) < room ? number : ""
        room -= TerminalText.width(shown)
        grid.put(
            shown, at: CellPosition(column: origin.column + TerminalText.width(year) + room, row: foot + 1),
            style: Self.dim, clip: body)
    }

    /// A frame in the cells around a poster.
    private func drawFrame(around poster: CellRectangle, on grid: inout CellGrid) {
        let style = CellStyle(foreground: accent)
        let (left, right) = (poster.columns.lowerBound - 1, poster.columns.upperBound)
        func put(_ text: String, _ column: Int, _ row: Int) {
            grid.put(text, at: CellPosition(column: column, row: row), style: style, clip: body)
        }
        let line = String(repeating: "━", count: poster.size.columns)
        put("┏\(line)┓", left, poster.rows.lowerBound - 1)
        for row in poster.rows {
            put("┃", left, row)
            put("┃", right, row)
        }
        put("┗\(line)┛", left, poster.rows.upperBound)
    }
}
