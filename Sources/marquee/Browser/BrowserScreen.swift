import MovieCatalogue
import TerminalGraphics

/// What a row's poster looks like now.
enum PosterView {
    case placeholder
    /// It loads and there is no preview yet. The part that has arrived, 0 to 1; nil if the length is unknown.
    case loading(Double?)
    case picture(CellGrid)
    case failed
}

/// Draws the browser's state as cells: a title line, the films or one film or the help, a status line.
struct BrowserScreen {
    let state: BrowserState
    let status: BrowserStatus
    /// How messages call the catalogue.
    let source: String
    /// How far its reading is, in so many cells; nil where it is not being read.
    let progress: (_ width: Int) -> String?
    /// What a row's poster looks like, in the list and in full, drawn in so many cells.
    let poster: (_ row: Int, _ size: CellSize) -> PosterView
    let posterInFull: (_ row: Int, _ size: CellSize) -> PosterView

    static let dim = CellStyle(attributes: .dim)
    static let bold = CellStyle(attributes: .bold)
    static let bar = CellStyle(attributes: .reversed)
    /// What a refresh has found.
    static let marked = CellStyle(foreground: .palette(2), attributes: .bold)

    private var size: CellSize { state.layout.size }
    private var list: FilmList { state.list }

    func draw() -> CellGrid {
        var grid = CellGrid(size: size)
        if state.isTooSmall {
            drawTooSmall(&grid)
            return grid
        }
        switch state.page {
        case _ where state.isHelpShown:
            let top = state.textPosition?.shown.lowerBound ?? 0
            HelpPage.draw(on: &grid, in: state.layout.body, from: top)
        case .films:
            drawFilms(&grid)
            drawFilmInFull(&grid)
        case .film: drawFilmInFull(&grid)
        }
        drawTitleLine(&grid)
        drawStatusLine(&grid)
        return grid
    }

    // MARK: The edges

    private func drawTooSmall(_ grid: inout CellGrid) {
        let minimum = BrowserLayout.minimum
        let text = "Marquee wants a window of \(minimum.columns) x \(minimum.rows) or more"
        let lines = TerminalText.wrapped(text, toWidth: min(size.columns, 22))
        for (row, line) in lines.enumerated() { grid.put(line, at: CellPosition(column: 0, row: row)) }
    }

    private func drawTitleLine(_ grid: inout CellGrid) {
        grid.fill(CellRectangle(size: CellSize(columns: size.columns, rows: 1)), style: Self.bar)
        let count = list.rows.count
        let name = TerminalText.visible(list.catalogue.name ?? "Films")
        let position = state.catalogue == .opening ? "" : "  \(count == 0 ? 0 : list.selected + 1)/\(count)"
        var text = " \(name)\(position)  \(list.order.name)"
        if state.isFiltering || !list.filter.isEmpty {
            text += "  /\(TerminalText.visible(list.filter))" + (state.isFiltering ? "▏" : "")
        }
        let isWide = TerminalText.width(standing + textHint) < size.columns
        let hint = isWide ? standing + textHint : textHint
        let room = size.columns - TerminalText.width(hint)
        grid.put(
            TerminalText.truncated(text, toWidth: room), at: CellPosition(column: 0, row: 0), style: Self.bar)
        grid.put(hint, at: CellPosition(column: room, row: 0), style: Self.bar)
    }

    /// ` out of date, 3 hours old `, where the films are not those of now.
    private var standing: String {
        let text = state.catalogue.title(now: status.now)
        return text.isEmpty ? "" : " \(text) "
    }

    /// ` lines 1-8 of 20 ↓ `, where a text is longer than the window.
    private var textHint: String {
        guard let (shown, count) = state.textPosition else { return "" }
        let arrows = (shown.lowerBound > 0 ? "↑" : "") + (shown.upperBound < count ? "↓" : "")
        return " lines \(shown.lowerBound + 1)-\(shown.upperBound) of \(count) \(arrows) "
    }

