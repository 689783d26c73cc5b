/// Characters that divide a cell into two columns and three rows (Unicode 13, U+1FB00 to U+1FB3B). They are finer than
/// quadrants, but few fonts have them. So they work only in terminals that draw them themselves (kitty, foot, WezTerm,
/// Konsole from 22.04).
enum Sextants {
    /// The samples in a sextant: a third of half a cell.
    private static let samples = Float(BlockMask.samples) / 6

    /// The sextants that a glyph covers, from the lowest bit in reading order.
    struct Mask {
        let bits: Int
        let glyph: Unicode.Scalar
        let covered: Float
    }

    /// Of each glyph and its inverse only the smaller one. The left and right halves are block masks already.
    static let all: [Mask] = (1..<63).compactMap { bits in
        let leftHalf = 0b010101
        let rightHalf = 0b101010
        let count = bits.nonzeroBitCount
        if bits == leftHalf || bits == rightHalf || count > 3 || (count == 3 && bits & 1 == 0) { return nil }
        let number = bits - 1 - (bits > leftHalf ? 1 : 0) - (bits > rightHalf ? 1 : 0)
        guard let glyph = Unicode.Scalar(0x1FB00 + UInt32(number)) else { return nil }
        return Mask(bits: bits, glyph: glyph, covered: Float(count) * samples)
    }

    /// The sums of a cell's sextants. Eight rows of samples do not divide by three: two thirds share the third and the
    /// sixth row.
    static func sums(
        of grid: borrowing SampleGrid, column: Int, row: Int
    ) -> InlineArray<6, SIMD4<Float>> {
        var sums = InlineArray<6, SIMD4<Float>>(repeating: .zero)
        let samples = grid.samples.span
        let half = BlockMask.side / 2
        for line in 0..<BlockMask.side {
            let start = (row * BlockMask.side + line) * grid.columns + column * BlockMask.side
            for offset in 0..<BlockMask.side {
                let side = offset < half ? 0 : 1
                let sample = samples[start + offset]
                for third in 0..<3 { sums[2 * third + side] += sample * shares[line][third] }
            }
        }
        return sums
    }

    /// The share of each row of samples in each third.
    private static let shares: [SIMD3<Float>] = (0..<BlockMask.side).map { line in
        var share = SIMD3<Float>()
        for third in 0..<3 {
            let height = Float(BlockMask.side) / 3
            let start = max(Float(line), Float(third) * height)
            share[third] = max(0, min(Float(line + 1), Float(third + 1) * height) - start)
        }
        return share
    }
}
