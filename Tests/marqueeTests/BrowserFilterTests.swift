import FoundationEssentials
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
        return try .browser(
            [folder.file("films.json")], in: folder, columns: columns, rows: rows, showing: "Häxan")
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
        try terminal.type("/lang") { $0.text(ofRow: 0).hasSuffix("1/2") }
        let screen = terminal.screen
        let first = try #require(screen.row(containing: "Langsam"))
        let second = try #require(screen.row(containing: "Metropolis"))
        #expect(first < second)
        #expect(marked(screen, row: first) == "Lang")
        #expect(screen.text(ofRow: second + 1).hasSuffix("director: Fritz Lang"))
        #expect(marked(screen, row: second) == "Lang" && marked(screen, row: second + 1) == "Lang")
        try terminal.type("\u{15}HAX") { screen in
            screen.row(containing: "Häxan").map { marked(screen, row: $0) } == "Häx"
        }
        try terminal.type("\u{15}robot") { screen in
            screen.rows.contains { $0.contains("overview: … ") && $0.contains("Then a robot comes.") }
        }
        try terminal.type("\r\r") { screen in
            screen.row(containing: "Germany") != nil
                && screen.rows.indices.contains { marked(screen, row: $0) == "robot" }
        }
        terminal.quit("qq")
    }

    @Test("lines and the wall show the field too", arguments: ["v", "vv"])
    func styles(keys: String) throws {
        let terminal = try started()
        try terminal.type(keys + "/robot") { screen in
            screen.rows.contains { $0.contains("overview") && !$0.contains("/") }
        }
        terminal.quit("\rq")
    }

    @Test("the cursor is where the next letter goes, also in a narrow window", arguments: [40, 80])
    func cursor(columns: Int) throws {
        let terminal = try started(columns: columns, rows: 24)
        func cursor(_ screen: VirtualScreen) -> Character? {
            (0..<columns).map { screen.cell(column: $0, row: 0) }
                .first { $0.style.attributes.contains(.reversed) }?.text.first
        }
        try terminal.type("/häxan") { $0.text(ofRow: 0).contains("/häxan▏") && cursor($0) == nil }
        try terminal.type("\u{1B}[D\u{1B}[D") { cursor($0) == "a" }
        try terminal.type("\u{1}") { cursor($0) == "h" }
        try terminal.type("\u{1B}[200~" + String(repeating: "x", count: 100) + "\u{1B}[201~") {
            cursor($0) == "h" && $0.text(ofRow: 0).contains("xxxx")
        }
        terminal.quit("\rq")
    }
}
