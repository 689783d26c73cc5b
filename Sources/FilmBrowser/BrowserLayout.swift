package import TerminalGraphics

/// The places of everything on a screen of one size: a title line, the films in one of three styles, a status line. A
/// wide list shows the selected film beside it in full. All lengths are in cells. `scroll` is the number of lines that
/// the films are scrolled by.
package struct BrowserLayout: Equatable {
    package enum Style: String, CaseIterable {
        /// A small poster and a few lines of text for each film.
        case list
        /// One line for each film, without a poster.
        case lines
        /// Large posters side by side.
        case wall
    }

    /// The smallest usable window.
    static let minimum = CellSize(columns: 40, rows: 10)
    /// The empty columns at the left and at the right.
    static let margin = 2

    /// With this many rows or more, empty lines separate the title line and the status line from the films.
    private static let rowsForAir = 16
    /// With this many columns or more, the selected film stands beside the list.
    private static let widthForFilm = 120
    /// The most columns of a list or of lines with a film beside it.
    private static let (widestList, widestLines) = (64, 84)
    /// The wall: the lines of a tile besides its poster (the frame above, the title in the frame below, the facts), and
    /// the least and the most columns between two posters. The frame is drawn in these columns.
    private static let (tileLines, narrowestGap, widestGap) = (3, 3, 6)

    let size: CellSize
    package let style: Style
    /// The lines between the title line and the status line, for a film or the help.
    package let page: CellRectangle
    /// The lines that show the films.
    let body: CellRectangle
    /// The selected film in full, beside the list; nil where it has no room.
    let film: FilmPage?
    /// The film in full on a page of its own.
    let filmAlone: FilmPage
    /// A poster's size. Posters are two to three in pixels; the shape of a cell gives the columns. Zero in lines.
    package let poster: CellSize
    /// The cells of one film, with the space around it.
    let item: CellSize
    /// Films side by side.
    let perLine: Int
    /// Whether posters have room; without them the text uses the space.
    package let hasPosters: Bool

    init(size: CellSize, style: Style, cellAspect: Double = 2, hasPosters: Bool = true) {
        self.size = size
        self.hasPosters = hasPosters
        self.style = style
        let edge = size.rows >= Self.rowsForAir ? 2 : 1
        let page = CellRectangle(
            at: CellPosition(column: 0, row: edge),
            size: CellSize(columns: size.columns, rows: size.rows - 2 * edge))
        self.page = page
        filmAlone = FilmPage(in: page, cellAspect: cellAspect, isAlone: true, hasPoster: hasPosters)
        // The line above the wall's first posters is empty anyway.
        let top = style == .wall ? 1 : edge
        body = CellRectangle(
            at: CellPosition(column: 0, row: top),
            size: CellSize(columns: size.columns, rows: size.rows - top - edge))
        let rows = max(1, body.size.rows)
        let isWide = size.columns >= Self.widthForFilm
        if style == .wall {
            film = nil
            let width = size.columns - 2 * Self.margin
            poster = Self.wallPoster(width: width, rows: rows, cellAspect: cellAspect)
            perLine = Self.tiles(poster, across: width)
            let widest = poster.columns + Self.widestGap
            let pitch = perLine > 1 ? min(widest, (width - poster.columns) / (perLine - 1)) : widest
            item = CellSize(columns: max(1, pitch), rows: poster.rows + Self.tileLines)
            return
        }
        let share = style == .list ? size.columns * 2 / 5 : size.columns / 2
        let widest = style == .list ? Self.widestList : Self.widestLines
        let columns = isWide ? min(share, widest) : size.columns
        film =
            isWide
            ? FilmPage(
                in: CellRectangle(
                    at: CellPosition(column: columns, row: edge),
                    size: CellSize(columns: size.columns - columns, rows: body.size.rows)),
                cellAspect: cellAspect, isAlone: false, hasPoster: hasPosters) : nil
        perLine = 1
        guard style == .list else {
            poster = CellSize(columns: 0, rows: 0)
            item = CellSize(columns: columns, rows: 1)
            return
        }
        // Beside a film in full, the list is for finding a film: no overview, and more films.
        let height = isWide ? min(max(rows / 12, 3), 5) : min(max(rows / 7, 3), 8)
        poster =
            hasPosters
            ? CellSize(columns: columns, rows: height)
                .fitting(imageWidth: 2, imageHeight: 3, cellAspect: cellAspect)
            : CellSize(columns: 0, rows: isWide ? 2 : min(height, 3))
        item = CellSize(columns: columns, rows: poster.rows + 1)
    }

    /// The poster of the wall: as tall as two lines of tiles allow, or a little less where that fills the width better.
    private static func wallPoster(width: Int, rows: Int, cellAspect: Double) -> CellSize {
        let tallest = min(max(rows / 2 - tileLines, 5), 15)
        let posters = stride(from: tallest, through: max(5, tallest * 5 / 6), by: -1).map {
            CellSize(columns: width, rows: $0).fitting(imageWidth: 2, imageHeight: 3, cellAspect: cellAspect)
        }
        func gap(_ poster: CellSize) -> Int {
            let count = tiles(poster, across: width)
            return count > 1 ? (width - count * poster.columns) / (count - 1) : width
        }
        return posters.first { gap($0) <= widestGap } ?? posters.min { gap($0) < gap($1) } ?? posters[0]
    }

    /// How many posters stand side by side.
    private static func tiles(_ poster: CellSize, across width: Int) -> Int {
        max(1, (width + narrowestGap) / (poster.columns + narrowestGap))
    }

    /// The farthest scroll. The last film is then on the screen, and the first visible film is seen from its top.
    func maximumScroll(count: Int) -> Int {
        alignedUp((count + perLine - 1) / perLine * item.rows - body.size.rows)
    }

    /// The next scroll with a film at the top.
    private func alignedUp(_ scroll: Int) -> Int {
        max(0, (scroll + item.rows - 1) / item.rows * item.rows)
    }

    /// The rows that are at least partly on the screen.
    func visible(scroll: Int, count: Int) -> Range<Int> {
        let first = scroll / item.rows * perLine
        let last = (scroll + body.size.rows + item.rows - 1) / item.rows * perLine
        return min(first, count)..<min(last, count)
    }

    /// The rectangle of a row's film; partly or wholly outside the body where it is scrolled away. On the wall it
    /// begins at the poster's left edge.
    func rectangle(ofRow row: Int, scroll: Int) -> CellRectangle {
        let line = row / perLine * item.rows - scroll + body.origin.row
        let left = style == .wall ? Self.margin : 0
        return CellRectangle(
            at: CellPosition(column: left + row % perLine * item.columns, row: line), size: item)
    }

    /// The scroll nearest to `scroll` that shows the whole row.
    func scroll(showing row: Int, from scroll: Int, count: Int) -> Int {
        let top = row / perLine * item.rows
        let lowest = alignedUp(top + item.rows - body.size.rows)
        return min(max(scroll, min(lowest, top)), top, maximumScroll(count: count))
    }

    /// The row under a cell, or nil.
    func row(at position: CellPosition, scroll: Int, count: Int) -> Int? {
        guard body.contains(position) else { return nil }
        let line = (position.row - body.origin.row + scroll) / item.rows
        let left = style == .wall ? Self.margin - 1 : 0
        guard position.column >= left else { return nil }
        let column = (position.column - left) / item.columns
        let row = line * perLine + column
        return column < perLine && row < count ? row : nil
    }

    /// The number of rows of a page.
    var pageRows: Int { max(1, body.size.rows / item.rows) * perLine }
}
