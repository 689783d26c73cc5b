/// Turns a grid into lines that a program prints among its other output.
public struct InlineEncoder: Sendable {
    /// How many colours to use; with ``ColourDepth/none`` there is no escape sequence in the output.
    public let depth: ColourDepth

    /// An encoder for one output.
    public init(depth: ColourDepth) {
        self.depth = depth
    }

    /// The grid's rows, each ended by a line feed in the terminal's own style, without the spaces at
    /// its end that show nothing. UTF-8.
    public func lines(of grid: CellGrid) -> [UInt8] {
        var writer = CellWriter(depth: depth, writesAttributes: depth > .none)
        for row in 0..<grid.size.rows {
            let start = row * grid.size.columns
            var end = start + grid.size.columns
            while end > start, showsNothing(grid.cells[end - 1]) { end -= 1 }
            for index in start..<end { writer.write(grid.cells[index], of: grid) }
            writer.reset()
            writer.append("\n")
        }
        return writer.bytes
    }

    /// The grid's lines, and over them a picture in pixels, whose sequences draw it from the grid's top left cell on. The cursor
    /// ends below the last line, wherever the picture leaves it. The terminal must have more rows than the grid.
    package func lines(of grid: CellGrid, under drawing: [UInt8]) -> [UInt8] {
        if drawing.isEmpty || grid.size.rows == 0 { return lines(of: grid) }
        let rows = grid.size.rows
        // The cursor is saved and restored (DECSC, DECRC), since terminals leave it in different places.
        return lines(of: grid) + Array("\u{1B}[\(rows)A\u{1B}7".utf8) + drawing
            + Array("\u{1B}8\u{1B}[\(rows)B".utf8)
    }

    private func showsNothing(_ cell: Cell) -> Bool {
        guard cell.glyph == .space else { return false }
        if depth == .none { return true }
        return cell.style.background == .standard
            && cell.style.attributes.isDisjoint(with: [.underlined, .reversed])
    }
}
