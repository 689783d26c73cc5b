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

/// A cell of a grid: 16 bytes without references, for fast copies and comparisons.
struct Cell: Equatable {
    var glyph: Glyph
    var style: CellStyle

    init(_ glyph: Glyph, style: CellStyle) {
        self.glyph = glyph
        self.style = style
    }

    /// A grapheme cluster in a cell.
    struct Glyph: Equatable {
        /// The value of a scalar; above those `continuation`, then indices of the grid's clusters.
        let raw: UInt32

        /// The right half of a wide cluster, which begins in the cell before.
        static let continuation = Glyph(raw: 0x11_0000)
        static let space = Glyph(raw: 0x20)
        /// Never in a grid to draw; marks cells of the screen with unknown content.
        static let unknown = Glyph(raw: 0)
        private static let firstCluster: UInt32 = 0x11_0001

        private init(raw: UInt32) {
            self.raw = raw
        }

        init(_ scalar: Unicode.Scalar) {
            raw = scalar.value
        }

        init(cluster index: Int) {
            raw = Self.firstCluster + UInt32(index)
        }

        /// The index in the grid's table, for a cluster of several scalars.
        var clusterIndex: Int? {
            raw >= Self.firstCluster ? Int(raw - Self.firstCluster) : nil
        }
    }
}

/// A colour of a cell: the terminal's default, an entry of its palette, or 24-bit. The encoder maps it to what the
/// terminal can show.
public struct CellColour: Sendable, Hashable {
    /// The kind in the top byte (0 default, 1 palette, 2 RGB), then the index or the channels.
    let raw: UInt32

    /// The terminal's default colour.
    public static let standard = CellColour(raw: 0)

    /// An entry of the 256-colour palette; users choose the first 16 colours.
    public static func palette(_ index: UInt8) -> CellColour {
        CellColour(raw: 1 << 24 | UInt32(index))
    }

    /// Red, green and blue, 0 to 255, in sRGB.
    public static func rgb(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> CellColour {
        CellColour(raw: 2 << 24 | UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue))
    }

    /// The index in the palette, for a palette colour.
    public var paletteIndex: UInt8? { raw >> 24 == 1 ? UInt8(truncatingIfNeeded: raw) : nil }

    /// The channels, for a 24-bit colour.
    public var channels: SIMD3<UInt8>? { raw >> 24 == 2 ? unchecked : nil }

    private var unchecked: SIMD3<UInt8> {
        SIMD3(truncatingIfNeeded: SIMD3<UInt32>(raw >> 16, raw >> 8, raw))
    }
}

/// Text attributes; the cells of images use only ``reversed``.
public struct CellAttributes: OptionSet, Sendable, Hashable {
    /// One bit per attribute.
    public let rawValue: UInt8

    /// Attributes from their bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Bold; brighter on some terminals.
    public static let bold = CellAttributes(rawValue: 1)
    /// Faint.
    public static let dim = CellAttributes(rawValue: 2)
    /// Italic.
    public static let italic = CellAttributes(rawValue: 4)
    /// Underlined.
    public static let underlined = CellAttributes(rawValue: 8)
    /// Foreground and background swapped: the only emphasis without colours.
    public static let reversed = CellAttributes(rawValue: 16)
}

/// The colours and attributes of text.
public struct CellStyle: Sendable, Hashable {
    /// The colour of the glyph.
    public var foreground: CellColour
    /// The colour behind the glyph.
    public var background: CellColour
    /// The text attributes.
    public var attributes: CellAttributes

    /// Creates a style, by default with the terminal's colours and no attributes.
    public init(
        foreground: CellColour = .standard, background: CellColour = .standard,
        attributes: CellAttributes = []
    ) {
        self.foreground = foreground
        self.background = background
        self.attributes = attributes
    }

    package static let dim = CellStyle(attributes: .dim)
    package static let bold = CellStyle(attributes: .bold)
}
