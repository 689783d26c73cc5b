import BackgroundTransfers
import LazyImages
import MovieCatalogue
import TerminalGraphics

/// The present look of a row's poster.
enum PosterView {
    case placeholder
    /// The poster loads, and there is no preview yet. The part that has arrived, 0 to 1; nil if the length is unknown.
    case loading(Double?)
    case picture(CellGrid)
    case failed
    /// The film has no poster.
    case missing
}

/// Draws the browser's state as cells: a title line, the films or one film or the help, a status line.
struct BrowserScreen {
    let state: BrowserState
    let status: BrowserStatus
    /// A colour of the selected film's poster.
    var accent = CellColour.standard
    /// The catalogue's name in messages.
    let source: String
    /// The progress of reading it, in a text of at most `width` cells; nil if it is not being read.
    let progress: (_ width: Int) -> String?
    /// The look of a row's poster at this size in cells, in the list and in full.
    let poster: (_ row: Int, _ size: CellSize) -> PosterView
    let posterInFull: (_ row: Int, _ size: CellSize) -> PosterView
    /// The picture of an address, drawn at this size in cells; nil if pictures are switched off.
    var openedPicture: (LoadedImage, _ size: CellSize) -> CellGrid? = { _, _ in nil }

    static let dim = CellStyle(attributes: .dim)
    static let bold = CellStyle(attributes: .bold)
    /// The style of films that a refresh has added or changed.
    static let marked = CellStyle(foreground: .palette(2), attributes: .bold)

    var size: CellSize { state.layout.size }
    var body: CellRectangle { state.layout.body }
    private var page: CellRectangle { state.layout.page }
    var list: FilmList { state.list }
    /// The style of the selected film's title.
    var selected: CellStyle { CellStyle(foreground: accent, attributes: .bold) }

    func draw() -> CellGrid {
        var grid = CellGrid(size: size)
        if state.isTooSmall {
            drawTooSmall(&grid)
            return grid
        }
        switch state.overlay {
        case .help: HelpPage.draw(on: &grid, in: page, from: textTop)
        case .answer(let answer): answer.draw(on: &grid, in: page, from: textTop)
        case .picture(let image, _): drawOpened(image, &grid)
        case .address, .opening, nil:
            if state.page == .films { drawFilms(&grid) }
            drawFilmInFull(&grid)
        }
        drawTitleLine(&grid)
        let line = StatusLine(
            film: list.selectedMovie, status: status, showsFigures: state.showsFigures, hints: state.hints,
            accent: accent)
        line.draw(on: &grid, row: size.rows - 1, hasLineAbove: page.rows.upperBound < size.rows - 1)
        return grid
    }

    /// The first line of the present text that is on the screen.
    private var textTop: Int { state.textPosition?.shown.lowerBound ?? 0 }

    // MARK: The edges

    /// Says that the window is too small, in as many words as fit.
    private func drawTooSmall(_ grid: inout CellGrid) {
        let minimum = BrowserLayout.minimum
        let smallest = "\(minimum.columns)x\(minimum.rows)"
        let texts = [
            "Marquee needs a window of \(minimum.columns) x \(minimum.rows) or more", "needs \(smallest)",
            smallest,
        ]
        let wrapped = texts.map { TerminalText.wrapped($0, toWidth: min(size.columns, 22)) }
        for (row, line) in (wrapped.first { $0.count <= size.rows } ?? wrapped.last ?? []).enumerated() {
            grid.put(line, at: CellPosition(column: 0, row: row))
        }
    }

    ///     Silent Season · best first · /moon▏          out of date, 3 hours old   2/36
    private func drawTitleLine(_ grid: inout CellGrid) {
        let margin = BrowserLayout.margin
        let room = size.columns - 2 * margin
        let offline = state.reach == NetworkPath.Reach.none ? "offline" : ""
        let hints = [offline, standing, openedFacts ?? position, textHint].filter { !$0.isEmpty }
        var hint = hints.joined(separator: "   ")
        if TerminalText.width(hint) > room { hint = hints.last ?? "" }
        let width = TerminalText.width(hint)
        grid.put(hint, at: CellPosition(column: margin + max(0, room - width), row: 0), style: Self.dim)
        let left = room - width - (width > 0 ? 2 : 0)
        var parts = [
            StyledText(TerminalText.visible(list.catalogue.name ?? "Films"), Self.dim),
            StyledText(" · \(list.order.name)", Self.dim),
        ]
        if let address = addressLine(width: left - Self.addressName.count) {
            parts = [StyledText(Self.addressName, Self.dim)] + address
        } else if state.isFiltering || !list.filter.isEmpty {
            let filter = [StyledText("/")] + self.filter(width: left - 1)
            // In a narrow window the typed text matters most.
            let isNarrow = parts.width + 3 + filter.width > left
            parts = isNarrow ? filter : parts + [StyledText(" · ")] + filter
        }
        parts.put(on: &grid, at: CellPosition(column: margin, row: 0), width: left)
    }

    /// The filter, with a cursor while it is being typed.
    private func filter(width: Int) -> [StyledText] {
        state.editor.map { typed($0, width: width) } ?? [StyledText(TerminalText.visible(list.filter))]
    }

