import SystemSupport
import TerminalGraphics
import TestSupport
import TestTraits
import Testing

@Suite("Frames draw only changes", .bounded)
struct FrameEncoderTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private func grid(_ rows: [String], columns: Int, style: CellStyle = CellStyle()) -> CellGrid {
        var grid = CellGrid(size: CellSize(columns: columns, rows: rows.count))
        for (row, text) in rows.enumerated() {
            grid.put(text, at: CellPosition(column: 0, row: row), style: style)
        }
        return grid
    }

    @Test("the first frame clears the screen and is one synchronized write")
    func firstFrame() {
        var encoder = FrameEncoder(depth: .trueColour)
        let bytes = encoder.frame(grid(["ab", ""], columns: 4))
        #expect(text(bytes) == "\u{1B}[?2026h\u{1B}[m\u{1B}[2J\u{1B}[Hab\u{1B}[?2026l")
    }

    @Test("an unchanged frame has no bytes")
    func unchanged() {
        var encoder = FrameEncoder(depth: .trueColour)
        _ = encoder.frame(grid(["ab"], columns: 4))
        #expect(encoder.frame(grid(["ab"], columns: 4)).isEmpty)
        encoder.invalidate()
        #expect(!encoder.frame(grid(["ab"], columns: 4)).isEmpty)
    }

    @Test(
        "a change takes one move and its own cells",
        arguments: [
            ("abcdefghij", "abcdXfghij", "\u{1B}[1;5HX"),
            ("abcdefghij", "Xbcdefghij", "\u{1B}[HX"),
            ("abcdefghij", "XbcXefghij", "\u{1B}[HXbcX"),
            ("abcdefghij", "XbcdXfghij", "\u{1B}[HXbcdX"),
            ("abcdefghij", "XbcdefXhij", "\u{1B}[HX\u{1B}[5CX"),
            ("羅生門", "羅X 門", "\u{1B}[1;3HX "),
            ("羅X 門", "羅生門", "\u{1B}[1;3H生"),
            ("a羅", "羅b", "\u{1B}[H羅b"),
        ])
    func changes(before: String, after: String, expected: String) {
        var encoder = FrameEncoder(depth: .trueColour)
        _ = encoder.frame(grid([before], columns: 10))
        #expect(text(encoder.frame(grid([after], columns: 10))) == "\u{1B}[?2026h\(expected)\u{1B}[?2026l")
    }

    @Test("colours and attributes are sent when they change, and a frame ends with the terminal's defaults")
    func styles() {
        var encoder = FrameEncoder(depth: .trueColour)
        var next = CellGrid(size: CellSize(columns: 8, rows: 1))
        _ = encoder.frame(next)
        let red = CellColour.rgb(200, 0, 10)
        next.put(
            "ab", at: CellPosition(column: 0, row: 0), style: CellStyle(foreground: red, attributes: .bold))
        next.put(
            "c", at: CellPosition(column: 2, row: 0),
            style: CellStyle(foreground: red, background: .palette(4)))
        next.put("d", at: CellPosition(column: 3, row: 0), style: CellStyle(background: .palette(12)))
        #expect(
            text(encoder.frame(next))
                == "\u{1B}[?2026h\u{1B}[H\u{1B}[1;38;2;200;0;10mab\u{1B}[0;38;2;200;0;10;44mc"
                + "\u{1B}[39;104md\u{1B}[m\u{1B}[?2026l")
    }

    @Test(
        "24-bit colours are reduced to the terminal's depth",
        arguments: [
            (ColourDepth.trueColour, "\u{1B}[38;2;250;5;5mx\u{1B}[m"),
            (.indexed256, "\u{1B}[38;5;196mx\u{1B}[m"),
            (.ansi16, "\u{1B}[91mx\u{1B}[m"), (.none, "x"),
        ])
    func depths(depth: ColourDepth, expected: String) {
        var encoder = FrameEncoder(depth: depth)
        _ = encoder.frame(grid([""], columns: 2))
        let next = grid(["x"], columns: 2, style: CellStyle(foreground: .rgb(250, 5, 5)))
        #expect(text(encoder.frame(next)) == "\u{1B}[?2026h\u{1B}[H\(expected)\u{1B}[?2026l")
    }

    @Test("without colours the attributes stay, so that a selection is visible")
    func attributesWithoutColours() {
        var encoder = FrameEncoder(depth: .none)
        _ = encoder.frame(grid([""], columns: 2))
        let next = grid(["x"], columns: 2, style: CellStyle(background: .palette(1), attributes: .reversed))
        #expect(text(encoder.frame(next)).contains("\u{1B}[7mx\u{1B}[m"))
    }

    @Test(
        "the terminal shows the right screen after any other",
        arguments: [VirtualScreen.Measure.scalars, .clusters])
    func randomFrames(measure: VirtualScreen.Measure) {
        var random = SeededNumbers(seed: 7)
        var encoder = FrameEncoder(depth: .trueColour)
        var screen = VirtualScreen(columns: 24, rows: 6, measure: measure)
        let pieces = ["a", "bc", "羅", "生門", "e\u{301}", "한", "   ", "▄", "x y z"]
        var grid = CellGrid(size: screen.size)
        for frame in 0..<150 {
            if frame % 25 == 0 {
                grid = CellGrid(size: screen.size, style: CellStyle(background: .palette(2)))
            }
            for _ in 0..<random.below(6) {
                let style = CellStyle(
                    foreground: random.below(2) == 0 ? .standard : .rgb(UInt8(random.below(256)), 7, 9),
                    background: random.below(2) == 0 ? .standard : .palette(UInt8(random.below(256))),
                    attributes: CellAttributes(rawValue: UInt8(random.below(32))))
                let position = CellPosition(column: random.below(26) - 1, row: random.below(6))
                grid.put(pieces[random.below(pieces.count)], at: position, style: style)
            }
            screen.feed(encoder.frame(grid))
            if !matches(screen, grid) { return }
        }
        #expect(screen.unknown.isEmpty)
    }

    /// Compares all text, and the visible part of the styles.
    private func matches(_ screen: VirtualScreen, _ grid: CellGrid) -> Bool {
        for row in 0..<grid.size.rows {
            for column in 0..<grid.size.columns {
                let position = CellPosition(column: column, row: row)
                let seen = screen.cell(column: column, row: row)
                let wanted = grid.style(at: position)
                let lines: CellAttributes = [.underlined, .reversed]
                let isBlank = grid.text(at: position) == " " && wanted.attributes.isDisjoint(with: lines)
                let styleMatches =
                    isBlank
                    ? seen.style.background == wanted.background
                        && seen.style.attributes.isDisjoint(with: lines)
                    : seen.style == wanted
                guard seen.text == grid.text(at: position), styleMatches else {
                    Issue.record(
                        "column \(column) row \(row): \(seen) for \(grid.text(at: position)) \(wanted)")
                    return false
                }
            }
        }
        return true
    }

    @Test("clusters that terminals measure differently never shift the following cells")
    func uncertainClusters() {
        for cluster in ["👩\u{200D}👩\u{200D}👧", "❤\u{FE0F}", "का", "👍🏽", "🇩🇪", "1\u{FE0F}\u{20E3}"] {
            for measure in [VirtualScreen.Measure.scalars, .clusters] {
                var encoder = FrameEncoder(depth: .none)
                var screen = VirtualScreen(columns: 14, rows: 1, measure: measure)
                screen.feed(encoder.frame(grid(["abcdefghijkl"], columns: 14)))
                screen.feed(encoder.frame(grid(["ab" + cluster + "efghijkl"], columns: 14)))
                #expect(screen.text(ofRow: 0).hasPrefix("ab"))
                #expect(screen.text(ofRow: 0).hasSuffix("efghijkl"), "\(cluster) \(measure)")
                #expect(screen.cell(column: 4, row: 0).text == "e", "\(cluster) \(measure)")
                let left = screen.cell(column: 2, row: 0).text + screen.cell(column: 3, row: 0).text
                #expect(!left.contains("c") && !left.contains("d"), "\(cluster) \(measure)")
            }
        }
    }

    @Test("printed lines have their colours and end with the defaults")
    func inlineLines() {
        var grid = grid(["ab", " "], columns: 5)
        grid.put("c", at: CellPosition(column: 2, row: 0), style: CellStyle(foreground: .palette(1)))
        grid.put(" ", at: CellPosition(column: 3, row: 0), style: CellStyle(background: .palette(2)))
        #expect(
            text(InlineEncoder(depth: .ansi16).lines(of: grid)) == "ab\u{1B}[31mc\u{1B}[42m \u{1B}[m\n\n")
        grid.restyle(grid.bounds) { $0.attributes.insert([.bold, .reversed]) }
        #expect(text(InlineEncoder(depth: .none).lines(of: grid)) == "abc\n\n")
    }
}
