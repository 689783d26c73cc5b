import Hashing
import SystemSupport
import TerminalGraphics

/// A card in place of a poster: it has the poster's size, the film's title, and a colour made from the title.
package struct TitleCard {
    package enum State: Equatable {
        /// Its turn has not come.
        case waiting
        /// The poster loads, and this part has arrived, 0 to 1; nil if the length is unknown.
        case loading(Double?)
        case failed
        /// The film has no poster.
        case missing
    }

    /// The luminance of a card, of its filled part, of its frame, and of a card whose poster failed. White text on the
    /// brightest has a contrast of 5.7.
    private static let luminances = (ground: 0.035, filled: 0.11, line: 0.17, failedGround: 0.012)
    private static let (saturation, failedSaturation) = (0.72, 0.15)
    private static let text = CellColour.rgb(240, 236, 226)
    private static let faint = CellColour.rgb(196, 191, 180)
    /// The number of hues of cards.
    private static let hues: UInt64 = 36
    /// A narrower card shows only the first letter.
    private static let narrowestText = 6

    let title: String
    let year: Int?
    /// The key that loads a failed poster again; nil if no key does.
    let retryKey: String?
    let state: State
    /// The colours of the card, of its filled part and of the frame.
    private let ground, filled, line: CellColour

    init(title: String, year: Int?, retryKey: String?, state: State) {
        self.title = title
        self.year = year
        self.retryKey = retryKey
        self.state = state
        let pure = Self.pure(title, isFailed: state == .failed)
        let luminances = Self.luminances
        ground =
            switch state {
            case .waiting, .loading: pure.with(luminance: luminances.ground).cell
            case .failed: pure.with(luminance: luminances.failedGround).cell
            case .missing: .standard
            }
        filled = pure.with(luminance: luminances.filled).cell
        line = pure.with(luminance: luminances.line).cell
    }

    /// The title's colour. The same title always has the same colour.
    private static func pure(_ title: String, isFailed: Bool) -> LinearColour {
        let hue = Double(title.utf8.fnv1a % hues) * 360 / Double(hues)
        return LinearColour(hue: hue, saturation: isFailed ? failedSaturation : saturation)
    }

    /// Draws the card.
    func cells(size: CellSize) -> CellGrid {
        var grid = CellGrid(size: size, style: CellStyle(background: ground))
        fill(&grid)
        frame(&grid)
        write(on: &grid)
        return grid
    }

    // MARK: Parts

    /// Fills the card from below, in eighths of a row.
    private func fill(_ grid: inout CellGrid) {
        for row in 0..<grid.size.rows {
            let eighths = filledEighths(ofRow: row, in: grid.size)
            guard eighths > 0, let block = Unicode.Scalar(0x2580 + UInt32(eighths)) else { continue }
            // Uses solid blocks, not only a background, so that it is visible without colours too.
            let style = CellStyle(foreground: filled, background: eighths == 8 ? filled : ground)
            grid.put(
                String(repeating: Character(block), count: grid.size.columns),
                at: CellPosition(column: 0, row: row), style: style)
        }
    }

    private func filledEighths(ofRow row: Int, in size: CellSize) -> Int {
        guard case .loading(let part?) = state else { return 0 }
        let all = Int(max(0, min(1, part)) * Double(size.rows * 8))
        return max(0, min(8, all - (size.rows - 1 - row) * 8))
    }

    /// The background of text in a row.
    private func background(ofRow row: Int, in size: CellSize) -> CellColour {
        filledEighths(ofRow: row, in: size) >= 4 ? filled : ground
    }

    private func frame(_ grid: inout CellGrid) {
        let (columns, rows) = (grid.size.columns, grid.size.rows)
        guard columns > 2, rows > 2 else { return }
        let edge = String(repeating: "─", count: columns - 2)
        for row in 0..<rows {
            let style =
                state == .missing
                ? CellStyle.dim
                : CellStyle(foreground: line, background: background(ofRow: row, in: grid.size))
            if row == 0 || row == rows - 1 {
                let (left, right) = row == 0 ? ("╭", "╮") : ("╰", "╯")
                grid.put(left + edge + right, at: CellPosition(column: 0, row: row), style: style)
            } else {
                grid.put("│", at: CellPosition(column: 0, row: row), style: style)
                grid.put("│", at: CellPosition(column: columns - 1, row: row), style: style)
            }
        }
    }

    private func write(on grid: inout CellGrid) {
        let size = grid.size
        let room = size.columns - (size.columns >= 14 ? 4 : 2)
        func put(_ text: String, _ row: Int, isBold: Bool = false) {
            guard (0..<size.rows).contains(row) else { return }
            var style = CellStyle(foreground: isBold ? Self.text : Self.faint)
            style.background = background(ofRow: row, in: size)
            if state == .missing { style.foreground = .standard }
            if isBold { style.attributes = state == .failed ? [] : .bold }
            if !isBold, state == .missing { style.attributes = .dim }
            let text = TerminalText.truncated(text, toWidth: max(0, size.columns - 2))
            let column = (size.columns - TerminalText.width(text)) / 2
            grid.put(text, at: CellPosition(column: column, row: row), style: style)
        }
        guard room >= Self.narrowestText, size.rows >= 5 else {
            put(sign, size.rows / 2, isBold: state != .missing)
            return
        }
        let note = note(width: size.columns - 2)
        let inside = size.rows - 2 - (note.isEmpty ? 0 : 1)
        let yearLines = year == nil || inside < 3 ? 0 : inside > 4 ? 2 : 1
        // A word too long for a line is cut, not broken: parts on two lines are hard to read.
        let words = TerminalText.visible(title).split(separator: " ")
            .map { TerminalText.truncated(String($0), toWidth: room) }
        var lines = TerminalText.wrapped(words.joined(separator: " "), toWidth: room)
        if lines.count > inside - yearLines {
            lines = Array(lines.prefix(inside - yearLines))
            if let last = lines.popLast() { lines.append(TerminalText.truncated(last + " …", toWidth: room)) }
        }
        let top = 1 + (inside - lines.count - yearLines) / 2
        for (index, line) in lines.enumerated() { put(line, top + index, isBold: true) }
        if let year, yearLines > 0 { put(String(year), top + lines.count + yearLines - 1) }
        put(note, size.rows - 2)
    }

    /// The one character of a card that has no room for text.
    private var sign: String {
        switch state {
        case .waiting, .loading:
            TerminalText.visible(title).first { $0.isLetter || $0.isNumber }.map { $0.uppercased() } ?? "·"
        case .failed: "!"
        case .missing: "–"
        }
    }

    /// The text at a card's foot.
    private func note(width: Int) -> String {
        let texts: [String] =
            switch state {
            case .waiting, .loading(.some): []
            case .loading(nil): ["loading…", "…"]
            case .failed:
                retryKey.map { ["poster failed · \($0)", "failed · \($0)", "failed"] }
                    ?? ["poster failed", "failed"]
            case .missing: ["no poster", "none"]
            }
        return texts.first { TerminalText.width($0) <= width } ?? texts.last ?? ""
    }
}