    /// A line that is being typed, with its cursor.
    private func typed(_ editor: LineEditor, width: Int) -> [StyledText] {
        let window = editor.window(width: width)
        let cursor =
            editor.after.isEmpty
            ? StyledText("▏") : StyledText(window.underCursor, CellStyle(attributes: .reversed))
        return [StyledText(window.before), cursor, StyledText(window.after)]
    }

    private static let addressName = "Address  "

    /// The address that is being typed, loads or is shown; nil if there is none.
    private func addressLine(width: Int) -> [StyledText]? {
        switch state.overlay {
        case .address(let editor): typed(editor, width: width)
        case .opening(let address): [StyledText(TerminalText.visible(address), Self.dim)]
        case .picture(_, let address): [StyledText(TerminalText.visible(address))]
        case .help, .answer, nil: nil
        }
    }

    /// `2/36`
    private var position: String {
        let count = list.rows.count
        return state.catalogue == .opening ? "" : "\(count == 0 ? 0 : list.selected + 1)/\(count)"
    }

    /// `out of date, 3 hours old`, where the films may be out of date.
    private var standing: String { state.catalogue.title(now: status.now) }

    /// `lines 1-8 of 20 ↓`, where a text is longer than the window.
    private var textHint: String {
        guard let (shown, count) = state.textPosition else { return "" }
        let arrows = (shown.lowerBound > 0 ? "↑" : "") + (shown.upperBound < count ? "↓" : "")
        return "lines \(shown.lowerBound + 1)-\(shown.upperBound) of \(count) \(arrows)"
    }

    // MARK: The films

    private func drawFilms(_ grid: inout CellGrid) {
        if list.rows.isEmpty {
            drawNoFilms(&grid)
            return
        }
        for row in state.shown {
            let area = state.layout.rectangle(ofRow: row, scroll: state.motion.offset)
            switch state.layout.style {
            case .list: drawListItem(row, in: area, on: &grid)
            case .lines: drawLine(row, in: area, on: &grid)
            case .wall: drawTile(row, in: area, on: &grid)
            }
        }
    }

    /// Says why there are no films: the catalogue is being read, no film matches, or it has none.
    private func drawNoFilms(_ grid: inout CellGrid) {
        func put(_ text: String, _ line: Int, _ style: CellStyle = Self.dim) {
            let text = TerminalText.truncated(TerminalText.visible(text), toWidth: size.columns - 4)
            grid.put(
                text, at: CellPosition(column: 2, row: body.origin.row + line), style: style, clip: body)
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

    // MARK: One film

    private func drawFilmInFull(_ grid: inout CellGrid) {
        guard let page = state.filmPage, let movie = list.selectedMovie else { return }
        drawPoster(posterInFull(list.selected, page.poster.size), of: movie, in: page.poster, on: &grid)
        let lines = page.lines(of: movie, state.context, accent: accent)
        for (index, line) in lines.dropFirst(textTop).prefix(page.text.size.rows).enumerated() {
            let position = CellPosition(column: page.text.origin.column, row: page.text.origin.row + index)
            line.put(on: &grid, at: position, width: page.text.size.columns, clip: page.text)
        }
        // A page of its own scrolls. Beside the list, the last line says that there is more.
        guard state.page == .films, lines.count > page.text.size.rows, let last = page.text.rows.last else {
            return
        }
        let room = CellRectangle(
            at: CellPosition(column: page.text.origin.column, row: last),
            size: CellSize(columns: page.text.size.columns, rows: 1))
        grid.fill(room, style: CellStyle())
        grid.put("… Enter shows all of it", at: room.origin, style: Self.dim, clip: room)
    }

    // MARK: The picture of an address

    /// Draws the picture as large as it fits, in the middle.
    private func drawOpened(_ image: LoadedImage, _ grid: inout CellGrid) {
        let size = image.header.size ?? image.bitmap.size
        let cells = page.size.fitting(
            imageWidth: size.width, imageHeight: size.height, cellAspect: state.cellAspect)
        guard let picture = openedPicture(image, cells) else {
            let text = "There is a picture, but pictures are switched off (--graphics none)."
            grid.put(text, at: CellPosition(column: 2, row: page.origin.row), style: Self.dim, clip: page)
            return
        }
        let origin = CellPosition(
            column: page.origin.column + (page.size.columns - cells.columns) / 2,
            row: page.origin.row + (page.size.rows - cells.rows) / 2)
        grid.place(picture, at: origin, clip: page)
    }

    /// `JPEG 1200x800`; nil where no picture of an address is shown.
    private var openedFacts: String? {
        guard case .picture(let image, _) = state.overlay else { return nil }
        let size = image.header.size ?? image.bitmap.size
        return "\(image.header.format.name.uppercased()) \(size.width)x\(size.height)"
    }

    // MARK: Posters

    /// Draws a poster, or a card in its place.
    func drawPoster(_ view: PosterView, of movie: Movie, in area: CellRectangle, on grid: inout CellGrid) {
        let state: TitleCard.State
        guard area.size.columns > 0 else { return }
        switch view {
        case .picture(let picture):
            grid.place(picture, at: area.origin, clip: body)
            return
        case .placeholder: state = .waiting
        case .loading(let part): state = .loading(part)
        case .failed: state = .failed
        case .missing: state = .missing
        }
        let card = TitleCard(title: movie.title, year: movie.year, state: state)
        grid.place(card.cells(size: area.size), at: area.origin, clip: body)
    }
}
