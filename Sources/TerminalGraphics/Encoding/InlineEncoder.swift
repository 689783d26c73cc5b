/// Encodes a grid as lines of ordinary output.
public struct InlineEncoder: Sendable {
    /// The colours to use; with ``ColourDepth/none`` the output has no escape sequences.
    public let depth: ColourDepth

    /// Creates an encoder.
    public init(depth: ColourDepth) {
        self.depth = depth
    }

    /// The grid's rows in UTF-8, without invisible trailing spaces. Each ends with a line feed in the default style.
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

    /// The grid's lines with a picture over them, which `drawing` draws from the grid's top left cell. The cursor ends
    /// below the last line, wherever the picture leaves it. The terminal must have more rows than the grid.
    package func lines(of grid: CellGrid, under drawing: [UInt8]) -> [UInt8] {
        if drawing.isEmpty || grid.size.rows == 0 { return lines(of: grid) }
        let rows = grid.size.rows
        // Save and restore the cursor (DECSC, DECRC): terminals leave it in different places after a picture.
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
