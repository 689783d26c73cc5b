@testable import Films
import TerminalGraphics
import TestTraits
import Testing

@testable import FilmBrowser

@Suite("A film's page", .bounded)
struct FilmPageTests {
    private func page(columns: Int, rows: Int) -> FilmPage {
        FilmPage(
            in: CellRectangle(
                at: CellPosition(column: 0, row: 2), size: CellSize(columns: columns, rows: rows - 4)),
            cellAspect: 2, isAlone: true)
    }

    private func text(_ lines: [FilmPage.Line]) -> [String] {
        lines.map { $0.map(\.text).joined() }
    }

    @Test("poster and text are one centred block, with lines short enough to read")
    func block() {
        for (columns, rows) in [(80, 24), (120, 40), (200, 60), (300, 60)] {
            let page = page(columns: columns, rows: rows)
            let right = columns - page.text.columns.upperBound
            #expect(abs(page.poster.columns.lowerBound - right) <= 1)
            #expect(page.poster.columns.upperBound + 3 == page.text.columns.lowerBound)
            #expect((34...72).contains(page.text.size.columns))
            #expect(page.poster.size.rows == rows - 4)
        }
        // A tall window: the poster is in its middle.
        let tall = page(columns: 60, rows: 60)
        #expect(abs((tall.poster.rows.lowerBound - 2) - (58 - tall.poster.rows.upperBound)) <= 1)
    }

    @Test("missing facts are left out, and long ones are on several lines")
    func facts() {
        let page = page(columns: 80, rows: 24)
        let bare = Movie(id: "1", title: "Film")
        #expect(text(page.lines(of: bare, FilmContext())) == ["Film", ""])
        let film = Movie(
            id: "1", title: "Film", genres: Array(repeating: "Science fiction", count: 5), rating: 8.25,
            votes: 1)
        let lines = text(page.lines(of: film, FilmContext()))
        #expect(lines[2].hasPrefix("Genre     Science fiction, "))
        #expect(lines[3].hasPrefix("          Science") || lines[3].hasPrefix("          fiction"))
        #expect(lines.last == "Rating    ━━━━━━━━━━━━━━━━╸───  ★ 8.3, 1 vote")
        #expect(lines.allSatisfy { TerminalText.width($0) <= page.text.size.columns })
    }

    @Test("the neighbouring films are beside the poster's lower edge")
    func foot() {
        let page = page(columns: 120, rows: 40)
        var around = FilmContext(failure: PosterFailure("the catalogue names none"))
        around.sameDirector = ([Movie(id: "2", title: "Other", year: 1920, director: "D")], 1)
        around.previous = Movie(id: "3", title: "Before")
        around.next = Movie(id: "4", title: "After", year: 1930)
        let film = Movie(id: "1", title: "Film", director: "D", overview: "What it is about.")
        let lines = text(page.lines(of: film, around))
        #expect(lines.count == page.poster.size.rows)
        #expect(
            lines.suffix(5) == [
                "More by D", "1920  Other", "", "Previous  Before", "Next      After  1930",
            ])
        #expect(lines.contains("No poster: the catalogue names none"))
        #expect(lines[4] == "What it is about.")
    }
}
