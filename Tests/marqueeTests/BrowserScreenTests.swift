@testable import Films
import FoundationEssentials
import TerminalGraphics
import TestTraits
import Testing

@testable import FilmBrowser

/// The browser's drawing of a state, without a terminal. Every poster is a card.
@Suite("The browser's screen", .bounded)
struct BrowserScreenTests {
    private static let accent = CellColour.rgb(200, 100, 0)

    private func state(columns: Int = 80, rows: Int = 24, keys: String = "") -> BrowserState {
        let movies = (0..<40).map { number in
            Movie(
                id: "\(number)", title: number == 3 ? "The Adventures of Prince Achmed" : "Film \(number)",
                year: 1900 + number, director: number.isMultiple(of: 2) ? "Even" : "Odd", country: "France",
                minutes: 90, genres: ["Drama"],
                overview: Array(repeating: "word", count: 60).joined(separator: " "),
                score: Double(number % 11))
        }
        var state = BrowserState(showing: movies, named: "Season", columns: columns, rows: rows)
        state.type(keys)
        return state
    }

    private func draw(_ state: BrowserState, status: BrowserStatus = BrowserStatus()) -> CellGrid {
        var screen = BrowserScreen(state, status, source: "films")
        screen.accent = Self.accent
        return screen.draw()
    }

    private func rows(_ grid: CellGrid) -> [String] { (0..<grid.size.rows).map { grid.text(ofRow: $0) } }

    private func column(_ text: String, in row: String) -> Int? {
        row.firstRange(of: text).map { TerminalText.width(String(row[..<$0.lowerBound])) }
    }

    // MARK: The list

    @Test("at 80x24 the list has five whole films, each with two lines of overview")
    func list() {
        let lines = rows(draw(state()))
        for film in 0..<5 {
            let top = 2 + 4 * film
            let title = film == 3 ? "The Adventures of Prince Achmed" : "Film \(film)"
            #expect(lines[top].contains("\(title)  \(film.isMultiple(of: 2) ? "Even" : "Odd")"))
            #expect(lines[top].hasSuffix("190\(film)   ★ \(film).0") && TerminalText.width(lines[top]) == 78)
            #expect(lines[top + 1].contains("word word") && lines[top + 2].hasSuffix("…"))
        }
        #expect(lines[0].hasPrefix("  Season · catalogue order ") && lines[0].hasSuffix(" 1/40"))
        #expect(lines[1].isEmpty && lines[22].isEmpty)
    }

    @Test("the selected film has a bar and its title in the accent colour, and nothing is inverse")
    func selected() {
        let grid = draw(state(keys: "j"))
        #expect(grid.text(at: CellPosition(column: 0, row: 6)) == "▌")
        #expect(grid.text(at: CellPosition(column: 0, row: 2)) == " ")
        let title = grid.style(at: CellPosition(column: 8, row: 6))
        #expect(title == CellStyle(foreground: Self.accent, attributes: .bold))
        #expect(grid.style(at: CellPosition(column: 8, row: 2)).foreground == .standard)
        for keys in ["", "v", "vv", "\r", "?", "i", "/x"] {
            let grid = draw(state(keys: keys))
            for row in 0..<24 {
                for column in 0..<80 {
                    let style = grid.style(at: CellPosition(column: column, row: row))
                    #expect(!style.attributes.contains(.reversed))
                }
            }
        }
    }

    @Test("beside the selected film the list has one line of facts, and no overview")
    func wide() {
        for (columns, height) in [(120, 40), (200, 60)] {
            let state = state(columns: columns, rows: height)
            let lines = rows(draw(state))
            let left = state.layout.item.columns
            #expect(lines.allSatisfy { (column("word", in: $0) ?? left) >= left })
            #expect(lines.contains { $0.contains("word word") })
            #expect(lines[3].contains("1900 · Even") && lines[3].contains("★ 0.0"))
        }
    }

    // MARK: Lines

    @Test("the line style has columns of years, directors and scores")
    func lines() throws {
        for columns in [40, 80, 120, 200] {
            let state = state(columns: columns, keys: "v")
            let lines = rows(draw(state))[2..<22]
            let first = try #require(lines.first)
            let (year, score) = (
                try #require(column("1900", in: first)), try #require(column("★", in: first))
            )
            for (number, line) in lines.enumerated() {
                #expect(column("19\(number < 10 ? "0" : "")\(number)", in: line) == year)
                // Numbers are right-aligned: 10.0 starts one column earlier.
                #expect(column("★", in: line) == (number % 11 == 10 ? score - 1 : score))
                if columns > 40 {
                    #expect(column(number.isMultiple(of: 2) ? "Even" : "Odd", in: line) == year + 6)
                }
            }
        }
    }

    // MARK: The wall

