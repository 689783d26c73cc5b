/// A rectangle of terminal cells, row by row: what a canvas draws, a screen is composed of, and an
/// encoder turns into bytes.
///
/// A wide cluster fills two cells; whatever overwrites one of them leaves a space in the other.
/// Nothing that steers a terminal gets in: what takes no cell is left out.
public struct CellGrid: Sendable {
    /// Columns and rows, fixed.
    public let size: CellSize

    var cells: [Cell]
    /// The pictures that lie over cells. Two never share a cell. What is put over a part of one leaves it the largest rectangle
    /// of the rest; its other cells show what lies below it.
    package internal(set) var pictures: [PicturePlacement] = []
    /// Clusters of several scalars; cells hold their numbers.
    private(set) var clusters: [String] = []
    private var clusterNumbers: [String: Int] = [:]

    /// A grid of spaces in one style.
    public init(size: CellSize, style: CellStyle = CellStyle()) {
        self.size = size
        cells = Array(repeating: Cell(.space, style: style), count: size.columns * size.rows)
    }

    /// The whole grid as a rectangle.
    public var bounds: CellRectangle { CellRectangle(size: size) }

    /// The cluster that begins in a cell; empty in the right half of a wide one.
    ///
    /// The position must lie inside the grid.
    public func text(at position: CellPosition) -> String {
        let glyph = cells[index(of: position)].glyph
        if let number = glyph.clusterIndex { return clusters[number] }
        return Unicode.Scalar(glyph.raw).map { String($0) } ?? ""
    }

    /// The style of a cell, which must lie inside the grid.
    public func style(at position: CellPosition) -> CellStyle {
        cells[index(of: position)].style
    }

    /// One row's text without trailing spaces; the row must lie inside the grid.
    public func text(ofRow row: Int) -> String {
        var line = (0..<size.columns).map { text(at: CellPosition(column: $0, row: row)) }.joined()
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }

    func index(of position: CellPosition) -> Int {
        precondition(bounds.contains(position), "no such cell")
        return position.row * size.columns + position.column
    }

    /// The glyph for a cluster, which is entered into the grid's table where it needs to be.
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
    /// Puts a text into one row, and returns the columns it takes on the whole, seen or not.
    ///
    /// What lies outside the clip (by default the grid) is cut; a wide cluster that is cut in half
    /// becomes a space. The text's background replaces what was there.
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
            // Empty also for what takes no cell: control characters, which would move the cursor,
            // and marks without a base, which would join what stands before them.
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

    /// Fills a rectangle, or the part of it inside the grid, with spaces in a style.
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

    /// Places another grid with its pictures; what lies outside the clip is cut.
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
            // Halves of wide clusters that the clip has parted.
            if cells[start + area.columns.lowerBound].glyph == .continuation {
                cells[start + area.columns.lowerBound].glyph = .space
            }
            let next = last + 1 - position.column
            if next < other.size.columns, other.cells[source + last + 1].glyph == .continuation {
                cells[start + last].glyph = .space
            }
        }
    }

    /// Takes cells from the pictures that lie over them.
    private mutating func cover(_ area: CellRectangle) {
        if pictures.isEmpty || area.isEmpty { return }
        pictures = pictures.compactMap { $0.cut(to: $0.visible.without(area)) }
    }

    /// Before columns of a row are overwritten: turns what would be left of wide clusters across
    /// their edges into spaces. `start` is the index of the row's first cell.
    private mutating func mend(start: Int, around columns: Range<Int>) {
        if cells[start + columns.lowerBound].glyph == .continuation {
            cells[start + columns.lowerBound - 1].glyph = .space
        }
        if columns.upperBound < size.columns, cells[start + columns.upperBound].glyph == .continuation {
            cells[start + columns.upperBound].glyph = .space
        }
    }
}
