import ImageCodecs
@testable import TerminalGraphics
import TestTraits
import Testing

@Suite("Images drawn with blocks", .bounded)
struct BlocksCanvasTests {
    private typealias Pixel = SIMD4<UInt8>
    private let red: SIMD4<UInt8> = [200, 10, 20, 255]
    private let blue: SIMD4<UInt8> = [10, 20, 220, 255]
    private let clear: SIMD4<UInt8> = [99, 99, 99, 0]
    private let one = CellSize(columns: 1, rows: 1)

    private func colour(_ pixel: SIMD4<UInt8>) -> CellColour { .rgb(pixel.x, pixel.y, pixel.z) }

    private func cell(
        _ bitmap: Bitmap, depth: ColourDepth = .trueColour, background: SIMD3<UInt8> = .zero
    ) -> (text: String, style: CellStyle) {
        let grid = BlocksCanvas(depth: depth, background: background).draw(bitmap, size: one)
        let origin = CellPosition(column: 0, row: 0)
        return (grid.text(at: origin), grid.style(at: origin))
    }

    @Test("a uniform image is a space on its colour")
    func plain() {
        let drawn = cell(Pictures.bitmap(16, 16) { _, _ in red })
        #expect(drawn.text == " ")
        #expect(drawn.style == CellStyle(background: colour(red)))
    }

    @Test("every block character of a cell is found with its exact colours", arguments: 0..<19)
    func everyMask(number: Int) {
        let covers: [(String, (Int, Int) -> Bool)] =
            (1...6).map { count in
                (String("▁▂▃▀▅▆".prefix(count).suffix(1)), { _, y in (y >= 8 - count) != (count == 4) })
            }
            + (1...6).map { count in (String("▏▎▍▌▋▊".prefix(count).suffix(1)), { x, _ in x < count }) }
            + [
                ("▔", { $1 == 0 }), ("▕", { x, _ in x == 7 }),
                ("▘", { $0 < 4 && $1 < 4 }), ("▝", { $0 >= 4 && $1 < 4 }), ("▖", { $0 < 4 && $1 >= 4 }),
                ("▗", { $0 >= 4 && $1 >= 4 }), ("▚", { ($0 < 4) == ($1 < 4) }),
            ]
        let (glyph, isCovered) = covers[number]
        let drawn = cell(Pictures.bitmap(8, 8) { x, y in isCovered(x, y) ? red : blue })
        #expect(drawn.text == glyph)
        #expect(drawn.style == CellStyle(foreground: colour(red), background: colour(blue)))
    }

    @Test("a glyph at the lower edge, where fonts leave a seam, has to gain more than others")
    func seams() {
        // The lower 4.55 eighths are red: five eighths come nearer than the upper half, but not by enough.
        let mixed: SIMD4<UInt8> = [115, 14, 110, 255]
        let bitmap = Pictures.bitmap(8, 8) { _, y in y < 3 ? blue : y == 3 ? mixed : red }
        #expect(cell(bitmap).text == "▀")
        let grid = BlocksCanvas(depth: .trueColour, usesSextants: true).draw(bitmap, size: one)
        #expect(grid.text(at: CellPosition(column: 0, row: 0)) == "▅")
    }

    @Test("a larger image is averaged, so that a fine pattern becomes its mean")
    func averaging() {
        let drawn = cell(
            Pictures.bitmap(64, 64) { x, y in (x + y) % 2 == 0 ? [255, 255, 255, 255] : [0, 0, 0, 255] })
        #expect(drawn.style.background == .rgb(128, 128, 128))
    }

    @Test("an image of any size covers all cells", arguments: [(1, 1), (3, 1), (1, 5), (7, 3), (40, 9)])
    func smallImages(width: Int, height: Int) {
        let grid = BlocksCanvas(depth: .trueColour).draw(
            Pictures.bitmap(width, height) { _, _ in red }, size: CellSize(columns: 3, rows: 2))
        for column in 0..<3 {
            for row in 0..<2 {
                #expect(grid.style(at: CellPosition(column: column, row: row)).background == colour(red))
            }
        }
    }

    @Test("a grid without cells stays empty")
    func noRoom() {
        let grid = BlocksCanvas(depth: .trueColour).draw(
            Pictures.bitmap(2, 2) { _, _ in red }, size: CellSize(columns: 0, rows: 3))
        #expect(grid.size == CellSize(columns: 0, rows: 3))
    }

    @Test("transparent parts show the terminal's own background")
    func transparency() {
        #expect(cell(Pictures.bitmap(8, 8) { _, _ in clear }).style == CellStyle())
        let lower = cell(Pictures.bitmap(8, 8) { _, y in y < 4 ? clear : red })
        #expect(lower.text == "▄")
        #expect(lower.style == CellStyle(foreground: colour(red)))
        let upper = cell(Pictures.bitmap(8, 8) { _, y in y < 4 ? red : clear })
        #expect(upper.text == "▀")
        #expect(upper.style == CellStyle(foreground: colour(red)))
        let threeQuarters = cell(Pictures.bitmap(8, 8) { x, y in x < 4 && y < 4 ? clear : red })
        #expect(threeQuarters.text == "▟")
        // There is no character for the upper five eighths.
        let reversed = cell(Pictures.bitmap(8, 8) { _, y in y < 5 ? red : clear })
        #expect(reversed.text == "▃")
        #expect(reversed.style == CellStyle(foreground: colour(red), attributes: .reversed))
    }

