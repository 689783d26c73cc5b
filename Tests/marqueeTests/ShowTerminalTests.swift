import FoundationEssentials
import ImageCodecs
import TerminalGraphics
import TestSupport
import TestTraits
import Testing

@testable import marquee

/// `show` and `list` on a terminal.
@Suite("marquee show and list on a terminal", .bounded, .ownThread)
struct ShowTerminalTests {
    private let fixture: Fixture

    init() throws {
        let films = """
            [{"id":"faust","title":"Faust","originalTitle":"Eine Sage","year":1926,"director":"F. W. Murnau",
              "score":8.1,"overview":"\(String(repeating: "word ", count: 80))","poster":"posters/1.png"},
             {"id":"pan","title":"Pandora's Box","year":1929,"director":"G. W. Pabst"}]
            """
        fixture = try Fixture(films: films)
        let poster = Bitmap(width: 2, height: 3, pixels: (0..<6).flatMap { [201, 77, UInt8($0 * 40), 255] })
        try fixture.folder.write(PNGEncoder().encode(poster), to: "posters/1.png")
    }

    /// The screen after the program has ended.
    private func screen(_ words: String..., columns: Int = 80, rows: Int = 24) throws -> VirtualScreen {
        let terminal = try PseudoTerminal(
            BuiltProgram.path("marquee"), words + ["--graphics", "blocks"],
            environment: fixture.environment.merging(["COLORTERM": "truecolor"]) { $1 }, columns: columns,
            rows: rows)
        #expect(terminal.waitForEnd() == .exited(0))
        return terminal.screen
    }

    @Test("the picture is on the left, two rows shorter than the terminal, with the text beside it")
    func beside() throws {
        let screen = try screen("show", "faust")
        // 22 rows of 29 cells, a gap of two.
        #expect(screen.text(ofRow: 0).hasSuffix("  Faust") && screen.text(ofRow: 1).hasSuffix("  Eine Sage"))
        #expect(screen.cell(column: 31, row: 0).style.attributes == .bold)
        #expect(screen.cell(column: 31, row: 1).style.attributes == .dim)
        for row in 0..<22 {
            #expect(screen.cell(column: 0, row: row).style.background != .standard)
            #expect(screen.cell(column: 28, row: row).style.background != .standard)
            #expect(screen.cell(column: 29, row: row).style.background == .standard)
        }
        #expect(screen.cell(column: 0, row: 22).style.background == .standard)
        #expect(screen.row(containing: "director  F. W. Murnau") != nil)
        // Bytes and milliseconds appear only on request.
        #expect(screen.row(containing: "bytes") == nil && screen.row(containing: "poster") == nil)
        #expect(screen.unknown.isEmpty)
    }

    @Test("-v adds facts about the file")
    func verbose() throws {
        let screen = try screen("show", "faust", "-v", columns: 120)
        #expect(
            screen.rows.contains {
                $0.contains("poster    png 2 x 3") && $0.contains(" bytes ") && $0.contains(" ms")
            })
    }

    @Test("lines are at most 72 cells long, and continue below a picture in their column")
    func wrapping() throws {
        let wide = try screen("show", "faust", columns: 200)
        let lines = wide.rows.filter { $0.contains("word word") }
        #expect(lines.allSatisfy { $0.drop { $0 != "w" }.count <= 72 } && lines.count == 6)
        let low = try screen("show", "faust", columns: 62, rows: 12)
        #expect(low.row(containing: "Faust") == nil)
        #expect(low.rows.last { !$0.isEmpty }?.prefix(15).allSatisfy { $0 == " " } == true)
    }

    @Test(
        "in a narrow terminal the picture is above the text, and without a picture the text has the whole width"
    )
    func above() throws {
        let narrow = try screen("show", "faust", columns: 59, rows: 60)
        #expect(narrow.cell(column: 57, row: 0).style.background != .standard)
        #expect(narrow.row(containing: "Faust") ?? 0 > 30)
        let alone = try screen("show", "pan")
        #expect(alone.row(containing: "Pandora's Box") ?? 0 <= 1)
        #expect(alone.rows.contains { $0.hasPrefix("Pandora's Box") })
    }

    @Test("the list has a header, bold titles, stars, and a legend")
    func list() throws {
        let first = try screen("list")
        #expect(first.text(ofRow: 0) == "   Score  Year  Title          Director")
        #expect(first.text(ofRow: 1) == "○  ★ 8.1  1926  Faust          F. W. Murnau")
        #expect(first.text(ofRow: 2) == "          1929  Pandora's Box  G. W. Pabst")
        #expect(first.cell(column: 16, row: 1).style.attributes == .bold)
        #expect(
            first.text(ofRow: 3) == "2 films: ● 0 posters cached, ○ 1 not; marquee prewarm fetches the rest")
        _ = try screen("show", "faust")
        let second = try screen("list", columns: 40)
        #expect(
            second.text(ofRow: 1).hasPrefix("●") && second.text(ofRow: 3) == "2 films: ● every poster cached")
        #expect(second.rows.allSatisfy { TerminalText.width($0) <= 40 })
    }
}
