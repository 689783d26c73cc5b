import Films
import TerminalGraphics

/// The last line: the selected film or the figures, and at the right the keys that help. Messages appear in the line
/// above, which is empty otherwise; in a low window they replace the film. A longer message covers as many lines above as
/// it takes.
struct StatusLine {
    /// The signs that turn while bytes arrive.
    private static let signs = Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
    private static let gap = 2
    /// The most lines of a message that stays, so that it covers no film that is selected in the list.
    private static let mostStanding = 2

    let film: Movie?
    let status: BrowserStatus
    let showsFigures: Bool
    /// The most important first. They are drawn in the opposite order.
    let hints: [KeyHint]
    let accent: CellColour

    /// - Parameters:
    ///   - row: the row of the line.
    ///   - hasLineAbove: whether the row above is for messages.
    func draw(on grid: inout CellGrid, row: Int, hasLineAbove: Bool) {
        if let arrivals = status.arrivals {
            let sign = String(Self.signs[arrivals % Self.signs.count])
            grid.put(sign, at: CellPosition(column: 0, row: row), style: .dim)
        }
        let margin = BrowserLayout.margin
        // The last cell stays empty: some terminals scroll when it is written.
        let room = grid.size.columns - 2 * margin
        guard room > 0 else { return }
        var message = TerminalText.visible(status.message ?? "")
        let isLong = TerminalText.width(message) > room - (hasLineAbove ? 0 : roomForHint)
        if isLong, row > 1 {
            drawLong(message, on: &grid, above: row, room: room)
            message = ""
        } else if hasLineAbove {
            drawMessage(message, on: &grid, row: row - 1, room: room)
        }
        let said = !hasLineAbove && !isLong && (!message.isEmpty || status.failed > 0)
        let text: [[StyledText]] =
            if said {
                [[StyledText(message.isEmpty ? status.failures : message, .dim)]]
            } else if showsFigures {
                status.figures.indices.reversed().map {
                    [StyledText(status.figures[...$0].joined(separator: "  "), .dim)]
                }
            } else {
                film.map(filmTexts) ?? []
            }
        // Beside figures or a message, only one key is shown; beside a film as many as fit, at least one.
        var shown = said || showsFigures ? hints.prefix(1) : hints[...]
        let beside = Self.gap + (text.last?.width ?? 0)
        while shown.count > 1, Self.line(shown).width + beside > room { shown.removeLast() }
        let keys = Self.line(shown)
        let left = max(0, room - keys.width - (keys.isEmpty ? 0 : Self.gap))
        let fitting = text.first { $0.width <= left } ?? text.last ?? []
        fitting.put(on: &grid, at: CellPosition(column: margin, row: row), width: left)
        keys.put(
            on: &grid, at: CellPosition(column: margin + room - keys.width, row: row), width: keys.width)
    }

    /// The cells beside a message in the last line.
    private var roomForHint: Int { hints.isEmpty ? 0 : Self.line(hints.prefix(1)).width + Self.gap }

    /// Hints side by side, the most important one last.
    private static func line(_ hints: ArraySlice<KeyHint>) -> [StyledText] {
        Array(
            hints.reversed().flatMap { hint in
                [
                    StyledText(String(repeating: " ", count: gap)), StyledText(hint.key + " "),
                    StyledText(hint.meaning, .dim),
                ]
            }.dropFirst())
    }

    /// A message in the lines above the last one. One that the next key removes may cover half of the screen.
    private func drawLong(_ message: String, on grid: inout CellGrid, above row: Int, room: Int) {
        let most = status.isStanding ? Self.mostStanding : max(1, row / 2)
        var lines = TerminalText.wrapped(message, toWidth: room)
        if lines.count > most {
            let rest = lines[(most - 1)...].joined(separator: " ")
            lines = lines.prefix(most - 1) + [TerminalText.truncated(rest, toWidth: room)]
        }
        for (index, line) in lines.enumerated() {
            let place = CellPosition(column: 0, row: row - lines.count + index)
            grid.fill(
                CellRectangle(at: place, size: CellSize(columns: grid.size.columns, rows: 1)),
                style: CellStyle())
            grid.put(line, at: CellPosition(column: BrowserLayout.margin, row: place.row), style: .dim)
        }
    }

