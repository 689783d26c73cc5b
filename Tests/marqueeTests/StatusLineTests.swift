@testable import Films
import TerminalGraphics
import TestTraits
import Testing

@testable import FilmBrowser

@Suite("The status line", .bounded)
struct StatusLineTests {
    private let film = Movie(
        id: "1", title: "The Passion of Joan of Arc", year: 1928, director: "Carl Theodor Dreyer", score: 9.2)
    private let hints = [
        KeyHint("?", "help"), KeyHint("/", "find"), KeyHint("v", "wall"), KeyHint("s", "sort"),
        KeyHint("Enter", "open"),
    ]

    /// The two lines at a width: the message's and its own.
    private func lines(
        _ status: BrowserStatus = BrowserStatus(), columns: Int, showsFigures: Bool = false,
        hasLineAbove: Bool = true, film: Movie? = nil
    ) -> (above: String, line: String) {
        var grid = CellGrid(size: CellSize(columns: columns, rows: 2))
        let line = StatusLine(
            film: film ?? self.film, status: status, showsFigures: showsFigures, hints: hints,
            accent: .standard)
        line.draw(on: &grid, row: 1, hasLineAbove: hasLineAbove)
        return (grid.text(ofRow: 0), grid.text(ofRow: 1))
    }

    /// A line with two texts at its margins.
    private func spread(_ left: String, _ right: String, _ columns: Int) -> String {
        let room = columns - 4 - TerminalText.width(right)
        return "  " + TerminalText.padded(left, toWidth: room) + right
    }

    @Test("the film has the facts that fit beside the keys, and the keys fit beside its title")
    func room() {
        #expect(
            lines(columns: 120).line
                == spread(
                    "The Passion of Joan of Arc · 1928 · Carl Theodor Dreyer · ★ 9.2",
                    "Enter open  s sort  v wall  / find  ? help", 120))
        #expect(
            lines(columns: 84).line
                == spread(
                    "The Passion of Joan of Arc · 1928", "Enter open  s sort  v wall  / find  ? help", 84))
        #expect(
            lines(columns: 60).line == spread("The Passion of Joan of Arc", "v wall  / find  ? help", 60))
        #expect(lines(columns: 30).line == "  The Passion of Jo…  ? help")
    }

    @Test("a message is above the line, beside the number of failed posters")
    func message() {
        var status = BrowserStatus()
        status.remedy = "r tries again"
        #expect(lines(status, columns: 80).above.isEmpty)
        status.failed = 1
        #expect(lines(status, columns: 80).above == "  1 poster failed · r tries again")
        status.failed = 3
        #expect(lines(status, columns: 80).above == "  3 posters failed · r tries again")
        status.message = "Refreshed: nothing has changed"
        #expect(
            lines(status, columns: 80).above
                == spread("Refreshed: nothing has changed", "3 posters failed · r tries again", 80))
        #expect(lines(status, columns: 60).above == "  Refreshed: nothing has changed")
        status.message = "\u{1B}[2J"
        #expect(lines(status, columns: 30).above == "  ␛[2J")
    }

    @Test("without a line above, a message replaces the film")
    func messageInPlace() {
        var status = BrowserStatus()
        status.message = "Refreshed: nothing has changed"
        let drawn = lines(status, columns: 80, hasLineAbove: false)
        #expect(drawn.above.isEmpty && drawn.line.hasPrefix("  Refreshed: nothing has changed "))
        #expect(drawn.line.hasSuffix("? help"))
        status.message = nil
        status.failed = 2
        #expect(lines(status, columns: 80, hasLineAbove: false).line.hasPrefix("  2 posters failed"))
    }

    @Test("a longer message covers the lines above whole; one that stays covers two at most")
    func longMessage() {
        var status = BrowserStatus()
        status.message = (1...30).map { "word\($0)" }.joined(separator: " ")
        func rows(columns: Int, hasLineAbove: Bool) -> [String] {
            var grid = CellGrid(size: CellSize(columns: columns, rows: 20))
            for row in 0..<20 {
                grid.put(String(repeating: "x", count: columns), at: CellPosition(column: 0, row: row))
            }
            grid.fill(
                CellRectangle(
                    at: CellPosition(column: 0, row: 19), size: CellSize(columns: columns, rows: 1)),
                style: CellStyle())
            StatusLine(film: film, status: status, showsFigures: false, hints: hints, accent: .standard)
                .draw(on: &grid, row: 19, hasLineAbove: hasLineAbove)
            return (0..<20).map { grid.text(ofRow: $0) }
        }
        for hasLineAbove in [true, false] {
            let rows = rows(columns: 60, hasLineAbove: hasLineAbove)
            let covered = rows.dropLast().filter { !$0.hasPrefix("x") }
            #expect(
                covered.joined(separator: " ").split(separator: " ").joined(separator: " ") == status.message)
            #expect(covered.count == 4 && rows[14].hasPrefix("x"))
            #expect(rows[19].hasPrefix("  The Passion of Joan of Arc"))
        }
        status.isStanding = true
        let standing = rows(columns: 60, hasLineAbove: true)
        #expect(
            standing[16].hasPrefix("x") && standing[17].hasPrefix("  word1 ") && standing[18].hasSuffix("…"))
        // However long it is, half of the screen stays.
        status.isStanding = false
        status.message = String(repeating: "word ", count: 1000)
        let longest = rows(columns: 60, hasLineAbove: true)
        #expect(longest[9].hasPrefix("x") && longest[10].hasPrefix("  word") && longest[18].hasSuffix("…"))
    }

    @Test("figures replace the film, and the least important are left out")
    func figures() {
        var status = BrowserStatus()
        (status.visible, status.loading, status.arrivals) = (5, 2, 3)
        #expect(
            lines(status, columns: 80, showsFigures: true).line
                == "⠸"
                + spread("5 visible  2 loading  0 deferred  0 from memory  0 from disk", "? help", 80)
                .dropFirst())
        #expect(
            lines(status, columns: 50, showsFigures: true).line
                == "⠸" + spread("5 visible  2 loading  0 deferred", "? help", 50).dropFirst())
    }

    @Test("every width has a line, whose last cell stays empty")
    func anyWidth() {
        for columns in 0...200 {
            var status = BrowserStatus()
            status.message = "Out of date: no connection; R asks again"
            for above in [true, false] {
                for figures in [true, false] {
                    let line = lines(status, columns: columns, showsFigures: figures, hasLineAbove: above)
                        .line
                    #expect(TerminalText.width(line) < max(1, columns))
                }
            }
        }
    }
}
