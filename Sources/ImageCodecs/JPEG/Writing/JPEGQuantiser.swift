/// The quantisation steps of a component, and the factors to divide by them.
struct JPEGQuantiser {
    /// A row of factors: a rounding division by a step is an addition and the upper halves of two products.
    struct Factors {
        var correction = SIMD8<UInt16>()
        var reciprocal = SIMD8<UInt16>()
        var scale = SIMD8<UInt16>()
    }

    /// The steps row by row, 1 to 255, the range of a baseline file.
    let steps: [UInt8]
    /// The factors of each row of the block, with columns in the order of `ForwardDCT.columns`.
    private(set) var factors = InlineArray<8, Factors>(repeating: Factors())
    /// The factors of the transform, the same for all quantisers.
    let cosines = ForwardDCT.Factors()
    /// Maps positions in the block to zigzag indices: for each lane 256 entries, one for each set of rows, with the bit
    /// set of their zigzag indices.
    let positions: [UInt64]

    /// Creates the steps of a component for a quality from 1 to 100.
    init(_ typical: InlineArray<64, UInt8>, quality: Int) {
        let scale = quality < 50 ? 5000 / quality : 200 - quality * 2
        let steps = (0..<64).map { UInt8(max(1, min((Int(typical[$0]) * scale + 50) / 100, 255))) }
        self.steps = steps
        for row in 0..<8 {
            for lane in 0..<8 {
                let step = Int(steps[row * 8 + ForwardDCT.columns[lane]])
                let (correction, reciprocal, scale) = Self.division(by: step * 8)
                factors[row].correction[lane] = correction
                factors[row].reciprocal[lane] = reciprocal
                factors[row].scale[lane] = scale
            }
        }
        positions = Self.positions
    }

    /// Factors such that `((x + correction) * reciprocal >> 16) * scale >> 16` is `x / divisor`, rounded to nearest,
    /// for every 15-bit `x` and every divisor from 8 (Granlund and Montgomery, "Division by invariant integers using
    /// multiplication", 1994; as in libjpeg-turbo).
    private static func division(
        by divisor: Int
    ) -> (correction: UInt16, reciprocal: UInt16, scale: UInt16) {
        var bits = 16 + (Int.bitWidth - 1 - divisor.leadingZeroBitCount)
        let (quotient, rest) = (1 << bits).quotientAndRemainder(dividingBy: divisor)
        var reciprocal = quotient
        var correction = divisor / 2
        if rest == 0 {
            reciprocal >>= 1
            bits -= 1
        } else if rest <= divisor / 2 {
            correction += 1
        } else {
            reciprocal += 1
        }
        return (UInt16(correction), UInt16(reciprocal), UInt16(1 << (32 - bits)))
    }

    private static let positions: [UInt64] = {
        var zigzag = [Int](repeating: 0, count: 64)
        for position in 0..<64 { zigzag[Int(ForwardDCT.places[position])] = position }
        return (0..<8 * 256).map { index in
            (0..<8).reduce(UInt64(0)) { found, row in
                index >> row & 1 == 1 ? found | 1 << UInt64(zigzag[row * 8 + index >> 8]) : found
            }
        }
    }()

    /// T.81 table K.1.
    static let luminance: InlineArray<64, UInt8> = [
        16, 11, 10, 16, 24, 40, 51, 61,
        12, 12, 14, 19, 26, 58, 60, 55,
        14, 13, 16, 24, 40, 57, 69, 56,
        14, 17, 22, 29, 51, 87, 80, 62,
        18, 22, 37, 56, 68, 109, 103, 77,
        24, 35, 55, 64, 81, 104, 113, 92,
        49, 64, 78, 87, 103, 121, 120, 101,
        72, 92, 95, 98, 112, 100, 103, 99,
    ]

    /// T.81 table K.2.
    static let chrominance: InlineArray<64, UInt8> = [
        17, 18, 24, 47, 99, 99, 99, 99,
        18, 21, 26, 66, 99, 99, 99, 99,
        24, 26, 56, 99, 99, 99, 99, 99,
        47, 66, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99,
    ]
}
