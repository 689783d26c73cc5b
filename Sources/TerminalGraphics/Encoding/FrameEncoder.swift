/// Turns the change from one screen to the next into one write: only what changed, between the
/// marks of synchronized output, so that no terminal shows half a frame.
///
///     ESC[?2026h  ESC[3;12H  ESC[1m Metropolis  ESC[m  ESC[?2026l
///
/// Not safe for concurrent use: whoever writes to the terminal owns it.
public struct FrameEncoder: Sendable {
    private var pen: FramePen
    private var pictures: (any PictureLayer)?
    private var shown: CellGrid?

    /// An encoder for a terminal whose contents are unknown. It shows cells alone, and no pictures in pixels.
    /// - Parameter onlyASCII: whether the terminal shows nothing but ASCII; `TerminalText.ascii` says what stands for the
    ///   rest. Default: no.
    public init(depth: ColourDepth, onlyASCII: Bool = false) {
        self.init(depth: depth, onlyASCII: onlyASCII, pictures: nil)
    }

    /// An encoder that sends the pictures of its grids as well.
    package init(depth: ColourDepth, onlyASCII: Bool = false, pictures: PictureProtocol?) {
        pen = FramePen(depth: depth, onlyASCII: onlyASCII)
        self.pictures = pictures?.layer
    }

    /// Forgets what is on the screen, so that the next frame draws all of it and sends all pictures again: after a resize, or
    /// after another program had the terminal.
    public mutating func invalidate() {
        shown = nil
    }

    /// Whether the last frame has left out pictures, which the next one sends: it should follow at once.
    package var isUnfinished: Bool { pictures?.isUnfinished ?? false }

    /// What deletes all that the terminal keeps after the last frame; to be written before the screen is left.
    package var farewell: [UInt8] { pictures?.farewell ?? [] }

    /// The bytes that change the screen to a grid, which must be as large as the terminal; none when
    /// nothing has changed. They begin and end in the terminal's own style.
    public mutating func frame(_ next: CellGrid) -> [UInt8] { frame(next, isMoving: false) }

    /// The same while pictures move, or at rest: pictures that cannot be moved are sent at rest.
    package mutating func frame(_ next: CellGrid, isMoving: Bool) -> [UInt8] {
        var (next, old) = (next, shown)
        if old?.size != next.size { old = nil }
        let change = pictures?.change(&next, over: old, isMoving: isMoving) ?? PictureChange()
        shown = next
        guard var old else { return pen.drawAll(next, change) }
        for area in change.erased { old.forget(area) }
        return pen.draw(next, over: old, change)
    }
}

extension CellGrid {
    /// Makes cells such that no cell looks the same.
    fileprivate mutating func forget(_ area: CellRectangle) {
        for row in area.rows {
            for column in area.columns { cells[row * size.columns + column].glyph = .unknown }
        }
    }
}

/// Draws changed cells and keeps track of the cursor.
private struct FramePen {
    /// Up to so many unchanged cells are written again where that takes fewer bytes than a move.
    private static let cheapGap = 3

    private var writer: CellWriter
    /// Where the cursor is, unless that is uncertain.
    private var cursor: CellPosition?

    init(depth: ColourDepth, onlyASCII: Bool) {
        writer = CellWriter(depth: depth, writesAttributes: true, onlyASCII: onlyASCII)
    }

    mutating func drawAll(_ next: CellGrid, _ change: PictureChange) -> [UInt8] {
        begin(after: change.before)
        // Erasing takes the colours in force along, which here are the terminal's own.
        writer.append("\u{1B}[m\u{1B}[2J")
        drawChanges(next, over: CellGrid(size: next.size))
        writer.append(change.after)
        return end()
    }

    mutating func draw(_ next: CellGrid, over shown: CellGrid, _ change: PictureChange) -> [UInt8] {
        begin(after: change.before)
        let empty = writer.bytes.count
        drawChanges(next, over: shown)
        writer.append(change.after)
        let isUnchanged = change.before.isEmpty && writer.bytes.count == empty
        let bytes = end()
        return isUnchanged ? [] : bytes
    }

    private mutating func begin(after sequences: [UInt8]) {
        cursor = nil
        writer.append(sequences)
        writer.append("\u{1B}[?2026h")
    }

    private mutating func end() -> [UInt8] {
        writer.reset()
        writer.append("\u{1B}[?2026l")
        return writer.takeBytes()
    }

    private mutating func drawChanges(_ next: CellGrid, over shown: CellGrid) {
        let columns = next.size.columns
        for row in 0..<next.size.rows {
            let start = row * columns
            // Cells before this column are drawn whether they changed or not.
            var disturbed = 0
            var column = 0
            while column < columns {
                if column >= disturbed, next.shows(start + column, as: shown, at: start + column) {
                    column += 1
                    continue
                }
                // The right half of a wide cluster is drawn with its left half.
                if next.cells[start + column].glyph == .continuation, column > 0 { column -= 1 }
                let isWide =
                    column + 1 < columns && next.cells[start + column + 1].glyph == .continuation
                let position = CellPosition(column: column, row: row)
                let cell = next.cells[start + column]
                let end = column + (isWide ? 2 : 1)
                move(to: position, in: next)
                if let width = uncertainWidth(cell, of: next) {
                    // A terminal that takes it for narrower would leave what stood there before.
                    for _ in column..<end { writer.write(Cell(.space, style: cell.style), of: next) }
                    cursor = nil
                    move(to: position, in: next)
                    disturbed = max(disturbed, column + width)
                    writer.write(cell, of: next)
                    cursor = nil
                } else {
                    writer.write(cell, of: next)
                    // At the edge terminals differ in whether the cursor has wrapped.
                    cursor = end < columns ? CellPosition(column: end, row: row) : nil
                }
                column = end
            }
        }
    }

    /// For a cluster that terminals measure differently: how many cells it takes where scalars are
    /// counted one by one. What stands there is drawn again after it.
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

    /// Bridges a small gap by writing its cells again, if they need no change of style.
    private mutating func rewrites(_ gap: Range<Int>, row: Int, in grid: CellGrid) -> Bool {
        guard gap.count <= Self.cheapGap else { return false }
        let cells = gap.map { grid.cells[row * grid.size.columns + $0] }
        for cell in cells where cell.glyph.raw >= 0x80 || !writer.continues(cell) { return false }
        for cell in cells { writer.write(cell, of: grid) }
        return true
    }
}