    @Test("half-transparent pixels are blended with the background, and clear ones give no colour")
    func background() {
        let drawn = cell(Pictures.bitmap(8, 8) { _, y in y < 4 ? clear : red }, background: [1, 2, 3])
        #expect(drawn.text == "▄" && drawn.style == CellStyle(foreground: colour(red)))
        let quarter = Pictures.bitmap(8, 8) { _, _ in [255, 255, 255, 64] }
        #expect(cell(quarter).style.background == .rgb(64, 64, 64))
        #expect(cell(quarter, background: [255, 255, 255]).style.background == .rgb(255, 255, 255))
        #expect(cell(quarter, background: [0, 100, 0]).style.background == .rgb(64, 139, 64))
        let mixed = cell(Pictures.bitmap(8, 8) { x, _ in x % 2 == 0 ? clear : red })
        #expect([mixed.style.foreground, mixed.style.background].contains(colour(red)))
    }

    @Test("with fewer colours the nearest of the palette are used")
    func palettes() {
        let split = Pictures.bitmap(8, 8) { x, _ in x < 4 ? red : blue }
        #expect(
            cell(split, depth: .indexed256).style
                == CellStyle(foreground: .palette(160), background: .palette(20)))
        #expect(
            cell(split, depth: .ansi16).style == CellStyle(foreground: .palette(1), background: .palette(4)))
        let grey = Pictures.bitmap(8, 8) { _, _ in [118, 118, 118, 255] }
        #expect(cell(grey, depth: .indexed256).style.background == .palette(243))
    }

    @Test("256 colours keep the hue: red does not become brown")
    func hues() {
        let hues: [(Pixel, UInt8)] = [
            ([242, 232, 213, 255], 255), ([230, 140, 50, 255], 172), ([200, 55, 45, 255], 160),
        ]
        for (pixel, entry) in hues {
            let plain = Pictures.bitmap(8, 8) { _, _ in pixel }
            #expect(cell(plain, depth: .indexed256).style.background == .palette(entry))
        }
    }

    @Test("sextants come on request")
    func sextants() {
        #expect(Sextants.all.count == 30 && Set(Sextants.all.map(\.glyph)).count == 30)
        // Three rows of thirds; the upper left and the lower right one.
        let picture = Pictures.bitmap(8, 24) { x, y in
            (x < 4 && y < 8) || (x >= 4 && y >= 16) ? red : blue
        }
        let drawn = BlocksCanvas(depth: .trueColour, usesSextants: true).draw(picture, size: one)
        #expect(drawn.text(ofRow: 0) == "\u{1FB1F}")
        #expect(!("\u{1FB00}"..."\u{1FB3B}").contains(cell(picture).text))
        #expect(GraphicsMode.sextants.canvas(depth: .none) is ASCIICanvas)
    }

    @Test("two colours with the same palette entry make a space")
    func palettesMerge() {
        let split = Pictures.bitmap(8, 8) { x, _ in x < 4 ? [100, 100, 100, 255] : [104, 104, 104, 255] }
        #expect(cell(split, depth: .trueColour).text == "▌")
        #expect(cell(split, depth: .ansi16).text == " ")
    }

    @Test("without colours brighter pixels get denser letters, and no colours are sent")
    func ascii() {
        let ramp = Pictures.bitmap(5, 1) { x, _ in Pixel(UInt8(x * 63), UInt8(x * 63), UInt8(x * 63), 255) }
        let grid = ASCIICanvas().draw(ramp, size: CellSize(columns: 5, rows: 1))
        #expect(grid.text(ofRow: 0) == " ;i$@")
        #expect(grid.style(at: CellPosition(column: 2, row: 0)) == CellStyle())
        let nothing = ASCIICanvas().draw(Pictures.bitmap(1, 1) { _, _ in [255, 255, 255, 0] }, size: one)
        #expect(nothing.text(ofRow: 0).isEmpty)
    }

    @Test("the user's choice and the available colours decide the canvas")
    func choice() {
        #expect(GraphicsMode.blocks.canvas(depth: .ansi16) is BlocksCanvas)
        #expect(GraphicsMode.blocks.canvas(depth: .none) is ASCIICanvas)
        #expect(GraphicsMode.ascii.canvas(depth: .trueColour) is ASCIICanvas)
        #expect(GraphicsMode.none.canvas(depth: .trueColour) == nil)
        #expect(GraphicsMode(rawValue: "blocks") == .blocks)
    }
}
