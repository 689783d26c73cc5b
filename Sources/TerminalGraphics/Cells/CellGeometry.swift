/// A size in terminal cells.
public struct CellSize: Sendable, Hashable {
    /// The width in cells; never negative.
    public let columns: Int
    /// The height in cells; never negative.
    public let rows: Int

    /// Creates a size; negative numbers count as 0.
    public init(columns: Int, rows: Int) {
        self.columns = max(0, columns)
        self.rows = max(0, rows)
    }

    /// The largest size within this one that shows an image undistorted, at least 1 x 1.
    ///
    /// `cellAspect` is the height of a cell divided by its width; 2 by default, as in most fonts. An image or a size
    /// without area gives 0 x 0.
    public func fitting(imageWidth: Int, imageHeight: Int, cellAspect: Double = 2) -> CellSize {
        guard columns > 0, rows > 0, imageWidth > 0, imageHeight > 0, cellAspect > 0 else {
            return CellSize(columns: 0, rows: 0)
        }
        // The columns per row that keep the image's proportions.
        let columnsPerRow = Double(imageWidth) / Double(imageHeight) * cellAspect
        let fullHeight = (Double(rows) * columnsPerRow).rounded()
        if fullHeight <= Double(columns) {
            return CellSize(columns: max(1, Int(fullHeight)), rows: rows)
        }
        let fullWidth = min(Double(rows), (Double(columns) / columnsPerRow).rounded())
        return CellSize(columns: columns, rows: max(1, Int(fullWidth)))
    }
}

/// A cell's position, counted from 0 at the top left.
public struct CellPosition: Sendable, Hashable {
    /// Cells from the left edge.
    public var column: Int
    /// Cells from the top edge.
    public var row: Int

    /// Creates a position, inside or outside a grid.
    public init(column: Int, row: Int) {
        self.column = column
        self.row = row
    }
}

/// A rectangle of cells.
public struct CellRectangle: Sendable, Hashable {
    /// The columns of the rectangle.
    public let columns: Range<Int>
    /// The rows of the rectangle.
    public let rows: Range<Int>

    /// The top left cell.
    public var origin: CellPosition { CellPosition(column: columns.lowerBound, row: rows.lowerBound) }

    /// The number of columns and rows.
    public var size: CellSize { CellSize(columns: columns.count, rows: rows.count) }

    /// The intersection with another rectangle; empty if they do not overlap.
    public func clipped(to other: CellRectangle) -> CellRectangle {
        CellRectangle(columns: columns.clamped(to: other.columns), rows: rows.clamped(to: other.rows))
    }

    /// Whether the rectangle has no cells.
    var isEmpty: Bool { columns.isEmpty || rows.isEmpty }

    /// The largest rectangle of this one's cells outside another: above, below or beside it.
    func without(_ other: CellRectangle) -> CellRectangle {
        let common = clipped(to: other)
        if common.isEmpty { return self }
        return [
            CellRectangle(columns: columns, rows: rows.lowerBound..<common.rows.lowerBound),
            CellRectangle(columns: columns, rows: common.rows.upperBound..<rows.upperBound),
            CellRectangle(columns: columns.lowerBound..<common.columns.lowerBound, rows: rows),
            CellRectangle(columns: common.columns.upperBound..<columns.upperBound, rows: rows),
        ].max { $0.columns.count * $0.rows.count < $1.columns.count * $1.rows.count } ?? common
    }

    /// Whether the rectangle contains a cell.
    public func contains(_ position: CellPosition) -> Bool {
        columns.contains(position.column) && rows.contains(position.row)
    }
}

extension CellRectangle {
    /// Creates a rectangle from its top left cell and its size.
    public init(at origin: CellPosition = CellPosition(column: 0, row: 0), size: CellSize) {
        self.init(
            columns: origin.column..<origin.column + size.columns, rows: origin.row..<origin.row + size.rows)
    }
}
