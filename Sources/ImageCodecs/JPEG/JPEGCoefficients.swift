/// The coefficients of a progressive frame, collected over its scans: 64 per block in zigzag order, the blocks of a
/// component row by row, one component after another.
struct JPEGCoefficients {
    /// A block's index among all blocks, and the start of its coefficients.
    struct Block {
        var index: Int
        var start: Int { index &* 64 }
    }

    var values: [Int16]
    /// For each block, a bit for each coefficient that was ever set, so that zeros can be skipped. The DC bit is set
    /// once a scan has sent the DC coefficient, even 0: the block counts as decoded then.
    var used: [UInt64]
    private let starts: [Int]
    private let columns: [Int]

    init(_ frame: JPEGFrame) {
        var starts: [Int] = []
        var total = 0
        for component in frame.components {
            starts.append(total)
            total += component.blockColumns * component.blockRows
        }
        self.starts = starts
        columns = frame.components.map(\.blockColumns)
        values = [Int16](repeating: 0, count: total * 64)
        used = [UInt64](repeating: 0, count: total)
    }

    func block(of component: Int, row: Int, column: Int) -> Block {
        Block(index: starts[component] &+ row &* columns[component] &+ column)
    }

    /// Transforms one component's blocks in a row of MCUs to samples. Blocks with a DC coefficient count as decoded.
    func transform(
        _ component: Int, unitRow: Int, of frame: JPEGFrame, dequantiser: Dequantiser,
        into planes: inout JPEGPlanes
    ) {
        let entries = dequantiser.entries.span
        let plane = planes.planes[component]
        let values = values.span
        let used = used.span
        var samples = planes.samples.mutableSpan
        let rows = frame.components[component].verticalFactor
        // For each row of blocks.
        var decoded = InlineArray<4, Int>(repeating: 0)
        // For a single sample the DC coefficient suffices.
        let wanted: UInt64 = plane.blockSize == 1 ? 1 : .max
        for index in 0..<rows {
            let row = unitRow &* rows &+ index
            let line = plane.start(ofRow: row &* plane.blockSize)
            for column in 0..<frame.components[component].blockColumns {
                let position = self.block(of: component, row: row, column: column)
                var block = CoefficientBlock(repeating: 0)
                if column < plane.blocks.width { decoded[index] &+= Int(used[position.index] & 1) }
                // The DC coefficient may have been refined alone.
                var rest = used[position.index] & wanted | 1
                var positions: Int32 = 0
                while rest != 0 {
                    let zigzag = rest.trailingZeroBitCount
                    rest &= rest &- 1
                    positions |= Dequantiser.store(
                        Int32(values[position.start &+ zigzag]), at: zigzag, in: &block, entries)
                }
                InverseDCT.transform(
                    block.span, positions: positions, size: plane.blockSize, into: &samples,
                    at: line &+ column &* plane.blockSize, stride: plane.stride)
            }
        }
        for index in 0..<rows {
            let row = unitRow &* rows &+ index
            planes.countDecoded(component, rows: row..<row &+ 1, columns: decoded[index])
        }
    }
}