    /// The message at the left, and the number of failed posters at the right if both have room.
    private func drawMessage(_ message: String, on grid: inout CellGrid, row: Int, room: Int) {
        let margin = BrowserLayout.margin
        let text = TerminalText.truncated(message, toWidth: room)
        grid.put(text, at: CellPosition(column: margin, row: row), style: .dim)
        let failures = status.failures
        let width = TerminalText.width(failures)
        let left = TerminalText.width(text)
        guard left == 0 || left + 2 * Self.gap + width <= room else { return }
        let column = left == 0 ? margin : margin + room - width
        grid.put(
            TerminalText.truncated(failures, toWidth: room), at: CellPosition(column: column, row: row),
            style: .dim)
    }

    /// The film's text in ever shorter forms.
    private func filmTexts(_ movie: Movie) -> [[StyledText]] {
        let title = StyledText(
            TerminalText.visible(movie.title), CellStyle(foreground: accent, attributes: .bold))
        let year = movie.year.map(String.init)
        let score = MovieText.score(movie)
        let facts = [
            [year, movie.director.map { TerminalText.visible($0) }, score], [year, score], [year], [score],
            [],
        ]
        return facts.map { parts in
            [title] + parts.compactMap(\.self).map { StyledText(" · " + $0, .dim) }
        }
    }
}

/// The browser's activity, for the status line.
package struct BrowserStatus {
    package var visible = 0
    package var loading = 0
    package var deferred = 0
    /// The posters on the screen that failed to load.
    package var failed = 0
    package var memoryHits = 0
    package var diskHits = 0
    /// How many times bytes have arrived since the browser began; nil while nothing is loading.
    package var arrivals: Int?
    /// The message to show; nil if there is none.
    package var message: String?
    /// Whether the message stays after the next key.
    package var isStanding = false
    /// What to do about posters that failed; empty for nothing.
    package var remedy = ""
    /// The time, in seconds since 1970, and since the browser began.
    package var (now, seconds) = (0, 0)

    package init() {}

    /// The figures, the most important first.
    var figures: [String] {
        [
            "\(visible) visible", "\(loading) loading", "\(deferred) deferred", "\(memoryHits) from memory",
            "\(diskHits) from disk",
        ]
    }

    /// `3 posters failed · r tries again`; empty if none failed.
    var failures: String {
        if failed == 0 { return "" }
        return "\(failed) \(failed == 1 ? "poster" : "posters") failed"
            + (remedy.isEmpty ? "" : " · " + remedy)
    }
}

/// A key and its meaning here, as the status line shows them.
struct KeyHint: Equatable {
    let key: String
    let meaning: String

    init(_ key: String, _ meaning: String) { (self.key, self.meaning) = (key, meaning) }
}

extension BrowserState {
    /// The keys that matter most here. The first is the last to be left out.
    var hints: [KeyHint] {
        usualHints.compactMap { hint in presentKeys.shown(hint.key).map { KeyHint($0, hint.meaning) } }
    }

    private var usualHints: [KeyHint] {
        switch overlay {
        case .help, .picture, .answer: return [KeyHint("Esc", "back")]
        case .address: return [KeyHint("Enter", "open"), KeyHint("Esc", "back")]
        case .opening: return [KeyHint("Esc", "stop")]
        case .versions: return [KeyHint("1-9", "play it"), KeyHint("Esc", "none")]
        case .question: return [KeyHint("y", "yes"), KeyHint("n", "no"), KeyHint("Esc", "not now")]
        case nil: break
        }
        if isFiltering {
            let enter = canSearch ? "search the server" : "keep"
            return [KeyHint("Enter", enter), KeyHint("Esc", "all films"), KeyHint("↑", "earlier")]
        }
        let help = KeyHint("?", "help")
        if page == .film {
            let play = list.selectedMovie?.media == nil || !hasPlayer ? [] : [KeyHint("Enter", "play")]
            return [help] + play + [
                KeyHint("Esc", "back"), KeyHint("n", "next"), KeyHint("N", "previous"),
                KeyHint("i", failure?.request == nil ? "figures" : "answer"),
            ]
        }
        if !list.selection.isEmpty {
            return [
                help, KeyHint("Esc", "none"), KeyHint("w", "seen"), KeyHint("f", "favourite"),
                KeyHint("o", "save posters"), KeyHint("e", "export"),
            ]
        }
        return [
            help, KeyHint("/", "find"), KeyHint("v", nextStyle.rawValue), KeyHint("s", "sort"),
            KeyHint("Enter", "open"),
        ]
    }
}
