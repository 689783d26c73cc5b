import TerminalGraphics
import TestTraits
import Testing

@testable import FilmBrowser

@Suite("The browser's layout", .bounded)
struct BrowserLayoutTests {
    @Test("the wall fills its width: no two posters are further apart than six columns")
    func fullWall() {
        for (columns, rows) in [(80, 24), (90, 30), (100, 34), (120, 40), (160, 50), (200, 60)] {
            for cellAspect in [1.9, 2, 2.1, 2.125, 2.25] {
                let size = CellSize(columns: columns, rows: rows)
                let layout = BrowserLayout(size: size, style: .wall, cellAspect: cellAspect)
                let last = layout.rectangle(ofRow: layout.perLine - 1, scroll: 0)
                let right = last.origin.column + layout.poster.columns
                // Columns are whole: up to one for each gap may be left over.
                let left = columns - BrowserLayout.margin - right
                #expect((0..<layout.perLine).contains(left), "\(columns)x\(rows) at \(cellAspect)")
                #expect(layout.item.columns - layout.poster.columns <= 6)
            }
        }
    }

    @Test("the wall shows two whole lines of tiles", arguments: [(80, 24), (120, 40), (200, 60)])
    func twoLines(columns: Int, rows: Int) {
        let layout = BrowserLayout(
            size: CellSize(columns: columns, rows: rows), style: .wall, cellAspect: 2.125)
        #expect(layout.pageRows >= 2 * layout.perLine)
    }
}
