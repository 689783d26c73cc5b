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
