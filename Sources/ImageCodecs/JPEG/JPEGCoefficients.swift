/// The coefficients of a progressive frame, which come in many scans: 64 to a block in zigzag order, the blocks
/// of a component row by row, the components behind one another.
struct JPEGCoefficients {
    /// A block's place: among all blocks, and where its coefficients begin.
    struct Block {
        let index: Int
        var start: Int { index &* 64 }
    }

    var values: [Int16]
    /// Of each block, a bit for each coefficient that was ever set, so that zeros need not be looked at.
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

    /// Transforms all blocks of a component into its samples.
    func transform(_ component: Int, of frame: JPEGFrame, steps: [UInt16], into planes: inout JPEGPlanes) {
        let dequantiser = Dequantiser(steps: steps)
        let entries = dequantiser.entries.span
        let plane = planes.planes[component]
        let values = values.span
        let used = used.span
        var samples = planes.samples.mutableSpan
        for row in 0..<frame.components[component].blockRows {
            for column in 0..<frame.components[component].blockColumns {
                let place = block(of: component, row: row, column: column)
                var block = CoefficientBlock(repeating: 0)
                var rest = used[place.index]
                let last = max(0, 63 &- rest.leadingZeroBitCount)
                while rest != 0 {
                    let index = rest.trailingZeroBitCount
                    rest &= rest &- 1
                    Dequantiser.store(Int32(values[place.start &+ index]), at: index, in: &block, entries)
                }
                let origin = plane.offset &+ row &* 8 &* plane.stride &+ column &* 8
                InverseDCT.transform(block, last: last, into: &samples, at: origin, stride: plane.stride)
            }
        }
    }
}
