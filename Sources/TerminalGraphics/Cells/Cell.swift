/// One cell of a grid: 16 bytes without references, so that grids are copied and compared fast.
struct Cell: Equatable {
    var glyph: Glyph
    var style: CellStyle

    init(_ glyph: Glyph, style: CellStyle) {
        self.glyph = glyph
        self.style = style
    }

    /// What a grapheme cluster is in a cell.
    struct Glyph: Equatable {
        /// A scalar's value; above those, `continuation`, then numbers of the grid's clusters.
        let raw: UInt32

        /// The right half of a wide cluster, whose left half is the cell before.
        static let continuation = Glyph(raw: 0x11_0000)
        static let space = Glyph(raw: 0x20)
        /// What no cell of a grid has: on the screen it stands for something that is not known.
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

        /// The number of a cluster of several scalars in its grid's table.
        var clusterIndex: Int? {
            raw >= Self.firstCluster ? Int(raw - Self.firstCluster) : nil
        }
    }
}
