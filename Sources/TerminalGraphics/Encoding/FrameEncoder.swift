/// Encodes the change from one screen to the next: only the changed cells, in one synchronized update, so that no
/// terminal shows half a frame.
///
///     ESC[?2026h  ESC[3;12H  ESC[1m Metropolis  ESC[m  ESC[?2026l
///
/// Not safe for concurrent use. It belongs to the writer of the terminal.
public struct FrameEncoder: Sendable {
    private var pen: FramePen
    private var pictures: (any PictureLayer)?
    private var shown: CellGrid?

    /// Creates an encoder for a screen with unknown content.
    /// - Parameters:
    ///   - onlyASCII: whether the terminal shows only ASCII; `TerminalText.ascii` replaces the rest. Default: false.
    ///   - pictures: how the pictures of grids are sent. Default: nil, only cells are drawn.
    ///   - keepsPictures: whether the terminal keeps sixels and iTerm2's pictures below text. Default: false.
    package init(
        depth: ColourDepth, onlyASCII: Bool = false, pictures: PictureProtocol? = nil,
        keepsPictures: Bool = false
    ) {
        pen = FramePen(depth: depth, onlyASCII: onlyASCII)
        self.pictures = pictures?.layer(keepsPictures: keepsPictures)
    }

    /// Forgets the screen, so that the next frame redraws all cells and resends all pictures. Call it after a resize,
    /// or after another program used the terminal.
    public mutating func invalidate() {
        shown = nil
    }

    /// Whether the last frame left out pictures: the next one sends them and should follow at once.
    package var isUnfinished: Bool { pictures?.isUnfinished ?? false }

    /// The bytes that delete everything the terminal stores after the last frame; write them before leaving the screen.
    package var cleanup: [UInt8] { pictures?.cleanup ?? [] }

    /// The bytes that change the screen to a grid of the terminal's size; empty if nothing changed. They begin and end
    /// in the default style. While `isMoving`, pictures that the terminal cannot move are not sent.
    public mutating func frame(_ next: CellGrid, isMoving: Bool = false) -> [UInt8] {
        var (next, old) = (next, shown)
        if old?.size != next.size { old = nil }
        let change = pictures?.change(&next, over: old, isMoving: isMoving) ?? PictureChange()
        shown = next
        for area in change.erased { old?.invalidate(area) }
        return pen.draw(next, over: old, change)
    }
}

extension CellGrid {
    /// Marks the cells of an area as unknown.
    fileprivate mutating func invalidate(_ area: CellRectangle) {
        for row in area.rows {
            for column in area.columns { cells[row * size.columns + column].glyph = .unknown }
        }
    }
}

/// Draws changed cells and tracks the cursor.
private struct FramePen {
    /// The longest gap of unchanged cells that is rewritten if that is shorter than a cursor movement.
    private static let cheapGap = 3

    private var writer: CellWriter
    /// The position of the cursor; nil if unknown.
    private var cursor: CellPosition?

    init(depth: ColourDepth, onlyASCII: Bool) {
        writer = CellWriter(depth: depth, writesAttributes: true, onlyASCII: onlyASCII)
    }

    /// The bytes of a frame; empty if nothing changes. Erases the screen first if the `shown` cells are unknown.
    mutating func draw(_ next: CellGrid, over shown: CellGrid?, _ change: PictureChange) -> [UInt8] {
        cursor = nil
        writer.append(change.before)
        writer.append("\u{1B}[?2026h")
        let empty = writer.bytes.count
        // Erasing fills with the current background: reset it first.
        if shown == nil { writer.append("\u{1B}[m\u{1B}[2J") }
        drawChanges(next, over: shown ?? CellGrid(size: next.size))
        writer.append(change.after)
        let isUnchanged = change.before.isEmpty && writer.bytes.count == empty
        writer.reset()
        writer.append("\u{1B}[?2026l")
        let bytes = writer.takeBytes()
        return isUnchanged ? [] : bytes
    }

    private mutating func drawChanges(_ next: CellGrid, over shown: CellGrid) {
        let columns = next.size.columns
        for row in 0..<next.size.rows {
            let start = row * columns
            // Cells before this column are redrawn even if unchanged.
            var disturbed = 0
            var column = 0
            while column < columns {
                if column >= disturbed, next.shows(start + column, as: shown, at: start + column) {
                    column += 1
                    continue
                }
                // A wide cluster is drawn from its left half.
                if next.cells[start + column].glyph == .continuation, column > 0 { column -= 1 }
                let isWide =
                    column + 1 < columns && next.cells[start + column + 1].glyph == .continuation
                let position = CellPosition(column: column, row: row)
                let cell = next.cells[start + column]
                let end = column + (isWide ? 2 : 1)
                move(to: position, in: next)
                let uncertainWidth = uncertainWidth(cell, of: next)
                if let uncertainWidth {
                    // A terminal that takes the cluster for narrower would keep the old text behind it.
                    for _ in column..<end { writer.write(Cell(.space, style: cell.style), of: next) }
                    cursor = nil
                    move(to: position, in: next)
                    disturbed = max(disturbed, column + uncertainWidth)
                }
                writer.write(cell, of: next)
                // At the right edge terminals disagree whether the cursor has wrapped.
                let isKnown = uncertainWidth == nil && end < columns
                cursor = isKnown ? CellPosition(column: end, row: row) : nil
                column = end
            }
        }
    }

    /// For a cluster whose width terminals disagree on: its width if each scalar counts separately. The caller redraws
    /// the cells in this range.
    private func uncertainWidth(_ cell: Cell, of grid: CellGrid) -> Int? {
        guard let number = cell.glyph.clusterIndex else { return nil }
        let text = grid.clusters[number]
        let separately = text.unicodeScalars.reduce(0) { $0 + TerminalText.width(of: $1) }
        let hasSelector = text.unicodeScalars.contains { $0.properties.isVariationSelector }
        return hasSelector || separately != TerminalText.width(text) ? max(separately, 2) : nil
    }

    private mutating func move(to target: CellPosition, in grid: CellGrid) {
        if cursor == target { return }
        if let from = cursor, from.row == target.row, from.column < target.column {
            if rewrites(from.column..<target.column, row: target.row, in: grid) { return }
            writer.append("\u{1B}[")
            if target.column - from.column > 1 { writer.append(number: target.column - from.column) }
            writer.append("C")
        } else {
            writer.append("\u{1B}[")
            if target.row > 0 || target.column > 0 { writer.append(number: target.row + 1) }
            if target.column > 0 {
                writer.append(";")
                writer.append(number: target.column + 1)
            }
            writer.append("H")
        }
    }

    /// Rewrites the cells of a small gap if they need no change of style.
    private mutating func rewrites(_ gap: Range<Int>, row: Int, in grid: CellGrid) -> Bool {
        guard gap.count <= Self.cheapGap else { return false }
        let cells = gap.map { grid.cells[row * grid.size.columns + $0] }
        for cell in cells where cell.glyph.raw >= 0x80 || !writer.continues(cell) { return false }
        for cell in cells { writer.write(cell, of: grid) }
        return true
    }
}

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
