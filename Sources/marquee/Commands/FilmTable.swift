import FilmSources
import Films
import LazyImages
import TerminalGraphics

/// The films as a table on a terminal. The last line explains the signs:
///
///        Score  Year  Title                Director
///     ●  ★ 8.6  1902  A Trip to the Moon   Georges Méliès
///     36 films: ● 12 posters cached, ○ 24 not; marquee prewarm fetches the rest
struct FilmTable {
    /// The first cells of the columns.
    private static let (scoreColumn, yearColumn, titleColumn) = (3, 10, 16)
    private static let gap = 2
    /// Longer titles are cut.
    private static let widestTitle = 44

    private let rows: [FilmRecord]
    private let width: Int
    private let directorColumn: Int

    /// - Parameter width: the terminal's columns.
    init(_ rows: [FilmRecord], width: Int) {
        self.rows = rows
        self.width = width
        let widths = Self.columnWidths(rows, in: width)
        directorColumn = Self.titleColumn + widths.title + Self.gap
    }

    /// The width of the titles if no terminal limits it.
    static func titleWidth(_ rows: [FilmRecord]) -> Int {
        min(widestTitle, rows.map { TerminalText.width(TerminalText.visible($0.movie.title)) }.max() ?? 0)
    }

    /// The widths of titles and directors: the widths they need if the terminal is wide enough; otherwise the titles
    /// get three fifths of its width.
    static func columnWidths(_ rows: [FilmRecord], in width: Int) -> (title: Int, director: Int) {
        let title = titleWidth(rows)
        let room = max(0, width - titleColumn - gap)
        let director =
            rows.map { TerminalText.width(TerminalText.visible($0.movie.maker ?? "")) }.max() ?? 0
        if title + director <= room { return (title, director) }
        let narrowTitle = min(title, max(room * 3 / 5, room - director))
        return (narrowTitle, room - narrowTitle)
    }

    func print(_ session: Session) {
        let output = session.output
        func line(_ draw: (inout CellGrid) -> Void) {
            var grid = CellGrid(size: CellSize(columns: width, rows: 1))
            draw(&grid)
            output.picture(InlinePicture(cells: grid, depth: session.settings.colourDepth))
        }
        if !rows.isEmpty { line(header) }
        for row in rows { line { put(row, on: &$0) } }
        for text in TerminalText.wrapped(Self.summary(rows), toWidth: width) { output.line(text) }
    }

    private func header(on grid: inout CellGrid) {
        let style = CellStyle(attributes: [.dim, .underlined])
        put("Score", Self.scoreColumn, on: &grid, style)
        put("Year", Self.yearColumn, on: &grid, style)
        put("Title", Self.titleColumn, on: &grid, style)
        put("Director", directorColumn, on: &grid, style)
    }

    private func put(_ row: FilmRecord, on grid: inout CellGrid) {
        let movie = row.movie
        if movie.poster != nil {
            put(row.isCached == true ? "●" : "○", 0, on: &grid, row.isCached == true ? CellStyle() : .dim)
        }
        if let standing = movie.rankingScore {
            let score = standing.formatted(decimals: 1)
            put(
                "★" + TerminalText.padded(score, toWidth: 4, alignment: .trailing), Self.scoreColumn,
                on: &grid)
        }
        if let year = movie.year { put("\(year)", Self.yearColumn, on: &grid, .dim) }
        let title = TerminalText.truncated(
            TerminalText.visible(movie.title), toWidth: directorColumn - Self.gap - Self.titleColumn)
        put(title, Self.titleColumn, on: &grid, .bold)
        let director = TerminalText.truncated(
            TerminalText.visible(movie.maker ?? ""), toWidth: width - directorColumn)
        put(director, directorColumn, on: &grid)
    }

    private func put(
        _ text: String, _ column: Int, on grid: inout CellGrid, _ style: CellStyle = CellStyle()
    ) {
        grid.put(text, at: CellPosition(column: column, row: 0), style: style)
    }

    /// The number of films, and the meaning of the signs before them.
    static func summary(_ rows: [FilmRecord]) -> String {
        let films = rows.count == 1 ? "1 film" : "\(rows.count) films"
        let posters = rows.count { $0.movie.poster != nil }
        let cached = rows.count { $0.movie.poster != nil && $0.isCached == true }
        if posters == 0 { return films }
        if cached == posters { return "\(films): ● every poster cached" }
        let noun = cached == 1 ? "poster" : "posters"
        return
            "\(films): ● \(cached) \(noun) cached, ○ \(posters - cached) not; marquee prewarm fetches the rest"
    }
}

/// A film in `list --json` and `show --json`: all facts of the catalogue, and the state of its poster. `JSONHelp` lists
/// its members.
struct FilmRecord: Encodable {
    let movie: Movie
    /// The base URL of its addresses.
    let base: BaseURL
    /// The poster's whole address; nil keeps the catalogue's.
    let poster: String?
    /// Whether the poster is cached, if that was looked up.
    var isCached: Bool?
    /// The person's marks.
    var marks = FilmMarks()
    /// The result of the poster's fetch, if it was fetched.
    var fetch: FetchRecord?

    private enum CodingKeys: String, CodingKey {
        case poster, media, versions, episodes
        case isCached = "cached"
        case marks
        case ownRating = "own_rating"
        case fetch
    }

    func encode(to encoder: any Encoder) throws {
        try movie.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(poster, forKey: .poster)
        try container.encodeIfPresent(movie.media.map { base.media($0) }, forKey: .media)
        if !movie.parts.isEmpty {
            let parts = movie.parts.map {
                FilmPart(season: $0.season, number: $0.number, title: $0.title, media: base.media($0.media))
            }
            try container.encode(parts, forKey: movie.isSeries ? .episodes : .versions)
        }
        try container.encodeIfPresent(isCached, forKey: .isCached)
        let names = FilmMark.allCases.filter { $0 != .rating && marks[$0] > 0 }.map(\.rawValue)
        if !names.isEmpty { try container.encode(names, forKey: .marks) }
        try container.encodeIfPresent(marks.rating, forKey: .ownRating)
        try container.encodeIfPresent(fetch, forKey: .fetch)
    }
}
