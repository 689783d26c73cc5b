/// The forward DCT of a block (T.81 A.3.3) and its quantisation (A.3.4). The coefficients are identical to those of
/// libjpeg's accurate integer method, which `InverseDCT` describes.
///
/// Here the factors have 14 fraction bits, one more than there, and the samples are multiplied by 16. So both passes
/// drop 16 bits of a sum.
///
/// Products are summed in pairs: one instruction for four pairs. The first pass multiplies one pair by the factors of
/// four coefficients, the second multiplies the pairs of four columns by the factors of one. So no transposition is
/// needed.
enum ForwardDCT {
    typealias Line = BlockLines.Line
    private typealias Quad = SIMD4<Int32>

    /// The columns of coefficients in the order of a line's lanes: the first pass produces the even ones, then the odd
    /// ones.
    static let columns: InlineArray<8, Int> = [0, 2, 4, 6, 1, 3, 5, 7]

    /// The position of each zigzag index in a block with rows in that order.
    static let places: InlineArray<64, UInt8> = [
        0, 4, 8, 16, 12, 1, 5, 9,
        20, 24, 32, 28, 17, 13, 2, 6,
        10, 21, 25, 36, 40, 48, 44, 33,
        29, 18, 14, 3, 7, 11, 22, 26,
        37, 41, 52, 56, 60, 49, 45, 34,
        30, 19, 15, 23, 27, 38, 42, 53,
        57, 61, 50, 46, 35, 31, 39, 43,
        54, 58, 62, 51, 47, 55, 59, 63,
    ]

    /// The factors of the pairs. As stored values they are hidden from the compiler, which would otherwise split the
    /// pairs.
    struct Factors {
        // First pass: the outer and inner pairs of sums or differences, for four coefficients.
        fileprivate let evenOuter = Line(16384, 16384, 21406, 8866, 16384, -16384, 8866, -21408)
        fileprivate let evenInner = Line(16384, 16384, -8866, -21406, -16384, 16384, 21408, -8866)
        fileprivate let oddOuter = Line(22726, 19266, 19266, -4518, 12874, -22724, 4520, -12872)
        fileprivate let oddInner = Line(12874, 4520, -22724, -12872, 4522, 19266, 19266, -22726)
        // Second pass: rows 2 and 6, and the outer and inner pairs of rows 1, 3, 5 and 7.
        fileprivate let row2 = pair(8866, 21406)
        fileprivate let row6 = pair(-21408, 8866)
        fileprivate let row1 = (outer: pair(22726, 19266), inner: pair(12874, 4520))
        fileprivate let row3 = (outer: pair(19266, -4518), inner: pair(-22724, -12872))
        fileprivate let row5 = (outer: pair(12874, -22724), inner: pair(4522, 19266))
        fileprivate let row7 = (outer: pair(4520, -12872), inner: pair(19266, -22726))

        private static func pair(_ a: Int16, _ b: Int16) -> Line { Line(a, b, a, b, a, b, a, b) }
    }

    /// Transforms the block whose eight lines of samples begin at `origin`, and quantises it into `coefficients`.
    /// Returns a bit for each nonzero coefficient, in zigzag order from the lowest bit.
    @inline(never)
    static func transform(
        _ samples: Span<Line>, at origin: Int, _ quantiser: borrowing JPEGQuantiser,
        into coefficients: inout CoefficientBlock
    ) -> UInt64 {
        let block = samples.extracting(origin..<origin &+ 8)
        let factors = quantiser.cosines
        var lines = BlockLines(
            row(block[0], factors), row(block[1], factors), row(block[2], factors), row(block[3], factors),
            row(block[4], factors), row(block[5], factors), row(block[6], factors), row(block[7], factors))
        lines.transformColumns(factors)

        // For each column a bit for each row with a nonzero coefficient, lowest for the first row.
        var rows = SIMD8<UInt16>()
        quantise(lines.l7, 7, quantiser.factors[7], &rows, &coefficients)
        quantise(lines.l6, 6, quantiser.factors[6], &rows, &coefficients)
        quantise(lines.l5, 5, quantiser.factors[5], &rows, &coefficients)
        quantise(lines.l4, 4, quantiser.factors[4], &rows, &coefficients)
        quantise(lines.l3, 3, quantiser.factors[3], &rows, &coefficients)
        quantise(lines.l2, 2, quantiser.factors[2], &rows, &coefficients)
        quantise(lines.l1, 1, quantiser.factors[1], &rows, &coefficients)
        quantise(lines.l0, 0, quantiser.factors[0], &rows, &coefficients)
        let positions = quantiser.positions.span
        precondition(positions.count == 2048)
        var found: UInt64 = 0
        for lane in 0..<8 { found |= positions[lane &<< 8 | Int(truncatingIfNeeded: rows[lane] & 255)] }
        return found
    }

