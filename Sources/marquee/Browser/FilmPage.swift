import MovieCatalogue
import TerminalGraphics

/// Where one film in full stands, its poster and beside it all that the catalogue says: on a page of its own, or beside
/// the list.
struct FilmPage: Equatable {
    /// One line of what is said.
    struct Line: Equatable {
        let text: String
        var style = CellStyle()
    }

    /// The columns that the words have at least.
    private static let narrowestText = 30
    /// What can be read with ease.
    private static let widestText = 76

    /// The poster's cells: as large as fits beside the words.
    let poster: CellRectangle
    /// The cells of the words.
    let text: CellRectangle

    init(in area: CellRectangle, cellAspect: Double) {
        let columns = min(area.size.columns * 11 / 20, area.size.columns - Self.narrowestText)
        let size = CellSize(columns: columns, rows: area.size.rows)
            .fitting(imageWidth: 2, imageHeight: 3, cellAspect: cellAspect)
        let origin = area.origin
        poster = CellRectangle(at: CellPosition(column: origin.column + 1, row: origin.row), size: size)
        let start = size.columns + 3
        text = CellRectangle(
            at: CellPosition(column: origin.column + start, row: origin.row),
            size: CellSize(
                columns: min(area.size.columns - start - 1, Self.widestText), rows: area.size.rows))
    }

    /// All that is said of a film.
    /// - Parameters:
    ///   - change: what a refresh found of it; nil if nothing.
    ///   - failure: why its poster could not be had; nil if it could.
    func lines(of movie: Movie, _ change: FilmSet.Change?, _ failure: PosterFailure?) -> [Line] {
        var lines: [Line] = []
        func put(_ text: String, _ style: CellStyle = CellStyle()) {
            let parts = TerminalText.wrapped(TerminalText.visible(text), toWidth: self.text.size.columns)
            lines += parts.map { Line(text: $0, style: style) }
        }
        put(movie.title, BrowserScreen.bold)
        if let original = movie.originalTitle { put(original, BrowserScreen.dim) }
        switch change {
        case .new: put("+ new since the refresh", BrowserScreen.marked)
        case .changed: put("~ changed since the refresh before", BrowserScreen.marked)
        case nil: break
        }
        put("")
        for fact in MovieText.allFacts(movie) { put(fact) }
        if let overview = movie.overview {
            put("")
            put(overview)
        }
        if let failure {
            put("")
            put(failure.line, BrowserScreen.dim)
            if let address = failure.address { put(address, BrowserScreen.dim) }
        }
        return lines
    }
}
