import TerminalGraphics

/// Where everything stands on a screen of one size: a title line, the films as a list or as a wall, a status line. A wide
/// list has the selected film beside it in full. All lengths in cells; `scroll` is the number of lines of the films above the first one shown.
struct BrowserLayout: Equatable {
    enum Style { case list, wall }

    /// The smallest window that shows anything of use.
    static let minimum = CellSize(columns: 40, rows: 10)

    /// From so many columns on the selected film stands beside the list, which has two fifths of them, and no more than its
    /// lines of text take.
    private static let widthForFilm = 120
    private static let widestList = 88

    let size: CellSize
    let style: Style
    /// The selected film in full, beside the list; nil where there is no room for it.
    let film: FilmPage?
    /// The film in full on a page of its own.
    let filmAlone: FilmPage
    /// A poster's cells. Posters are two to three, which the cells' own proportions turn into columns.
    let poster: CellSize
    /// The cells that one film takes, with the space around it.
    let item: CellSize
    /// Films side by side.
    let perLine: Int

    init(size: CellSize, style: Style, cellAspect: Double = 2) {
        self.size = size
        self.style = style
        let body = max(1, size.rows - 2)
        let bodyArea = CellRectangle(
            at: CellPosition(column: 0, row: 1), size: CellSize(columns: size.columns, rows: size.rows - 2))
        filmAlone = FilmPage(in: bodyArea, cellAspect: cellAspect)
        switch style {
        case .list:
            let isWide = size.columns >= Self.widthForFilm
            let columns = isWide ? min(max(size.columns * 2 / 5, 60), Self.widestList) : size.columns
            let beside = CellRectangle(
                at: CellPosition(column: columns, row: 1),
                size: CellSize(columns: size.columns - columns, rows: size.rows - 2))
            film = isWide ? FilmPage(in: beside, cellAspect: cellAspect) : nil
            let rows = min(max(body / 4 + 1, 4), 10)
            poster = CellSize(columns: columns, rows: rows).fitting(
                imageWidth: 2, imageHeight: 3, cellAspect: cellAspect)
            item = CellSize(columns: columns, rows: poster.rows + 1)
            perLine = 1
        case .wall:
            film = nil
            let rows = min(max(body / 2 - 2, 6), 15)
            poster = CellSize(columns: size.columns - 2, rows: rows)
                .fitting(imageWidth: 2, imageHeight: 3, cellAspect: cellAspect)
            let columns = max(1, size.columns / (poster.columns + 2))
            item = CellSize(columns: size.columns / columns, rows: poster.rows + 2)
            perLine = columns
        }
    }

    /// The lines between title and status.
    var body: CellRectangle {
        CellRectangle(
            at: CellPosition(column: 0, row: 1),
            size: CellSize(columns: size.columns, rows: max(0, size.rows - 2)))
    }

    /// The farthest the films can be scrolled.
    func maximumScroll(count: Int) -> Int {
        max(0, (count + perLine - 1) / perLine * item.rows - body.size.rows)
    }

    /// The rows of which anything is on the screen.
    func visible(scroll: Int, count: Int) -> Range<Int> {
        let first = scroll / item.rows * perLine
        let last = (scroll + body.size.rows + item.rows - 1) / item.rows * perLine
        return min(first, count)..<min(last, count)
    }

    /// Where a row's film stands; partly or wholly outside the body where it is scrolled away.
    func rectangle(ofRow row: Int, scroll: Int) -> CellRectangle {
        let line = row / perLine * item.rows - scroll + body.origin.row
        return CellRectangle(at: CellPosition(column: row % perLine * item.columns, row: line), size: item)
    }

    /// The scroll nearest to `scroll` at which the row is wholly on the screen.
    func scroll(showing row: Int, from scroll: Int, count: Int) -> Int {
        let top = row / perLine * item.rows
        let lowest = max(0, top + item.rows - body.size.rows)
        return min(max(scroll, min(lowest, top)), top, maximumScroll(count: count))
    }

    /// The row under a cell, or nil.
    func row(at position: CellPosition, scroll: Int, count: Int) -> Int? {
        guard body.contains(position) else { return nil }
        let line = (position.row - body.origin.row + scroll) / item.rows
        let column = position.column / item.columns
        let row = line * perLine + column
        return column < perLine && row < count ? row : nil
    }

    /// How many rows a page is.
    var pageRows: Int { max(1, body.size.rows / item.rows) * perLine }
}
