/// The inverse cosine transform of one block (T.81 A.3.3), in the integer form of Loeffler, Ligtenberg and
/// Moschytz ("Practical fast 1-D DCT algorithms with 11 multiplications", 1989) with 13-bit constants, whose
/// rounding gives the same samples as libjpeg's accurate integer method.
enum InverseDCT {
    /// Fraction bits of the constants, and those kept between the passes.
    private static let constantBits: Int32 = 13
    private static let passBits: Int32 = 2

    /// Transforms `block` into 8 x 8 samples, the first at `origin`.
    static func transform(
        _ block: borrowing CoefficientBlock, into samples: inout MutableSpan<UInt8>, at origin: Int,
        stride: Int
    ) {
        var columns = InlineArray<64, Int32>(repeating: 0)
        for column in 0..<8 {
            let result = lines(
                Int32(block[column]), Int32(block[column &+ 8]), Int32(block[column &+ 16]),
                Int32(block[column &+ 24]), Int32(block[column &+ 32]), Int32(block[column &+ 40]),
                Int32(block[column &+ 48]), Int32(block[column &+ 56]))
            for row in 0..<8 {
                columns[row &* 8 &+ column] = rounded(result[row], droppingBits: constantBits &- passBits)
            }
        }
        for row in 0..<8 {
            let start = row &* 8
            let result = lines(
                columns[start], columns[start &+ 1], columns[start &+ 2], columns[start &+ 3],
                columns[start &+ 4],
                columns[start &+ 5], columns[start &+ 6], columns[start &+ 7])
            let target = origin &+ row &* stride
            for column in 0..<8 {
                let sample = rounded(result[column], droppingBits: constantBits &+ passBits &+ 3) &+ 128
                samples[target &+ column] = UInt8(truncatingIfNeeded: max(0, min(255, sample)))
            }
        }
    }

    @inline(__always)
    private static func rounded(_ value: Int32, droppingBits bits: Int32) -> Int32 {
        (value &+ (1 &<< (bits &- 1))) &>> bits
    }

    /// Eight values of one line, scaled up by `constantBits`.
    @inline(__always)
    private static func lines(
        _ x0: Int32, _ x1: Int32, _ x2: Int32, _ x3: Int32, _ x4: Int32, _ x5: Int32, _ x6: Int32, _ x7: Int32
    ) -> InlineArray<8, Int32> {
        // The even half: rotation by pi/8 of x2 and x6.
        let turned = (x2 &+ x6) &* 4433
        let even2 = turned &- x6 &* 15137
        let even3 = turned &+ x2 &* 6270
        let even0 = (x0 &+ x4) &<< constantBits
        let even1 = (x0 &- x4) &<< constantBits
        let a0 = even0 &+ even3
        let a3 = even0 &- even3
        let a1 = even1 &+ even2
        let a2 = even1 &- even2

        // The odd half.
        let common = (x7 &+ x3 &+ x5 &+ x1) &* 9633
        let pair73 = (x7 &+ x3) &* -16069 &+ common
        let pair51 = (x5 &+ x1) &* -3196 &+ common
        let pair71 = (x7 &+ x1) &* -7373
        let pair53 = (x5 &+ x3) &* -20995
        let b3 = x7 &* 2446 &+ pair71 &+ pair73
        let b2 = x5 &* 16819 &+ pair53 &+ pair51
        let b1 = x3 &* 25172 &+ pair53 &+ pair73
        let b0 = x1 &* 12299 &+ pair71 &+ pair51

        return [a0 &+ b0, a1 &+ b1, a2 &+ b2, a3 &+ b3, a3 &- b3, a2 &- b2, a1 &- b1, a0 &- b0]
    }
}