    /// The first pass for one row of samples.
    @inline(__always)
    private static func row(_ line: Line, _ factors: Factors) -> Line {
        let mirrored = Line(
            line[7], line[6], line[5], line[4], line[7], line[6], line[5], line[4])
        let (sums, differences) = (line &+ mirrored, line &- mirrored)
        // Subtracting the middle level changes only the DC sum, by 8 * 128 with two fraction bits.
        let even =
            pairProducts(repeated(sums, 0), factors.evenOuter)
            &+ pairProducts(repeated(sums, 2), factors.evenInner)
            &+ Quad(32768 - (4096 << 16), 32768, 32768, 32768)
        let odd =
            pairProducts(repeated(differences, 0), factors.oddOuter)
            &+ pairProducts(repeated(differences, 2), factors.oddInner) &+ Quad(repeating: 32768)
        return upperHalves(even, odd)
    }

    /// Two neighbouring values, repeated four times.
    @inline(__always)
    private static func repeated(_ line: Line, _ lane: Int) -> Line {
        let (a, b) = (line[lane], line[lane &+ 1])
        return Line(a, b, a, b, a, b, a, b)
    }

    @inline(__always)
    fileprivate static func upperHalves(_ low: SIMD4<Int32>, _ high: SIMD4<Int32>) -> Line {
        let (low, high) = (low &>> Quad(repeating: 16), high &>> Quad(repeating: 16))
        return lanes { Int16(truncatingIfNeeded: $0 < 4 ? low[$0] : high[$0 - 4]) }
    }

    @inline(__always)
    private static func quantise(
        _ line: Line, _ row: Int, _ factors: JPEGQuantiser.Factors, _ rows: inout SIMD8<UInt16>,
        _ coefficients: inout CoefficientBlock
    ) {
        let sign = line &>> Line(repeating: 15)
        let magnitude = (line ^ sign) &- sign
        let sum = lanes { UInt16(truncatingIfNeeded: magnitude[$0]) } &+ factors.correction
        let quotients = upperHalves(upperHalves(sum, factors.reciprocal), factors.scale)
        // 1 for a nonzero quotient.
        let isFound = (quotients &+ SIMD8(repeating: 32767)) &>> SIMD8(repeating: 15)
        rows = rows &+ rows &+ isFound
        let quotient = lanes { Int16(truncatingIfNeeded: quotients[$0]) }
        let result = (quotient ^ sign) &- sign
        for lane in 0..<8 { coefficients[row &* 8 &+ lane] = result[lane] }
    }

    @inline(__always)
    private static func upperHalves(_ a: SIMD8<UInt16>, _ b: SIMD8<UInt16>) -> SIMD8<UInt16> {
        lanes {
            UInt16(
                truncatingIfNeeded: (UInt32(truncatingIfNeeded: a[$0]) &* UInt32(truncatingIfNeeded: b[$0]))
                    &>> 16)
        }
    }
}

extension BlockLines {
    /// The second pass across the lines, each lane separately.
    @inline(__always)
    fileprivate mutating func transformColumns(_ factors: ForwardDCT.Factors) {
        let (s0, d0, s1, d1) = (l0 &+ l7, l0 &- l7, l1 &+ l6, l1 &- l6)
        let (s2, d2, s3, d3) = (l2 &+ l5, l2 &- l5, l3 &+ l4, l3 &- l4)
        let (e0, e3, e1, e2) = (s0 &+ s3, s0 &- s3, s1 &+ s2, s1 &- s2)
        // The first pass kept two fraction bits.
        let half = Line(repeating: 2)
        l0 = (e0 &+ e1 &+ half) &>> half
        l4 = (e0 &- e1 &+ half) &>> half
        let middle = Pairs(e2, e3)
        l2 = middle.line(factors.row2)
        l6 = middle.line(factors.row6)
        let (outer, inner) = (Pairs(d0, d1), Pairs(d2, d3))
        l1 = Pairs.line(outer, inner, factors.row1)
        l3 = Pairs.line(outer, inner, factors.row3)
        l5 = Pairs.line(outer, inner, factors.row5)
        l7 = Pairs.line(outer, inner, factors.row7)
    }

    /// Pairs of the lanes of two lines.
    private struct Pairs {
        let low, high: Line

        @inline(__always)
        init(_ a: Line, _ b: Line) {
            low = Line(a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3])
            high = Line(a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7])
        }

        @inline(__always)
        func line(_ factors: Line) -> Line {
            let half = SIMD4<Int32>(repeating: 32768)
            return ForwardDCT.upperHalves(
                pairProducts(low, factors) &+ half, pairProducts(high, factors) &+ half)
        }

        @inline(__always)
        static func line(_ outer: Pairs, _ inner: Pairs, _ factors: (outer: Line, inner: Line)) -> Line {
            let half = SIMD4<Int32>(repeating: 32768)
            return ForwardDCT.upperHalves(
                pairProducts(outer.low, factors.outer) &+ pairProducts(inner.low, factors.inner) &+ half,
                pairProducts(outer.high, factors.outer) &+ pairProducts(inner.high, factors.inner) &+ half)
        }
    }
}

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
    fileprivate let cosines = ForwardDCT.Factors()
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