    private func drawStatusLine(_ grid: inout CellGrid) {
        let row = size.rows - 1
        grid.fill(
            CellRectangle(
                at: CellPosition(column: 0, row: row), size: CellSize(columns: size.columns, rows: 1)),
            style: Self.bar)
        let text = " \(status.activity) " + status.text(width: size.columns - 4)
        // The last cell stays empty: some terminals scroll when it is written.
        grid.put(
            TerminalText.truncated(text, toWidth: size.columns - 1), at: CellPosition(column: 0, row: row),
            style: Self.bar)
    }

    // MARK: The films

    private func drawFilms(_ grid: inout CellGrid) {
        if list.rows.isEmpty {
            drawNoFilms(&grid)
            return
        }
        for row in state.visible {
            let area = state.layout.rectangle(ofRow: row, scroll: state.motion.offset)
            switch state.layout.style {
            case .list: drawListItem(row, in: area, on: &grid)
            case .wall: drawTile(row, in: area, on: &grid)
            }
        }
    }

    /// Why there are none: the catalogue is being read, no film matches, or it has none.
    private func drawNoFilms(_ grid: inout CellGrid) {
        func put(_ text: String, _ line: Int, _ style: CellStyle = Self.dim) {
            let text = TerminalText.truncated(TerminalText.visible(text), toWidth: size.columns - 4)
            grid.put(text, at: CellPosition(column: 2, row: 2 + line), style: style, clip: state.layout.body)
        }
        switch state.catalogue {
        case _ where !list.catalogue.movies.isEmpty:
            put(
                state.catalogue.isReading
                    ? "No film matches so far; Esc shows all." : "No film matches; Esc shows all.", 0)
        case .opening, .loading:
            let wait = status.seconds > 0 ? "  \(status.seconds) s" : ""
            put("Loading \(source)…\(wait)", 0, CellStyle())
            put(progress(size.columns - 4) ?? "", 1)
        case .incomplete: put("No film has come.", 0)
        default: put("The catalogue has no films.", 0)
        }
    }

    private func drawListItem(_ row: Int, in area: CellRectangle, on grid: inout CellGrid) {
        let clip = state.layout.body
        let movie = list.movie(inRow: row)
        let isSelected = row == list.selected
        let top = area.origin.row
        if isSelected {
            for line in 0..<state.layout.poster.rows {
                grid.put("▌", at: CellPosition(column: 0, row: top + line), clip: clip)
            }
        }
        let frame = CellRectangle(at: CellPosition(column: 1, row: top), size: state.layout.poster)
        drawPoster(poster(row, frame.size), in: frame, on: &grid)

        let column = state.layout.poster.columns + 3
        let width = area.size.columns - column - 1
        guard width > 0 else { return }
        let mark = mark(ofRow: row)
        grid.put(mark, at: CellPosition(column: column, row: top), style: Self.marked, clip: clip)
        let title = TerminalText.truncated(
            TerminalText.visible(movie.title), toWidth: max(0, width - mark.count))
        grid.put(
            title, at: CellPosition(column: column + mark.count, row: top),
            style: isSelected ? Self.bar : Self.bold, clip: clip)
        let facts = TerminalText.truncated(MovieText.facts(movie), toWidth: width)
        grid.put(facts, at: CellPosition(column: column, row: top + 1), clip: clip)
        let lines = MovieText.overview(movie, width: min(width, 90), lines: state.layout.poster.rows - 2)
        for (index, line) in lines.enumerated() {
            grid.put(
                line, at: CellPosition(column: column, row: top + 2 + index), style: Self.dim, clip: clip)
        }
    }

    /// What stands before the title of a film that a refresh has found: `+ ` or `~ `.
    private func mark(ofRow row: Int) -> String {
        switch list.change(inRow: row) {
        case .new: "+ "
        case .changed: "~ "
        case nil: ""
        }
    }

