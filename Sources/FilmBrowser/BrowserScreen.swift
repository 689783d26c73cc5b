import BackgroundTransfers
import Films
package import LazyImages
package import TerminalGraphics

/// The present look of a row's poster.
package enum PosterView {
    case picture(CellGrid)
    /// There is no picture, and no preview yet.
    case card(TitleCard.State)
}

/// Draws the browser's state as cells: a title line, the films or one film or the help, a status line.
package struct BrowserScreen {
    let state: BrowserState
    let status: BrowserStatus
    /// A colour of the selected film's poster.
    package var accent = CellColour.standard
    /// The catalogue's name in messages.
    let source: String
    /// The progress of reading it, in a text of at most `width` cells; nil if it is not being read.
    package var progress: (_ width: Int) -> String? = { _ in nil }
    /// The look of a row's poster at this size in cells.
    package var poster: (PosterFeed.Pane, Int, CellSize) -> PosterView = { _, _, _ in .card(.waiting) }
    /// The picture of an address, drawn at this size in cells; nil if pictures are switched off.
    package var openedPicture: (LoadedImage, _ size: CellSize) -> CellGrid? = { _, _ in nil }
    /// What is drawn so far.
    private(set) var grid = CellGrid(size: CellSize(columns: 0, rows: 0))

    package init(_ state: BrowserState, _ status: BrowserStatus, source: String) {
        (self.state, self.status, self.source) = (state, status, source)
    }

    var size: CellSize { state.layout.size }
    var body: CellRectangle { state.layout.body }
    private var page: CellRectangle { state.layout.page }
    var list: FilmList { state.list }
    /// The style of the selected film's title.
    var selected: CellStyle { CellStyle(foreground: accent, attributes: .bold) }

    package mutating func draw() -> CellGrid {
        grid = CellGrid(size: size)
        if state.isTooSmall {
            drawTooSmall()
            return grid
        }
        if let text = state.overlayText {
            let origin = CellPosition(column: BrowserLayout.margin, row: page.origin.row)
            let room = CellSize(columns: page.size.columns - origin.column, rows: page.size.rows)
            draw(text, in: CellRectangle(at: origin, size: room))
        } else if case .picture(let image, _) = state.overlay {
            drawOpened(image)
        } else {
            if state.page == .films { drawFilms() }
            drawFilmInFull()
        }
        drawTitleLine()
        let line = StatusLine(
            film: list.selectedMovie, status: status, showsFigures: state.showsFigures, hints: state.hints,
            accent: accent)
        line.draw(on: &grid, row: size.rows - 1, hasLineAbove: page.rows.upperBound < size.rows - 1)
        return grid
    }

    /// Draws the lines of the present text that are on the screen.
    private mutating func draw(_ lines: [[StyledText]], in area: CellRectangle) {
        let top = state.textPosition?.shown.lowerBound ?? 0
        for (row, line) in zip(area.rows, lines.dropFirst(top)) {
            let position = CellPosition(column: area.origin.column, row: row)
            line.put(on: &grid, at: position, width: area.size.columns, clip: area)
        }
    }

    /// Puts text among the films.
    private mutating func put(_ parts: [StyledText], _ column: Int, _ row: Int, width: Int = .max) {
        parts.put(on: &grid, at: CellPosition(column: column, row: row), width: width, clip: body)
    }

    // MARK: The edges

    /// Says that the window is too small, in as many words as fit.
    private mutating func drawTooSmall() {
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
    private mutating func drawTitleLine() {
        let margin = BrowserLayout.margin
        let room = size.columns - 2 * margin
        let offline = state.reach == NetworkPath.Reach.none ? "offline" : ""
        let selection = list.selection.isEmpty ? "" : "\(list.selection.count) selected"
        let hints = [offline, standing, selection, openedFacts ?? position, textHint].filter { !$0.isEmpty }
        var hint = hints.joined(separator: "   ")
        if TerminalText.width(hint) > room { hint = hints.last ?? "" }
        let width = TerminalText.width(hint)
        grid.put(hint, at: CellPosition(column: margin + max(0, room - width), row: 0), style: .dim)
        let left = room - width - (width > 0 ? 2 : 0)
        var parts = [
            StyledText(TerminalText.visible(state.searched ?? list.catalogue.name ?? "Films"), .dim),
            StyledText(" · \(list.order.rawValue)", .dim),
        ]
        if let address = addressLine(width: left - Self.addressName.count) {
            parts = [StyledText(Self.addressName, .dim)] + address
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
        case .opening(let address): [StyledText(TerminalText.visible(address), .dim)]
        case .picture(_, let address): [StyledText(TerminalText.visible(address))]
        case .help, .answer, .question, .versions, nil: nil
        }
    }

    /// `2/36`
    private var position: String {
        let count = list.rows.count
        let more = list.films.hasMore && list.filter.isEmpty ? "+" : ""
        return state.catalogue == .opening ? "" : "\(count == 0 ? 0 : list.selected + 1)/\(count)\(more)"
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

    private mutating func drawFilms() {
        if list.rows.isEmpty { return drawNoFilms() }
        for row in state.shown {
            let area = state.layout.rectangle(ofRow: row, scroll: state.motion.offset)
            switch state.layout.style {
            case .list: drawListItem(row, in: area)
            case .lines: drawLine(row, in: area)
            case .wall: drawTile(row, in: area)
            }
        }
    }

    /// Says why there are no films: the catalogue is being read, no film matches, or it has none.
    private mutating func drawNoFilms() {
        func put(_ text: String, _ line: Int, _ style: CellStyle = .dim) {
            let text = StyledText(TerminalText.visible(text), style)
            self.put([text], 2, body.origin.row + line, width: size.columns - 4)
        }
        switch state.catalogue {
        case _ where !list.catalogue.movies.isEmpty:
            let soFar = state.catalogue.isReading ? " so far" : ""
            put("No film matches\(soFar)\(state.presentKeys.text("; {Esc} shows all")).", 0)
        case .opening, .loading:
            let wait = status.seconds > 0 ? "  \(status.seconds) s" : ""
            put("Loading \(source)…\(wait)", 0, CellStyle())
            put(progress(size.columns - 4) ?? "", 1)
        case .incomplete: put("No film has come.", 0)
        case _ where state.searched != nil:
            put("The server finds no film\(state.presentKeys.text("; {Esc} shows the films of before")).", 0)
        default: put("The catalogue has no films.", 0)
        }
    }

    // MARK: One film

    private mutating func drawFilmInFull() {
        guard let page = state.filmPage, let movie = list.selectedMovie else { return }
        drawPoster(.film, list.selected, in: page.poster)
        var lines = page.lines(of: movie, state.context, accent: accent)
        let last = page.text.size.rows - 1
        // A page of its own scrolls. Beside the list, the last line says that there is more.
        if state.page == .films, last >= 0, lines.count > last + 1 {
            lines[last] = [StyledText("… " + state.presentKeys.text("{Enter} shows all of it"), .dim)]
        }
        draw(lines, in: page.text)
    }

    // MARK: The picture of an address

    /// Draws the picture as large as it fits, in the middle.
    private mutating func drawOpened(_ image: LoadedImage) {
        let size = image.header.size ?? image.bitmap.size
        let cells = page.size.fitting(
            imageWidth: size.width, imageHeight: size.height, cellAspect: state.cellAspect)
        guard let picture = openedPicture(image, cells) else {
            let text = "There is a picture, but pictures are switched off (--graphics none)."
            grid.put(text, at: CellPosition(column: 2, row: page.origin.row), style: .dim, clip: page)
            return
        }
        let origin = CellPosition(
            column: page.origin.column + (page.size.columns - cells.columns) / 2,
            row: page.origin.row + (page.size.rows - cells.rows) / 2)
        grid.place(picture, at: origin, clip: page)
    }

    /// `JPEG 1200x800`, and what a damaged picture lacks; nil where no picture of an address is shown.
    private var openedFacts: String? {
        guard case .picture(let image, _) = state.overlay else { return nil }
        let size = image.header.size ?? image.bitmap.size
        let damage = image.damage.map { ", \($0)" } ?? ""
        return "\(image.header.format.name.uppercased()) \(size.width)x\(size.height)" + damage
    }

    // MARK: Posters

    /// Draws a poster, or a card in its place.
    private mutating func drawPoster(_ pane: PosterFeed.Pane, _ row: Int, in area: CellRectangle) {
        guard area.size.columns > 0 else { return }
        let cells: CellGrid
        switch poster(pane, row, area.size) {
        case .picture(let picture): cells = picture
        case .card(let state):
            let movie = list.movie(inRow: row)
            let key = self.state.presentKeys.shown("r")
            cells = TitleCard(title: movie.title, year: movie.year, retryKey: key, state: state)
                .cells(size: area.size)
        }
        grid.place(cells, at: area.origin, clip: body)
    }
}

/// The films one below the other: with posters and the beginning of the overview, or one line each.
extension BrowserScreen {
    /// The columns between two parts of a row.
    private static let gap = 2
    /// The columns of a year.
    private static let yearWidth = 4
    /// With this many columns or more, the title's line also has the director, the year and the score; the other lines
    /// are overview.
    private static let widthForFacts = 50
    /// The longest line of an overview.
    private static let measure = 90
    /// The fewest columns of a title in a line, and the fewest and the most of a director.
    private static let (narrowestTitle, narrowestDirector, widestDirector) = (24, 12, 28)

    // MARK: A list

    /// The poster, and beside it:
    ///
    ///     Metropolis  Fritz Lang                                    1927   ★ 8.9
    ///     In a city of two levels, the son of its master follows a teacher down …
    private mutating func drawListItem(_ row: Int, in area: CellRectangle) {
        let movie = list.movie(inRow: row)
        let (top, poster) = (area.origin.row, state.layout.poster)
        drawBar(row, in: area, lines: poster.rows)
        let left = BrowserLayout.margin
        drawPoster(
            .list, row, in: CellRectangle(at: CellPosition(column: left, row: top), size: poster))
        let column = left + poster.columns + (poster.columns > 0 ? Self.gap : 0)
        let width = area.size.columns - column - BrowserLayout.margin
        guard width > 0 else { return }
        let overview: (first: Int, lines: Int)
        let measure = min(width, Self.measure)
        let note = hitNote(movie, width: poster.rows > 2 ? measure : measure - MovieText.scoreWidth)
        let isBesideFilm = state.layout.film != nil
        if width >= Self.widthForFacts, !isBesideFilm {
            let facts = yearAndScore(movie)
            let room = width - facts.width - Self.gap
            put(facts, column + room + Self.gap, top)
            var title = titleParts(row)
            if let director = movie.maker {
                title += StyledText("  " + TerminalText.visible(director), .dim).marked(state.hits, .director)
            }
            put(title, column, top, width: room)
            overview = (1, poster.rows - 1)
        } else {
            put(titleParts(row), column, top, width: width)
            let room = max(0, width - MovieText.scoreWidth)
            put([StyledText(MovieText.scoreColumn(movie), .dim)], column + room, top + 1, width: width)
            let space = movie.year == nil || movie.maker == nil ? "" : " · "
            let director = TerminalText.visible(movie.maker ?? "")
            let facts =
                StyledText(movie.year.map(String.init) ?? "", .dim).marked(state.hits, .year)
                + [StyledText(space, .dim)] + StyledText(director, .dim).marked(state.hits, .director)
            // A poster of at most two rows leaves no line for the note. The note then replaces the facts.
            put(poster.rows > 2 ? facts : note ?? facts, column, top + 1, width: room)
            // The film in full shows the overview already.
            overview = (2, isBesideFilm ? 0 : poster.rows - 2)
        }
        var line = top + overview.first
        if let note {
            if overview.first < poster.rows { put(note, column, line, width: width) }
            line += 1
        }
        let taken = note == nil ? 0 : 1
        for text in MovieText.overview(movie, width: measure, lines: overview.lines - taken) {
            put(StyledText(text, .dim).marked(state.hits, .overview), column, line, width: width)
            line += 1
        }
    }

    // MARK: Lines

    /// One film in one line, in columns:
    ///
    ///     Metropolis                                  1927  Fritz Lang       ★ 8.9
    private mutating func drawLine(_ row: Int, in area: CellRectangle) {
        let movie = list.movie(inRow: row)
        drawBar(row, in: area, lines: 1)
        let left = BrowserLayout.margin
        let width = area.size.columns - 2 * left
        let facts = Self.gap + Self.yearWidth + Self.gap + MovieText.scoreWidth
        var director = min(max(width / 4, Self.narrowestDirector), Self.widestDirector)
        if width - facts - director - Self.gap < Self.narrowestTitle { director = 0 }
        let title = max(0, width - facts - (director > 0 ? director + Self.gap : 0))
        var column = left
        func put(_ parts: [StyledText], _ width: Int) {
            self.put(parts, column, area.origin.row, width: width)
            column += width + Self.gap
        }
        put(titleParts(row), title)
        put(StyledText(yearColumn(movie), .dim).marked(state.hits, .year), Self.yearWidth)
        if director > 0 {
            let name = StyledText(TerminalText.visible(movie.maker ?? ""), .dim)
            put(
                hitNote(movie, width: director, besides: [.director, .year])
                    ?? name.marked(state.hits, .director), director)
        }
        put([StyledText(MovieText.scoreColumn(movie), .dim)], MovieText.scoreWidth)
    }

    // MARK: What both have

    /// The title. Before it stand `● ` for a film that is selected with others, `+ ` or `~ ` for one that the refresh has
    /// added or changed, and the signs of the person's marks.
    private func titleParts(_ row: Int) -> [StyledText] {
        let movie = list.movie(inRow: row)
        var parts: [StyledText] = []
        if list.isSelected(movie) { parts.append(StyledText("● ", selected)) }
        if let change = list.change(inRow: row) {
            let style = CellStyle(foreground: state.colours.changed, attributes: .bold)
            parts.append(StyledText(change == .new ? "+ " : "~ ", style))
        }
        let signs = MovieText.signs(of: list.marks(of: movie))
        if !signs.isEmpty {
            parts.append(StyledText(signs + " ", CellStyle(foreground: state.colours.marks)))
        }
        let style = row == list.selected ? selected : state.layout.style == .list ? .bold : CellStyle()
        return parts + StyledText(TerminalText.visible(movie.title), style).marked(state.hits, .title)
    }

    /// The bar at the left of the selected film.
    private mutating func drawBar(_ row: Int, in area: CellRectangle, lines: Int) {
        guard row == list.selected else { return }
        for line in 0..<lines {
            put([StyledText("▌", CellStyle(foreground: accent))], 0, area.origin.row + line)
        }
    }

    /// `1927   ★ 8.9`
    private func yearAndScore(_ movie: Movie) -> [StyledText] {
        let score = String(repeating: " ", count: Self.gap) + MovieText.scoreColumn(movie)
        return StyledText(yearColumn(movie), .dim).marked(state.hits, .year) + [StyledText(score, .dim)]
    }

    private func yearColumn(_ movie: Movie) -> String {
        TerminalText.padded(
            movie.year.map(String.init) ?? "", toWidth: Self.yearWidth, alignment: .trailing)
    }
}

/// The films as posters side by side.
extension BrowserScreen {
    /// A poster, its title below, and then the year and the score. The selected poster has a frame; every tile has room
    /// for one:
    ///
    ///     ┏━━━━━━━━━━━━┓
    ///     ┃            ┃
    ///     ┗Metropolis━━┛
    ///      1927   ★ 8.9
    private mutating func drawTile(_ row: Int, in area: CellRectangle) {
        let movie = list.movie(inRow: row)
        let origin = CellPosition(column: area.origin.column, row: area.origin.row + 1)
        let poster = CellRectangle(at: origin, size: state.layout.poster)
        drawPoster(.list, row, in: poster)
        if row == list.selected { drawFrame(around: poster) }
        let (foot, width) = (poster.rows.upperBound, poster.size.columns)
        put(titleParts(row), origin.column, foot, width: width)
        if let note = hitNote(movie, width: width, besides: [.year]) {
            return put(note, origin.column, foot + 1, width: width)
        }
        let year = movie.year.map(String.init) ?? ""
        put(StyledText(year, .dim).marked(state.hits, .year), origin.column, foot + 1, width: width)
        let room = width - TerminalText.width(year)
        // Where the star has no room, the number is enough.
        let scores = [MovieText.score(movie), movie.rankingScore?.formatted(decimals: 1)].compactMap(\.self)
        let score = scores.first { TerminalText.width($0) < room } ?? ""
        put([StyledText(score, .dim)], poster.columns.upperBound - TerminalText.width(score), foot + 1)
    }

    /// A frame in the cells around a poster.
    private mutating func drawFrame(around poster: CellRectangle) {
        let (left, right) = (poster.columns.lowerBound - 1, poster.columns.upperBound)
        func put(_ text: String, _ column: Int, _ row: Int) {
            self.put([StyledText(text, CellStyle(foreground: accent))], column, row)
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

/// What the filter has found, and the colour that marks it.
struct FilterHits: Equatable {
    let words: FilterWords
    let colour: CellColour
}

/// Marks the text that the filter has found.
extension StyledText {
    /// The text in pieces, with the filter's hits in this field marked.
    func marked(_ hits: FilterHits, _ field: FilmMember) -> [StyledText] {
        let ranges = hits.words.ranges(in: text, of: field)
        if ranges.isEmpty { return [self] }
        var found = style
        found.foreground = hits.colour
        found.attributes.insert(.underlined)
        found.attributes.remove(.dim)
        var pieces: [StyledText] = []
        var start = text.startIndex
        for range in ranges {
            if start < range.lowerBound {
                pieces.append(StyledText(String(text[start..<range.lowerBound]), style))
            }
            pieces.append(StyledText(String(text[range]), found))
            start = range.upperBound
        }
        return start < text.endIndex ? pieces + [StyledText(String(text[start...]), style)] : pieces
    }
}

extension [[StyledText]] {
    /// The same lines, with the filter's hits in this field marked.
    func marked(_ hits: FilterHits, _ field: FilmMember) -> [[StyledText]] {
        hits.words.isEmpty ? self : map { $0.flatMap { $0.marked(hits, field) } }
    }
}

extension BrowserScreen {
    /// The fewest cells of an excerpt.
    private static let narrowestExcerpt = 8

    /// Explains a film that is in the list although its titles lack a word of the filter; nil for a film whose titles
    /// have every word.
    ///
    ///     director: Fritz Lang
    ///     overview: … the son of its master follows a teacher down …
    private func hitNote(_ movie: Movie, width: Int, besides shown: Set<FilmMember> = [])
        -> [StyledText]?
    {
        let words = list.words.missing(fromTitlesOf: movie)
        let fields = words.fields(of: movie).filter { !shown.contains($0) }
        guard !fields.isEmpty else { return nil }
        var parts: [StyledText] = []
        for field in fields {
            let name = (parts.isEmpty ? "" : " · ") + field.definition.label.lowercased()
            parts.append(StyledText(name, .dim))
            // With less room the name is enough.
            guard parts.width + Self.narrowestExcerpt <= width else { break }
            parts.append(StyledText(": ", .dim))
            let text = TerminalText.visible(movie.text(field) ?? "")
            let room = max(0, width - parts.width)
            let excerpt = MovieText.excerpt(
                text, around: words.ranges(in: text, of: field).first, width: room)
            parts += StyledText(excerpt, .dim).marked(state.hits, field)
        }
        return parts
    }
}

extension MovieText {
    /// A part of a text around a range, cut at words: the beginning of the text, if that reaches the range.
    fileprivate static func excerpt(_ text: String, around range: Range<String.Index>?, width: Int) -> String
    {
        guard let range, TerminalText.width(String(text[..<range.upperBound])) > width else { return text }
        // A third of the room is for the text before the range.
        var start = range.lowerBound
        while start > text.startIndex {
            let before = text.index(before: start)
            if TerminalText.width(String(text[before..<range.upperBound])) + 2 > max(width / 3, 0) { break }
            start = before
        }
        let word = text[start..<range.lowerBound].firstIndex(of: " ").map { text.index(after: $0) }
        return "… " + text[(word ?? range.lowerBound)...]
    }
}

/// A piece of a line in one style. The text is safe for a terminal already (`TerminalText.visible`).
package struct StyledText: Sendable, Equatable {
    package let text: String
    let style: CellStyle

    package init(_ text: String, _ style: CellStyle = CellStyle()) {
        (self.text, self.style) = (text, style)
    }

    /// The text on lines of at most `width` cells.
    package func lines(width: Int) -> [[StyledText]] {
        TerminalText.wrapped(text, toWidth: width).map { [StyledText($0, style)] }
    }

    /// The text behind its name, on lines of at most `width` cells. The name takes `names` of them.
    package func lines(behind name: String, names: Int, width: Int) -> [[StyledText]] {
        let name = StyledText(TerminalText.padded(name, toWidth: names), .dim)
        let indent = StyledText(String(repeating: " ", count: names))
        return lines(width: max(1, width - names)).enumerated().map { [$0 == 0 ? name : indent] + $1 }
    }
}

extension [StyledText] {
    /// In cells.
    var width: Int { reduce(0) { $0 + TerminalText.width($1.text) } }

    /// Puts the pieces side by side, cut to this width in cells.
    package func put(
        on grid: inout CellGrid, at position: CellPosition, width: Int, clip: CellRectangle? = nil
    ) {
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
