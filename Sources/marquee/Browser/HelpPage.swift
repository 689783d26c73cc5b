import TerminalGraphics

/// The keys of the browser.
enum HelpPage {
    /// As many as a window of 24 rows shows.
    private static let keys = [
        ("↑ ↓  j k", "one film up or down; scrolls a long text"),
        ("← →  h l  n N", "on the wall, and from one film's page to the next"),
        ("PgUp PgDn  b Ctrl-F", "a page; Ctrl-U and Ctrl-D half a page"),
        ("Home End  g G", "the first, the last"),
        ("Enter", "open the film; on its page play it; Esc goes back"),
        ("/", "search; Enter keeps it, Esc ends it, Up earlier ones"),
        ("in a search", "director: lang year: 1920..1929, also title: genre:"),
        ("", "is:seen is:unseen is:favourite is:to-watch is:rated"),
        ("s v", "the next order; list, lines, or wall of posters"),
        ("w f t", "mark as seen, favourite, to watch; u undoes it"),
        ("1 to 9, 0, -", "your own rating: 1 to 9, 10, none"),
        ("Space", "select several; A all, Esc none"),
        ("i", "figures; for a poster that failed, the answer"),
        ("r R", "load failed posters; all films again: + new, ~ changed"),
        ("y o", "copy the poster's URL, save it; in the list open a URL"),
        ("e", "save the films selected as a catalogue"),
        ("mouse", "wheel scrolls, click selects, a second click opens"),
        ("Ctrl-Z", "stop; fg comes back"),
        ("q", "back from a page; from the list quit, as Ctrl-C does"),
    ]
    private static let keyWidth = keys.map { TerminalText.width($0.0) }.max() ?? 0
    private static let margin = 2
    /// The fewest columns of a meaning beside its key; with less room the meaning goes below.
    private static let narrowestMeaning = 30

    /// One line: a key, a part of its meaning, or both.
    struct Line: Equatable {
        var key = ""
        var meaning = ""
        /// Where the meaning begins.
        let column: Int
    }

    /// The help in lines of at most this width, in cells.
    /// - Parameter own: the keys that the person has set; empty for none.
    static func lines(width: Int, own: String) -> [Line] {
        let keys = own.isEmpty ? keys : [("your own keys", own)] + keys
        let beside = margin + keyWidth + 3
        let isBeside = width - beside - 1 >= narrowestMeaning
        let column = isBeside ? beside : 2 * margin
        return [Line(column: column)]
            + keys.flatMap { key, meaning in
                let parts = TerminalText.wrapped(meaning, toWidth: width - column - 1)
                    .map { Line(meaning: $0, column: column) }
                guard isBeside, let first = parts.first else {
                    return [Line(key: key, column: column)] + parts
                }
                return [Line(key: key, meaning: first.meaning, column: column)] + parts.dropFirst()
            }
    }

    /// Draws the lines, beginning with line number `top`.
    static func draw(on grid: inout CellGrid, in body: CellRectangle, from top: Int, own: String) {
        for (index, line) in lines(width: body.size.columns, own: own).dropFirst(top).prefix(body.size.rows)
            .enumerated()
        {
            let row = body.origin.row + index
            grid.put(
                line.key, at: CellPosition(column: margin, row: row), style: BrowserScreen.bold, clip: body)
            grid.put(line.meaning, at: CellPosition(column: line.column, row: row), clip: body)
        }
    }
}