    @Test("the selected poster on the wall has a frame in the accent colour, and no other tile moves")
    func wall() throws {
        let (first, second) = (draw(state(keys: "vv")), draw(state(keys: "vvl")))
        let layout = state(keys: "vv").layout
        let tile = layout.rectangle(ofRow: 1, scroll: 0)
        let poster = CellRectangle(
            at: CellPosition(column: tile.origin.column, row: tile.origin.row + 1), size: layout.poster)
        for (column, row, sign) in [
            (poster.columns.lowerBound - 1, poster.rows.lowerBound - 1, "┏"),
            (poster.columns.upperBound, poster.rows.lowerBound - 1, "┓"),
            (poster.columns.lowerBound - 1, poster.rows.lowerBound, "┃"),
            (poster.columns.upperBound, poster.rows.upperBound, "┛"),
        ] {
            let corner = CellPosition(column: column, row: row)
            #expect(second.text(at: corner) == sign && first.text(at: corner) == " ")
            #expect(second.style(at: corner).foreground == Self.accent)
        }
        for grid in [first, second] {
            #expect(grid.text(ofRow: poster.rows.upperBound + 1).contains("1900  0.0"))
            #expect(grid.text(ofRow: poster.rows.upperBound).contains("Film 0"))
        }
        // The only differences: both frames, the titles in them, position and status line.
        for row in poster.rows {
            for column in 0..<80
            where column < poster.columns.lowerBound - 1 || column > poster.columns.upperBound {
                let position = CellPosition(column: column, row: row)
                let isFirst = (0...2 + poster.size.columns).contains(column)
                #expect(isFirst || first.text(at: position) == second.text(at: position))
            }
        }
    }

    @Test("a wall has two rows of whole tiles at 80x24, and a click on a tile selects it")
    func tiles() {
        var state = state(keys: "vv")
        let layout = state.layout
        #expect(layout.perLine >= 5 && 2 * layout.item.rows <= layout.body.size.rows)
        for row in 0..<2 * layout.perLine {
            let tile = layout.rectangle(ofRow: row, scroll: 0)
            _ = state.handle(
                .click(at: CellPosition(column: tile.origin.column + 1, row: tile.origin.row + 2)), now: 0)
            #expect(state.list.selected == row || row == 0)
            state.page = .films
        }
        let last = layout.rectangle(ofRow: layout.perLine - 1, scroll: 0)
        #expect(last.origin.column + layout.poster.columns <= 78)
    }

    // MARK: A film

    @Test("a film's page has named facts, a bar for its score, films of its director, and its neighbours")
    func film() {
        let lines = rows(draw(state(columns: 120, rows: 40, keys: "jjjj\r")))
        for text in [
            "Director  Even", "Year      1904", "Country   France", "Length    90 minutes", "Genre     Drama",
            "Score     ━━━━━━━━────────────  ★ 4.0", "More by Even", "1900  Film 0", "and 13 more",
            "Previous  The Adventures of Prince Achmed  1903", "Next      Film 5  1905",
        ] { #expect(lines.contains { $0.contains(text) }, "\(text)") }
    }

    // MARK: The edges

    @Test("the title line has name, order, filter, state and position")
    func titleLine() {
        var state = state(keys: "jsg/film")
        state.catalogue = .outOfDate(confirmed: 0, why: "no connection")
        var status = BrowserStatus()
        status.now = 7200
        let line = draw(state, status: status).text(ofRow: 0)
        #expect(line.hasPrefix("  Season · best first · /film▏ "))
        #expect(line.hasSuffix(" out of date, 2 hours old   1/39"), "\(line)")
    }

    @Test("a window that is too small says so within its size")
    func tooSmall() {
        func text(_ columns: Int, _ height: Int) -> String {
            rows(draw(state(columns: columns, rows: height))).joined(separator: " ")
        }
        #expect(text(20, 5).hasPrefix("Marquee needs a window of 40 x 10 or more"))
        #expect(text(11, 2).hasPrefix("needs 40x10"))
        #expect(text(5, 1) == "40x10")
        #expect(text(3, 1) == "40x" && text(0, 0).isEmpty)
    }

    @Test("every size and every state can be drawn, and the last cell stays empty")
    func anySize() {
        for columns in [0, 1, 5, 39, 40, 41, 60, 80, 119, 120, 200, 500] {
            for height in [0, 1, 9, 10, 15, 16, 24, 60, 300] {
                for keys in ["", "v", "vv", "\r", "?", "i", "G", "/x"] {
                    let grid = draw(state(columns: columns, rows: height, keys: keys))
                    #expect(grid.size == CellSize(columns: columns, rows: height))
                    guard columns >= 40, height >= 10 else { continue }
                    let last = CellPosition(column: columns - 1, row: height - 1)
                    #expect(grid.text(at: last) == " ")
                }
            }
        }
    }
}
