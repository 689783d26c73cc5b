/// The coefficients of a progressive frame, which come in many scans: 64 to a block in zigzag order, the blocks
/// of a component row by row, the components behind one another.
struct JPEGCoefficients {
    var values: [Int16]
    private let starts: [Int]
    private let columns: [Int]

    init(_ frame: JPEGFrame) {
        var starts: [Int] = []
        var total = 0
        for component in frame.components {
            starts.append(total)
            total += component.blockColumns * component.blockRows * 64
        }
        self.starts = starts
        columns = frame.components.map(\.blockColumns)
        values = [Int16](repeating: 0, count: total)
    }

    /// Where a block's coefficients begin.
    func offset(of component: Int, row: Int, column: Int) -> Int {
        starts[component] &+ (row &* columns[component] &+ column) &* 64
    }

    /// Transforms all blocks of a component into its samples.
    func transform(_ component: Int, of frame: JPEGFrame, steps: [UInt16], into planes: inout JPEGPlanes) {
        let dequantiser = Dequantiser(steps: steps)
        let plane = planes.planes[component]
        let values = values.span
        var samples = planes.samples.mutableSpan
        for row in 0..<frame.components[component].blockRows {
            for column in 0..<frame.components[component].blockColumns {
                let start = offset(of: component, row: row, column: column)
                var block = CoefficientBlock(repeating: 0)
                for index in 0..<64 {
                    dequantiser.store(Int32(values[start &+ index]), at: index, in: &block)
                }
                let origin = plane.offset &+ row &* 8 &* plane.stride &+ column &* 8
                InverseDCT.transform(block, into: &samples, at: origin, stride: plane.stride)
            }
        }
    }
}
