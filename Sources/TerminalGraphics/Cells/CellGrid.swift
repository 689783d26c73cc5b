/// A grid of terminal cells, row by row: drawn by a canvas, composed to a screen, and encoded into bytes.
///
/// A wide cluster takes two cells; overwriting one of them leaves a space in the other. Control characters and other
/// text without width are dropped, so no escape sequence gets in.
public struct CellGrid: Sendable {
    /// The size, fixed.
    public let size: CellSize

    var cells: [Cell]
    /// The pictures over the cells; no two share a cell. Overwriting a part of one leaves it the largest remaining
    /// rectangle; its other cells show the text below.
    package internal(set) var pictures: [PicturePlacement] = []
    /// Clusters of several scalars; cells refer to them by index.
    private(set) var clusters: [String] = []
    private var clusterNumbers: [String: Int] = [:]

    /// Creates a grid of spaces in one style.
    public init(size: CellSize, style: CellStyle = CellStyle()) {
        self.size = size
        cells = Array(repeating: Cell(.space, style: style), count: size.columns * size.rows)
    }

    /// The whole grid as a rectangle.
    public var bounds: CellRectangle { CellRectangle(size: size) }

    /// The cluster that begins in a cell; empty in the right half of a wide one. The position must be inside the grid.
    public func text(at position: CellPosition) -> String {
        let glyph = cells[index(of: position)].glyph
        if let number = glyph.clusterIndex { return clusters[number] }
        return Unicode.Scalar(glyph.raw).map { String($0) } ?? ""
    }

    /// The style of a cell inside the grid.
    public func style(at position: CellPosition) -> CellStyle {
        cells[index(of: position)].style
    }

    /// The text of a row inside the grid, without trailing spaces.
    public func text(ofRow row: Int) -> String {
        var line = (0..<size.columns).map { text(at: CellPosition(column: $0, row: row)) }.joined()
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }

    func index(of position: CellPosition) -> Int {
        precondition(bounds.contains(position), "no such cell")
        return position.row * size.columns + position.column
    }

    /// The glyph of a cluster. Adds the cluster to the grid's table if it has several scalars.
    mutating func glyph(for cluster: Character) -> Cell.Glyph {
        let scalars = cluster.unicodeScalars
        if let first = scalars.first, scalars.count == 1 { return Cell.Glyph(first) }
        return glyph(forCluster: String(cluster))
    }

    mutating func glyph(forCluster text: String) -> Cell.Glyph {
        if let number = clusterNumbers[text] { return Cell.Glyph(cluster: number) }
        clusterNumbers[text] = clusters.count
        clusters.append(text)
        return Cell.Glyph(cluster: clusters.count - 1)
    }

    /// Whether two cells of two grids look the same.
    func shows(_ index: Int, as other: CellGrid, at otherIndex: Int) -> Bool {
        let one = cells[index]
        let two = other.cells[otherIndex]
        guard let number = one.glyph.clusterIndex else { return one == two }
        guard let otherNumber = two.glyph.clusterIndex else { return false }
        return one.style == two.style && clusters[number] == other.clusters[otherNumber]
    }
}

extension CellGrid: Equatable {
    /// Whether both grids look the same.
    public static func == (one: CellGrid, other: CellGrid) -> Bool {
        one.size == other.size && one.pictures == other.pictures
            && one.cells.indices.allSatisfy { one.shows($0, as: other, at: $0) }
    }
}

extension CellGrid {
    /// Writes text into one row. Returns its full width in columns, including clipped parts.
    ///
    /// Clips the text to `clip`, by default the grid; half a wide cluster becomes a space. The text's background
    /// replaces the old one.
    @discardableResult
    public mutating func put(
        _ text: String, at position: CellPosition, style: CellStyle = CellStyle(), clip: CellRectangle? = nil
    ) -> Int {
        let area = clip.map { $0.clipped(to: bounds) } ?? bounds
        var column = position.column
        guard area.rows.contains(position.row) else { return TerminalText.width(text) }
        let start = position.row * size.columns
        for cluster in text {
            let width = TerminalText.width(of: cluster)
            let columns = column..<column + width
            let visible = columns.clamped(to: area.columns)
            // Also skips text without width: control characters, which would move the cursor, and marks without a base,
            // which would combine with the text before.
            if !visible.isEmpty {
                mend(start: start, around: visible)
                let whole = visible == columns
                cells[start + visible.lowerBound] = Cell(whole ? glyph(for: cluster) : .space, style: style)
                if whole, width == 2 { cells[start + column + 1] = Cell(.continuation, style: style) }
            }
            column += width
        }
        cover(
            CellRectangle(
                columns: (position.column..<column).clamped(to: area.columns),
                rows: position.row..<position.row + 1))
        return column - position.column
    }

    /// Fills a rectangle, clipped to the grid, with spaces in a style.
    public mutating func fill(_ rectangle: CellRectangle, style: CellStyle) {
        let area = rectangle.clipped(to: bounds)
        guard !area.columns.isEmpty else { return }
        cover(area)
        let blank = Cell(.space, style: style)
        for row in area.rows {
            let start = row * size.columns
            mend(start: start, around: area.columns)
            for column in area.columns { cells[start + column] = blank }
        }
    }

    /// Draws another grid with its pictures, clipped to `clip`.
    public mutating func place(_ other: CellGrid, at position: CellPosition, clip: CellRectangle? = nil) {
        let target = CellRectangle(at: position, size: other.size)
        let area = target.clipped(to: clip.map { $0.clipped(to: bounds) } ?? bounds)
        guard let last = area.columns.last else { return }
        cover(area)
        pictures += other.pictures.compactMap { $0.moved(by: position, clip: area) }
        for row in area.rows {
            let start = row * size.columns
            let source = (row - position.row) * other.size.columns - position.column
            mend(start: start, around: area.columns)
            for column in area.columns {
                var cell = other.cells[source + column]
                if let number = cell.glyph.clusterIndex {
                    cell.glyph = glyph(forCluster: other.clusters[number])
                }
                cells[start + column] = cell
            }
            // Halves of wide clusters at the edges of the clip.
            if cells[start + area.columns.lowerBound].glyph == .continuation {
                cells[start + area.columns.lowerBound].glyph = .space
            }
            let next = last + 1 - position.column
            if next < other.size.columns, other.cells[source + last + 1].glyph == .continuation {
                cells[start + last].glyph = .space
            }
        }
    }

    /// Removes an area from the pictures that cover it.
    private mutating func cover(_ area: CellRectangle) {
        if pictures.isEmpty || area.isEmpty { return }
        pictures = pictures.compactMap { $0.cut(to: $0.visible.without(area)) }
    }

    /// Before columns of a row are overwritten: replaces the wide clusters across their edges by spaces. `start` is the
    /// index of the row's first cell.
    private mutating func mend(start: Int, around columns: Range<Int>) {
        if cells[start + columns.lowerBound].glyph == .continuation {
            cells[start + columns.lowerBound - 1].glyph = .space
        }
        if columns.upperBound < size.columns, cells[start + columns.upperBound].glyph == .continuation {
            cells[start + columns.upperBound].glyph = .space
        }
    }
}
