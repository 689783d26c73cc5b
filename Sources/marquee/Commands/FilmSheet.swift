import FilmBrowser
import Films
import FoundationEssentials
import TerminalGraphics

/// The output of `show` on a terminal: the poster as high as the terminal, and beside it the catalogue's facts. In a
/// narrow terminal the poster is above the facts.
struct FilmSheet {
    typealias Line = [StyledText]

    /// The fewest columns of a terminal for a picture and text side by side.
    private static let narrowestTerminal = 60
    /// The fewest columns of text beside a picture, and the most anywhere.
    private static let narrowestText = 30
    static let widestText = 72
    private static let gap = 2
    private static let labelWidth = 10

    private let width: Int
    /// The largest picture in cells.
    let room: CellSize

    /// - Parameters:
    ///   - terminal: the terminal's size.
    ///   - picture: the largest picture; nil for one as high as the terminal.
    init(terminal: CellSize, picture: CellSize? = nil) {
        width = max(1, terminal.columns - 1)
        let words = terminal.columns < Self.narrowestTerminal ? 0 : Self.narrowestText + Self.gap
        // Leaves a line for the command and a line for the next prompt.
        room = picture ?? CellSize(columns: width - words, rows: max(1, terminal.rows - 2))
    }

    /// The sheet in parts, one below the other.
    /// - Parameters:
    ///   - summary: the text about the poster's file; nil for none.
    ///   - picture: the poster; nil for none.
    ///   - depth: the colours if there is no picture.
    func pieces(
        of movie: Movie, _ summary: String?, _ picture: InlinePicture?, depth: ColourDepth
    ) -> [InlinePicture] {
        let depth = picture?.depth ?? depth
        func text(_ lines: ArraySlice<Line>, from column: Int = 0) -> InlinePicture {
            InlinePicture(cells: grid(lines, from: column), depth: depth)
        }
        guard let picture, picture.cells.size.rows > 0 else {
            return [text(lines(of: movie, summary, width: min(Self.widestText, width))[...])]
        }
        guard room.columns + Self.gap + Self.narrowestText <= width else {
            let lines = lines(of: movie, summary, width: min(Self.widestText, width))
            return [picture, text([[]] + lines)]
        }
        let size = picture.cells.size
        let column = size.columns + Self.gap
        let lines = lines(of: movie, summary, width: min(Self.widestText, width - column))
        var cells = grid(lines.prefix(size.rows), from: column, rows: size.rows)
        cells.place(picture.cells, at: CellPosition(column: 0, row: 0))
        let beside = InlinePicture(cells: cells, drawing: picture.drawing, depth: depth)
        let rest = lines.dropFirst(size.rows)
        return rest.isEmpty ? [beside] : [beside, text(rest, from: column)]
    }

    private func grid(_ lines: ArraySlice<Line>, from column: Int, rows: Int? = nil) -> CellGrid {
        var grid = CellGrid(size: CellSize(columns: width, rows: rows ?? lines.count))
        for (row, line) in lines.enumerated() {
            line.put(on: &grid, at: CellPosition(column: column, row: row), width: width - column)
        }
        return grid
    }

    private func lines(of movie: Movie, _ summary: String?, width: Int) -> [Line] {
        var lines: [Line] = []
        func put(_ text: String?, _ style: CellStyle = CellStyle()) {
            guard let text else { return }
            lines += StyledText(TerminalText.visible(text), style).lines(width: width)
        }
        put(movie.title, .bold)
        put(movie.originalTitle, .dim)
        put("")
        let facts = FilmFacts.all(of: movie) + [("poster", summary)]
        for (label, value) in facts {
            guard var value else { continue }
            if label == "score" { value = "★ " + value }
            lines += StyledText(TerminalText.visible(value))
                .lines(behind: label, names: Self.labelWidth, width: width)
        }
        if let overview = movie.overview {
            put("")
            put(overview)
        }
        return lines
    }
}

/// The facts of a film, labelled.
enum FilmFacts {
    /// In the order of `show`; nil for facts that the catalogue does not have.
    static func all(of movie: Movie) -> [(label: String, value: String?)] {
        let facts = (FilmMember.facts + [.genres]).map { member in
            member == .minutes
                ? (label: "length", value: movie.text(member).map { "\($0) minutes" })
                : (label: member.definition.label.lowercased(), value: movie.text(member))
        }
        return facts + [
            ("rating", MovieText.votes(movie)),
            ("score", movie.score.map { "\($0.formatted(decimals: 1)) of 10" }),
            ("media", movie.media.map(MovieText.path)), ("page", movie.page), ("id", movie.id),
        ]
    }
}
