import TerminalGraphics

/// The keys of the browser.
enum HelpPage {
    /// As many as a window of 24 rows shows. The keys are templates of ``BrowserKeys/text(_:)``.
    private static let rows = [
        ("{↑} {↓}  {j} {k}", "one film up or down; scrolls a long text"),
        ("{←} {→}  {h} {l}  {n} {N}", "on the wall, and from one film's page to the next"),
        ("{PgUp} {PgDn}  {b} {Ctrl-F}", "a page; {Ctrl-U} and {Ctrl-D} half a page"),
        ("{Home} {End}  {g} {G}", "the first, the last"),
        ("{Enter}", "open the film; on its page play it; {Esc} goes back"),
        ("{/}", "search; Enter keeps it, Esc ends it, Up earlier ones"),
        ("in a search", "director: lang year: 1920..1929, also title: genre:"),
        ("", "is:seen is:unseen is:favourite is:to-watch is:rated"),
        ("{s} {v}", "the next order; list, lines, or wall of posters"),
        ("{w} {f} {t}", "mark as seen, favourite, to watch; {u} undoes it"),
        ("{1}{2}{3}{4}{5}{6}{7}{8}{9}  {0} {-}", "your own rating: 1 to 9, 10, none"),
        ("{Space} {A}", "select several, all; {Esc} none"),
        ("{i}", "figures; for a poster that failed, the answer"),
        ("{r} {R}", "load failed posters; all films again: + new, ~ changed"),
        ("{y} {o}", "copy the poster's URL, save it; in the list open a URL"),
        ("{e}", "save the films selected as a catalogue"),
        ("mouse", "wheel scrolls, click selects, a second click opens"),
        ("Ctrl-C Ctrl-Z", "end at once; stop, until fg"),
        ("{q}", "back from a page; from the list quit"),
    ]
    private static let margin = BrowserLayout.margin
    /// The fewest columns of a meaning beside its key; with less room the meaning goes below.
    private static let narrowestMeaning = 30

    /// The keys of a row; nil if the person has none of them. Two spaces stand between keys for the same.
    private static func named(_ template: String, _ keys: BrowserKeys) -> String? {
        let groups = template.split(separator: "  ").map { keys.text(String($0)) }.filter { !$0.isEmpty }
        return groups.isEmpty && !template.isEmpty ? nil : groups.joined(separator: "  ")
    }

    /// The help in lines: each has a key, a part of its meaning, or both.
    /// - Parameters:
    ///   - width: the window's width in cells. The lines begin behind its margin.
    ///   - keys: the keys that it names.
    static func lines(width: Int, _ keys: BrowserKeys) -> [[StyledText]] {
        let rows = rows.compactMap { row in named(row.0, keys).map { ($0, keys.text(row.1)) } }
        let keyWidth = rows.map { TerminalText.width($0.0) }.max() ?? 0
        let isBeside = width - margin - keyWidth - 4 >= narrowestMeaning
        // Where the meaning begins.
        let column = isBeside ? keyWidth + 3 : margin
        return [[]]
            + rows.flatMap { key, meaning in
                let parts = TerminalText.wrapped(meaning, toWidth: width - margin - column - 1)
                let lines = parts.enumerated().map { number, part in
                    let name = isBeside && number == 0 ? key : ""
                    let space = TerminalText.padded("", toWidth: column - TerminalText.width(name))
                    return [StyledText(name, .bold), StyledText(space), StyledText(part)]
                }
                return isBeside ? lines : [[StyledText(key, .bold)]] + lines
            }
    }
}
