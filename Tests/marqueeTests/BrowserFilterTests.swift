import FoundationEssentials
import TerminalGraphics
import TestSupport
import TestTraits
import Testing

/// The filter's results on the screen.
@Suite("The browser's filter in a terminal", .bounded, .ownThread)
struct BrowserFilterTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func started(columns: Int = 80, rows: Int = 24) throws -> PseudoTerminal {
        let films = """
            [{"id":"a","title":"Häxan","year":1922,"director":"Benjamin Christensen","overview":"Witches."},
             {"id":"b","title":"Metropolis","year":1927,"director":"Fritz Lang","country":"Germany",
              "overview":"\(String(repeating: "A long day of work. ", count: 12))Then a robot comes. The end."},
             {"id":"c","title":"Langsam","year":1930,"director":"A. Nobody"}]
            """
        try folder.write(films, to: "films.json")
        let terminal = try PseudoTerminal(
            BuiltProgram.path("marquee"), [folder.file("films.json")],
            environment: ["XDG_CACHE_HOME": folder.path, "COLORTERM": "truecolor"], columns: columns,
            rows: rows)
        try #require(terminal.waits { $0.row(containing: "Häxan") != nil })
        return terminal
    }

    /// The underlined characters of a row, with a bar for each gap.
    private func marked(_ screen: VirtualScreen, row: Int) -> String {
        let cells = (0..<screen.size.columns).map { screen.cell(column: $0, row: row) }
        let text = cells.map { $0.style.attributes.contains(.underlined) ? $0.text : "|" }.joined()
        return text.split(separator: "|").joined(separator: "|")
    }

    @Test("matches are marked, titles come first, and another matching field is shown")
    func marks() throws {
        let terminal = try started()
        terminal.type("/lang")
        try #require(terminal.waits { $0.text(ofRow: 0).hasSuffix("1/2") })
        let screen = terminal.screen
        let first = try #require(screen.row(containing: "Langsam"))
        let second = try #require(screen.row(containing: "Metropolis"))
        #expect(first < second)
        #expect(marked(screen, row: first) == "Lang")
        #expect(screen.text(ofRow: second + 1).hasSuffix("director: Fritz Lang"))
        #expect(marked(screen, row: second) == "Lang" && marked(screen, row: second + 1) == "Lang")
        terminal.type("\u{15}HAX")
        #expect(
            terminal.waits { screen in
                screen.row(containing: "Häxan").map { marked(screen, row: $0) } == "Häx"
            })
        terminal.type("\u{15}robot")
        #expect(
            terminal.waits { screen in
                screen.rows.contains { $0.contains("overview: … ") && $0.contains("Then a robot comes.") }
            }, "\(terminal.screen.rows)")
        terminal.type("\r\r")
        #expect(
            terminal.waits { screen in
                screen.row(containing: "Germany") != nil
                    && screen.rows.indices.contains { marked(screen, row: $0) == "robot" }
            })
        terminal.quit("qq")
    }

    @Test("lines and the wall show the field too", arguments: ["v", "vv"])
    func styles(keys: String) throws {
        let terminal = try started()
        terminal.type(keys + "/robot")
        #expect(
            terminal.waits { screen in screen.rows.contains { $0.contains("overview") && !$0.contains("/") } }
        )
        terminal.quit("\rq")
    }

    @Test("the cursor is where the next letter goes, also in a narrow window", arguments: [40, 80])
    func cursor(columns: Int) throws {
        let terminal = try started(columns: columns, rows: 24)
        func cursor(_ screen: VirtualScreen) -> Character? {
            (0..<columns).map { screen.cell(column: $0, row: 0) }
                .first { $0.style.attributes.contains(.reversed) }?.text.first
        }
        terminal.type("/häxan")
        #expect(terminal.waits { $0.text(ofRow: 0).contains("/häxan▏") && cursor($0) == nil })
        terminal.type("\u{1B}[D\u{1B}[D")
        #expect(terminal.waits { cursor($0) == "a" })
        terminal.type("\u{1}")
        #expect(terminal.waits { cursor($0) == "h" })
        terminal.type("\u{1B}[200~" + String(repeating: "x", count: 100) + "\u{1B}[201~")
        #expect(terminal.waits { cursor($0) == "h" && $0.text(ofRow: 0).contains("xxxx") })
        terminal.quit("\rq")
    }
}
