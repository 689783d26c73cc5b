/// A rectangle of terminal cells, row by row: what a canvas draws, a screen is composed of, and an
/// encoder turns into bytes.
///
/// A wide cluster fills two cells; whatever overwrites one of them leaves a space in the other.
/// Nothing that steers a terminal gets in: what takes no cell is left out.
public struct CellGrid: Sendable {
    /// Columns and rows, fixed.
    public let size: CellSize

    var cells: [Cell]
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
        one.size == other.size && one.cells.indices.allSatisfy { one.shows($0, as: other, at: $0) }
    }
}
