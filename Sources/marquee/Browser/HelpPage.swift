import TerminalGraphics

/// The keys of the browser.
enum HelpPage {
    private static let keys = [
        ("↑ ↓  j k", "one film up or down (and ← → on the wall)"),
        ("PgUp PgDn  b Space", "a page"),
        ("Home End  g G", "the first, the last"),
        ("Enter", "open the film; Esc goes back"),
        ("n N", "the next, the previous"),
        ("/", "filter as you type; Enter keeps it, Esc ends it"),
        ("s", "change the order"),
        ("v", "list or wall of posters"),
        ("r", "try failed posters again"),
        ("mouse", "wheel scrolls, click selects, a second click opens"),
        ("Ctrl-Z", "stop; fg comes back"),
        ("q  Ctrl-C", "quit"),
    ]

    static func draw(on grid: inout CellGrid, in body: CellRectangle) {
        let width = keys.map { TerminalText.width($0.0) }.max() ?? 0
        for (index, (key, meaning)) in keys.enumerated() {
            let row = body.origin.row + 1 + index
            grid.put(key, at: CellPosition(column: 2, row: row), style: BrowserScreen.bold, clip: body)
            let room = max(0, body.size.columns - width - 5)
            grid.put(
                TerminalText.truncated(meaning, toWidth: room),
                at: CellPosition(column: width + 5, row: row), clip: body)
        }
    }
}
