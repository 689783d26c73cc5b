import MovieCatalogue
import TerminalGraphics

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
    func drawListItem(_ row: Int, in area: CellRectangle, on grid: inout CellGrid) {
        let movie = list.movie(inRow: row)
        let (top, poster) = (area.origin.row, state.layout.poster)
        drawBar(row, in: area, lines: poster.rows, on: &grid)
        let left = BrowserLayout.margin
        drawPoster(
            self.poster(row, poster), of: movie,
            in: CellRectangle(at: CellPosition(column: left, row: top), size: poster), on: &grid)
        let column = left + poster.columns + (poster.columns > 0 ? Self.gap : 0)
        let width = area.size.columns - column - BrowserLayout.margin
        guard width > 0 else { return }
        func put(_ parts: [StyledText], _ line: Int) {
            parts.put(
                on: &grid, at: CellPosition(column: column, row: top + line), width: width, clip: body)
        }
        let overview: (first: Int, lines: Int)
        let measure = min(width, Self.measure)
        let note = hitNote(movie, width: poster.rows > 2 ? measure : measure - MovieText.scoreWidth)
        let isBesideFilm = state.layout.film != nil
        if width >= Self.widthForFacts, !isBesideFilm {
            let facts = yearAndScore(movie)
            let room = width - facts.width - Self.gap
            put([StyledText(TerminalText.padded("", toWidth: room + Self.gap))] + facts, 0)
            var title = titleParts(row)
            if let director = movie.director {
                title += StyledText("  " + TerminalText.visible(director), Self.dim)
                    .marked(list.words, .director)
            }
            title.put(on: &grid, at: CellPosition(column: column, row: top), width: room, clip: body)
            overview = (1, poster.rows - 1)
        } else {
            put(titleParts(row), 0)
            let score = MovieText.scoreColumn(movie)
            put([StyledText(TerminalText.padded("", toWidth: width - score.count) + score, Self.dim)], 1)
            let space = movie.year == nil || movie.director == nil ? "" : " · "
            let director = TerminalText.visible(movie.director ?? "")
            let facts =
                StyledText(movie.year.map(String.init) ?? "", Self.dim).marked(list.words, .year)
                + [StyledText(space, Self.dim)] + StyledText(director, Self.dim).marked(list.words, .director)
            // A poster of at most two rows leaves no line for the note. The note then replaces the facts.
            (poster.rows > 2 ? facts : note ?? facts).put(
                on: &grid, at: CellPosition(column: column, row: top + 1),
                width: max(0, width - score.count), clip: body)
            // The film in full shows the overview already.
            overview = (2, isBesideFilm ? 0 : poster.rows - 2)
        }
        if let note, overview.first < poster.rows { put(note, overview.first) }
        let taken = note == nil ? 0 : 1
        let lines = MovieText.overview(movie, width: measure, lines: overview.lines - taken)
        for (index, line) in lines.enumerated() {
            put(StyledText(line, Self.dim).marked(list.words, .overview), overview.first + taken + index)
        }
    }

    // MARK: Lines

    /// One film in one line, in columns:
    ///
    ///     Metropolis                                  1927  Fritz Lang       ★ 8.9
    func drawLine(_ row: Int, in area: CellRectangle, on grid: inout CellGrid) {
        let movie = list.movie(inRow: row)
        drawBar(row, in: area, lines: 1, on: &grid)
        let left = BrowserLayout.margin
        let width = area.size.columns - 2 * left
        let facts = Self.gap + Self.yearWidth + Self.gap + MovieText.scoreWidth
        var director = min(max(width / 4, Self.narrowestDirector), Self.widestDirector)
        if width - facts - director - Self.gap < Self.narrowestTitle { director = 0 }
        let title = max(0, width - facts - (director > 0 ? director + Self.gap : 0))
        let line = area.origin.row
        titleParts(row).put(
            on: &grid, at: CellPosition(column: left, row: line), width: title, clip: body)
        let space = String(repeating: " ", count: Self.gap)
        var column = left + title
        func put(_ parts: [StyledText], _ width: Int) {
            parts.put(on: &grid, at: CellPosition(column: column, row: line), width: width, clip: body)
            column += width
        }
        put([StyledText(space)], Self.gap)
        put(StyledText(yearColumn(movie), Self.dim).marked(list.words, .year), Self.yearWidth)
        put([StyledText(space)], Self.gap)
        if director > 0 {
            let name = StyledText(TerminalText.visible(movie.director ?? ""), Self.dim)
            put(
                hitNote(movie, width: director, besides: [.director, .year])
                    ?? name.marked(list.words, .director), director)
            put([StyledText(space)], Self.gap)
        }
        put([StyledText(MovieText.scoreColumn(movie), Self.dim)], MovieText.scoreWidth)
    }

    // MARK: What both have

    /// The title, with `+ ` or `~ ` before a film that the refresh has added or changed.
    func titleParts(_ row: Int) -> [StyledText] {
        let title = TerminalText.visible(list.movie(inRow: row).title)
        let mark = mark(ofRow: row)
        let style = row == list.selected ? selected : state.layout.style == .list ? Self.bold : CellStyle()
        return (mark.isEmpty ? [] : [StyledText(mark, Self.marked)])
            + StyledText(title, style).marked(list.words, .title)
    }

    private func mark(ofRow row: Int) -> String {
        switch list.change(inRow: row) {
        case .new: "+ "
        case .changed: "~ "
        case nil: ""
        }
    }

    /// The bar at the left of the selected film.
    private func drawBar(_ row: Int, in area: CellRectangle, lines: Int, on grid: inout CellGrid) {
        guard row == list.selected else { return }
        for line in 0..<lines {
            grid.put(
                "▌", at: CellPosition(column: 0, row: area.origin.row + line),
                style: CellStyle(foreground: accent), clip: body)
        }
    }

    /// `1927   ★ 8.9`
    private func yearAndScore(_ movie: Movie) -> [StyledText] {
        let score = String(repeating: " ", count: Self.gap) + MovieText.scoreColumn(movie)
        return StyledText(yearColumn(movie), Self.dim).marked(list.words, .year)
            + [StyledText(score, Self.dim)]
    }

    private func yearColumn(_ movie: Movie) -> String {
        TerminalText.padded(
            movie.year.map(String.init) ?? "", toWidth: Self.yearWidth, alignment: .trailing)
    }
}
