import TerminalGraphics
import TestTraits
import Testing

@Suite("A grid of cells", .bounded)
struct CellGridTests {
    private func grid(_ columns: Int, _ rows: Int, filledWith text: String = "") -> CellGrid {
        var grid = CellGrid(size: CellSize(columns: columns, rows: rows))
        for row in 0..<rows { grid.put(text, at: CellPosition(column: 0, row: row)) }
        return grid
    }

    @Test("text is put at its position, and its width is returned")
    func put() {
        var grid = grid(10, 2)
        #expect(grid.put("ab羅c", at: CellPosition(column: 1, row: 1)) == 5)
        #expect(grid.text(ofRow: 0).isEmpty)
        #expect(grid.text(ofRow: 1) == " ab羅c")
        #expect(grid.text(at: CellPosition(column: 3, row: 1)) == "羅")
        #expect(grid.text(at: CellPosition(column: 4, row: 1)).isEmpty)
    }

    @Test("text is clipped at the edges and at the clip, and a wide cluster cut in half becomes a space")
    func clipping() {
        var grid = grid(4, 1)
        grid.put("abcdef", at: CellPosition(column: -2, row: 0))
        #expect(grid.text(ofRow: 0) == "cdef")
        grid.put("羅生門", at: CellPosition(column: -1, row: 0))
        #expect(grid.text(ofRow: 0) == " 生")
        grid.put("....", at: CellPosition(column: 0, row: 0))
        let clip = CellRectangle(at: CellPosition(column: 1, row: 0), size: CellSize(columns: 2, rows: 5))
        grid.put("羅生", at: CellPosition(column: 0, row: 0), clip: clip)
        #expect(grid.text(ofRow: 0) == ".  .")
        grid.put("outside", at: CellPosition(column: 0, row: 7))
        grid.put("outside", at: CellPosition(column: 0, row: -1))
        #expect(grid.text(ofRow: 0) == ".  .")
    }

    @Test(
        "overwriting half of a wide cluster leaves a space in the other half",
        arguments: [(0, "x 生門"), (1, " x生門"), (2, "羅x 門"), (3, "羅 x門"), (5, "羅生 x")])
    func overwriting(column: Int, expected: String) {
        var written = grid(6, 1, filledWith: "羅生門")
        written.put("x", at: CellPosition(column: column, row: 0))
        #expect(written.text(ofRow: 0) == expected)

        var placed = grid(6, 1, filledWith: "羅生門")
        placed.place(grid(1, 1, filledWith: "x"), at: CellPosition(column: column, row: 0))
        #expect(placed.text(ofRow: 0) == expected)

        var filled = grid(6, 1, filledWith: "羅生門")
        let cell = CellRectangle(
            at: CellPosition(column: column, row: 0), size: CellSize(columns: 1, rows: 1))
        filled.fill(cell, style: CellStyle())
        var blanks = expected.replacing("x", with: " ")
        while blanks.hasSuffix(" ") { blanks.removeLast() }
        #expect(filled.text(ofRow: 0) == blanks)
    }

    @Test("a wide cluster over two others blanks their remaining halves")
    func wideOverWide() {
        var grid = grid(6, 1, filledWith: "羅生門")
        grid.put("国", at: CellPosition(column: 1, row: 0))
        #expect(grid.text(ofRow: 0) == " 国 門")
    }

    @Test("a placed grid is clipped, also inside its wide clusters, and keeps its clusters")
    func placing() {
        var picture = grid(6, 1, filledWith: "羅生門")
        var target = grid(6, 1, filledWith: "......")
        let clip = CellRectangle(at: CellPosition(column: 1, row: 0), size: CellSize(columns: 4, rows: 1))
        target.place(picture, at: CellPosition(column: 0, row: 0), clip: clip)
        #expect(target.text(ofRow: 0) == ". 生 .")

        picture.put("e\u{301}👨\u{200D}👩", at: CellPosition(column: 0, row: 0))
        target.put("a\u{308}", at: CellPosition(column: 5, row: 0))
        target.place(picture, at: CellPosition(column: 0, row: 0), clip: clip)
        #expect(target.text(ofRow: 0) == ".👨\u{200D}👩  a\u{308}")
        target.place(picture, at: CellPosition(column: 9, row: 0))
        target.place(picture, at: CellPosition(column: 0, row: -3))
        #expect(target.text(ofRow: 0) == ".👨\u{200D}👩  a\u{308}")
    }

    @Test("characters without width are never stored in a grid")
    func controls() {
        var grid = grid(8, 1)
        #expect(grid.put("a\u{1B}[2J\u{9B}\n\u{202E}\u{301}b", at: CellPosition(column: 0, row: 0)) == 5)
        grid.put("c\u{1B}", at: CellPosition(column: 5, row: 0))
        #expect(!grid.text(ofRow: 0).unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(!grid.text(ofRow: 0).unicodeScalars.contains("\u{202E}"))
    }

    @Test("grids are equal when they look the same, however they were made")
    func equality() {
        var one = grid(4, 1)
        var other = grid(4, 1)
        one.put("e\u{301}", at: CellPosition(column: 0, row: 0))
        one.put("o\u{308}", at: CellPosition(column: 1, row: 0))
        other.put("o\u{308}", at: CellPosition(column: 1, row: 0))
        other.put("e\u{301}", at: CellPosition(column: 0, row: 0))
        #expect(one == other)
        other.restyle(other.bounds) { $0.attributes.insert(.bold) }
        #expect(one != other)
    }

    @Test("a fill beyond the grid fills the cells inside")
    func fillClips() {
        var grid = grid(3, 2, filledWith: "abc")
        let colour = CellStyle(background: .palette(4))
        grid.fill(
            CellRectangle(at: CellPosition(column: -1, row: 1), size: CellSize(columns: 3, rows: 9)),
            style: colour)
        #expect(grid.text(ofRow: 0) == "abc")
        #expect(grid.text(ofRow: 1) == "  c")
        #expect(grid.style(at: CellPosition(column: 1, row: 1)) == colour)
        #expect(grid.style(at: CellPosition(column: 2, row: 1)) == CellStyle())
    }

    @Test(
        "an image fits without distortion",
        arguments: [
            (500, 750, 40, 30, 40, 30), (500, 750, 80, 30, 40, 30), (500, 750, 20, 30, 20, 15),
            (500, 750, 39, 30, 39, 29), (1000, 10, 40, 30, 40, 1), (10, 1000, 40, 30, 1, 30),
            (0, 10, 40, 30, 0, 0), (5, 5, 0, 9, 0, 0),
        ])
    func fitting(width: Int, height: Int, columns: Int, rows: Int, fitColumns: Int, fitRows: Int) {
        let size = CellSize(columns: columns, rows: rows).fitting(imageWidth: width, imageHeight: height)
        #expect(size == CellSize(columns: fitColumns, rows: fitRows))
    }
}