    private func drawTile(_ row: Int, in area: CellRectangle, on grid: inout CellGrid) {
        let movie = list.movie(inRow: row)
        let size = state.layout.poster
        let left = area.origin.column + max(0, (area.size.columns - size.columns) / 2)
        let frame = CellRectangle(at: CellPosition(column: left, row: area.origin.row), size: size)
        drawPoster(poster(row, size), in: frame, on: &grid)
        let title = TerminalText.truncated(
            mark(ofRow: row) + TerminalText.visible(movie.title), toWidth: size.columns)
        let text = TerminalText.padded(title, toWidth: size.columns, alignment: .centre)
        grid.put(
            text, at: CellPosition(column: left, row: area.origin.row + size.rows),
            style: row == list.selected ? Self.bar : Self.dim, clip: state.layout.body)
    }

    // MARK: One film

    private func drawFilmInFull(_ grid: inout CellGrid) {
        guard let page = state.filmPage, let movie = list.selectedMovie else { return }
        drawPoster(posterInFull(list.selected, page.poster.size), in: page.poster, on: &grid)
        let lines = page.lines(of: movie, state.selectedChange, state.failure)
        let top = state.textPosition?.shown.lowerBound ?? 0
        for (index, line) in lines.dropFirst(top).prefix(page.text.size.rows).enumerated() {
            let position = CellPosition(column: page.text.origin.column, row: page.text.origin.row + index)
            grid.put(line.text, at: position, style: line.style, clip: page.text)
        }
        // Its own page scrolls; beside the list the last line says that there is more there.
        guard state.page == .films, lines.count > page.text.size.rows, let last = page.text.rows.last else {
            return
        }
        let room = CellRectangle(
            at: CellPosition(column: page.text.origin.column, row: last),
            size: CellSize(columns: page.text.size.columns, rows: 1))
        grid.fill(room, style: CellStyle())
        grid.put("… Enter shows all of it", at: room.origin, style: Self.dim, clip: room)
    }

    // MARK: Posters

    private func drawPoster(_ view: PosterView, in area: CellRectangle, on grid: inout CellGrid) {
        let clip = state.layout.body
        let (position, size) = (area.origin, area.size)
        switch view {
        case .picture(let picture): grid.place(picture, at: position, clip: clip)
        case .placeholder: drawFrame(at: position, size: size, sign: "·", on: &grid)
        case .failed: drawFrame(at: position, size: size, sign: "no poster", on: &grid)
        case .loading(let part):
            drawFrame(at: position, size: size, sign: "·", on: &grid)
            guard let part, size.rows > 1, size.columns > 2 else { return }
            let filled = Int(Double(size.columns - 2) * max(0, min(1, part)))
            let start = CellPosition(column: position.column + 1, row: position.row + size.rows - 2)
            grid.put(String(repeating: "━", count: filled), at: start, style: Self.dim, clip: clip)
        }
    }

    /// A frame where a poster will be, or would be.
    private func drawFrame(at position: CellPosition, size: CellSize, sign: String, on grid: inout CellGrid) {
        let clip = state.layout.body
        guard size.columns > 1, size.rows > 1 else { return }
        func put(_ text: String, _ row: Int, _ column: Int = 0) {
            let start = CellPosition(column: position.column + column, row: position.row + row)
            grid.put(text, at: start, style: Self.dim, clip: clip)
        }
        let line = String(repeating: "─", count: size.columns - 2)
        put("╭\(line)╮", 0)
        for row in 1..<size.rows - 1 {
            put("│", row)
            put("│", row, size.columns - 1)
        }
        put("╰\(line)╯", size.rows - 1)
        let words = sign.split(separator: " ")
        for (index, word) in words.enumerated() {
            let text = TerminalText.truncated(String(word), toWidth: size.columns - 2)
            put(
                text, max(1, (size.rows - words.count) / 2) + index,
                (size.columns - TerminalText.width(text)) / 2)
        }
    }
}
