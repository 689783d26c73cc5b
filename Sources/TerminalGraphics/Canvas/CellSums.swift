/// The samples of one cell summed so that each mask's part of them is one look-up.
struct CellSums {
    /// For each of ``BlockMask/all``: the sum of the samples the glyph covers.
    private(set) var covered = InlineArray<19, SIMD4<Float>>(repeating: .zero)
    /// The sum of all samples.
    private(set) var total = SIMD4<Float>.zero

    init(of grid: borrowing SampleGrid, column: Int, row: Int) {
        var columnSums = InlineArray<8, SIMD4<Float>>(repeating: .zero)
        var rowSums = InlineArray<8, SIMD4<Float>>(repeating: .zero)
        var quadrants = InlineArray<4, SIMD4<Float>>(repeating: .zero)
        let samples = grid.samples.span
        let half = BlockMask.side / 2
        for line in 0..<BlockMask.side {
            let start = (row * BlockMask.side + line) * grid.columns + column * BlockMask.side
            var left = SIMD4<Float>.zero
            var right = SIMD4<Float>.zero
            for offset in 0..<half {
                let one = samples[start + offset]
                let other = samples[start + half + offset]
                left += one
                right += other
                columnSums[offset] += one
                columnSums[half + offset] += other
            }
            rowSums[line] = left + right
            let upper = line < half ? 0 : 2
            quadrants[upper] += left
            quadrants[upper + 1] += right
        }

        // In the order of the masks.
        let eighths = BlockMask.side - 1
        var lower = SIMD4<Float>.zero
        var left = SIMD4<Float>.zero
        for count in 0..<eighths - 1 {
            lower += rowSums[eighths - count]
            left += columnSums[count]
            covered[count] = lower
            covered[eighths + count] = left
        }
        covered[half - 1] = quadrants[0] + quadrants[1]
        covered[eighths - 1] = rowSums[0]
        covered[2 * eighths - 1] = columnSums[eighths]
        for quadrant in 0..<4 { covered[2 * eighths + quadrant] = quadrants[quadrant] }
        covered[2 * eighths + 4] = quadrants[0] + quadrants[3]
        total = quadrants[0] + quadrants[1] + quadrants[2] + quadrants[3]
    }
}
