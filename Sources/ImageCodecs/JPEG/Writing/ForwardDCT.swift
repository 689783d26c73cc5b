/// The cosine transform of one block (T.81 A.3.3) and its quantisation (A.3.4): the coefficients of libjpeg's accurate
/// integer method, to the bit. It is the transform of Loeffler, Ligtenberg and Moschytz; see `InverseDCT`.
///
/// Its constants have 14 fraction bits here, one more than there, and samples come in four bits higher. So both passes
/// drop sixteen bits in the end, which is the upper half of a product and costs no shift of its own.
enum ForwardDCT {
    typealias Line = SIMD8<Int16>
    private typealias WideLine = SIMD8<Int32>

    /// Transforms the block whose first row of samples is at `origin`, quantises it into `coefficients`, row by row, and
    /// answers which of them are not zero: bit `z` for the zigzag position `z`.
    ///
    /// Samples are signed: a level of 128 is 0.
    @inline(never)
    static func transform(
        _ samples: Span<Line>, at origin: Int, stride: Int, _ quantiser: borrowing JPEGQuantiser,
        into coefficients: inout CoefficientBlock
    ) -> UInt64 {
        var lines = Lines(
            samples[origin], samples[origin &+ stride],
            samples[origin &+ 2 &* stride], samples[origin &+ 3 &* stride],
            samples[origin &+ 4 &* stride], samples[origin &+ 5 &* stride],
            samples[origin &+ 6 &* stride], samples[origin &+ 7 &* stride])
        let (level, raise) = (quantiser.level, quantiser.raise)
        lines.interleave()
        lines = lines.each { $0 &- level }
        lines.interleave()
        lines = lines.each { $0 &* raise }
        lines.interleave()
        lines.transform(isFirstPass: true)
        lines = lines.each { $0 &- level }
        lines.interleave()
        lines = lines.each { $0 &- level }
        lines.interleave()
        lines = lines.each { $0 &+ level &+ level }
        lines.interleave()
        lines.transform(isFirstPass: false)

        // Of each column, a bit for each row that has a coefficient.
        var rows = Line()
        quantise(lines.l0, 0, quantiser.factors[0], &rows, &coefficients)
        quantise(lines.l1, 1, quantiser.factors[1], &rows, &coefficients)
        quantise(lines.l2, 2, quantiser.factors[2], &rows, &coefficients)
        quantise(lines.l3, 3, quantiser.factors[3], &rows, &coefficients)
        quantise(lines.l4, 4, quantiser.factors[4], &rows, &coefficients)
        quantise(lines.l5, 5, quantiser.factors[5], &rows, &coefficients)
        quantise(lines.l6, 6, quantiser.factors[6], &rows, &coefficients)
        quantise(lines.l7, 7, quantiser.factors[7], &rows, &coefficients)
        let positions = quantiser.positions.span
        precondition(positions.count == 2048)
        var found: UInt64 = 0
        for column in 0..<8 { found |= positions[column &<< 8 | Int(truncatingIfNeeded: rows[column] & 255)] }
        return found
    }

    @inline(__always)
    private static func quantise(
        _ line: Line, _ row: Int, _ factors: JPEGQuantiser.Factors, _ rows: inout Line,
        _ coefficients: inout CoefficientBlock
    ) {
        let sign = line &>> Line(repeating: 15)
        let magnitude = (line ^ sign) &- sign
        let sum = lanes { UInt16(truncatingIfNeeded: magnitude[$0]) } &+ factors.correction
        let quotients = upperHalves(upperHalves(sum, factors.reciprocal), factors.scale)
        let quotient = lanes { Int16(truncatingIfNeeded: quotients[$0]) }
        // The sign of what a quotient leaves to nought says that it is not nought.
        rows |= (Line() &- quotient) &>> Line(repeating: 15) & Line(repeating: 1 &<< Int16(row))
        let result = (quotient ^ sign) &- sign
        for column in 0..<8 { coefficients[row &* 8 &+ column] = result[column] }
    }

    @inline(__always)
    private static func upperHalves(_ a: SIMD8<UInt16>, _ b: SIMD8<UInt16>) -> SIMD8<UInt16> {
        lanes {
            UInt16(
                truncatingIfNeeded: (UInt32(truncatingIfNeeded: a[$0]) &* UInt32(truncatingIfNeeded: b[$0]))
                    &>> 16)
        }
    }

    @inline(__always)
    private static func centred(_ line: Line) -> Line { line &- Line(repeating: 128) }

    private struct Lines {
        var l0, l1, l2, l3, l4, l5, l6, l7: Line

        @inline(__always)
        init(_ l0: Line, _ l1: Line, _ l2: Line, _ l3: Line, _ l4: Line, _ l5: Line, _ l6: Line, _ l7: Line) {
            (self.l0, self.l1, self.l2, self.l3) = (l0, l1, l2, l3)
            (self.l4, self.l5, self.l6, self.l7) = (l4, l5, l6, l7)
        }

        /// One pass: across the lines, each lane by itself.
        @inline(__always)
        mutating func transform(isFirstPass: Bool) {
            let (s0, d0, s1, d1) = (l0 &+ l7, l0 &- l7, l1 &+ l6, l1 &- l6)
            let (s2, d2, s3, d3) = (l2 &+ l5, l2 &- l5, l3 &+ l4, l3 &- l4)
            let (e0, e3, e1, e2) = (s0 &+ s3, s0 &- s3, s1 &+ s2, s1 &- s2)
            let (sum, difference) = (e0 &+ e1, e0 &- e1)
            // The first pass keeps two more bits than samples have; the second drops them.
            (l0, l4) = (Self.first(sum, isFirstPass), Self.first(difference, isFirstPass))
            l2 = Self.narrow(Self.sum(e2, 4433, e3, 10703))
            l6 = Self.narrow(Self.sum(e2, -10704, e3, 4433))
            l1 = Self.narrow(Self.sum(d3, 2260, d2, 6437) &+ Self.sum(d1, 9633, d0, 11363))
            l3 = Self.narrow(Self.sum(d3, -6436, d2, -11362) &+ Self.sum(d1, -2259, d0, 9633))
            l5 = Self.narrow(Self.sum(d3, 9633, d2, 2261) &+ Self.sum(d1, -11362, d0, 6437))
            l7 = Self.narrow(Self.sum(d3, -11363, d2, 9633) &+ Self.sum(d1, -6436, d0, 2260))
        }

        /// The factors have 13 fraction bits.
        @inline(__always)
        private static func sum(
            _ first: Line, _ firstFactor: Int32, _ second: Line, _ secondFactor: Int32
        ) -> WideLine {
            lanes { Int32(truncatingIfNeeded: first[$0]) } &* WideLine(repeating: firstFactor &* 2)
                &+ lanes { Int32(truncatingIfNeeded: second[$0]) } &* WideLine(repeating: secondFactor &* 2)
        }

        @inline(__always)
        private static func first(_ line: Line, _ isFirstPass: Bool) -> Line {
            (isFirstPass ? line : line &+ Line(repeating: 2)) &>> Line(repeating: 2)
        }

        /// The upper halves.
        @inline(__always)
        private static func narrow(_ line: WideLine) -> Line {
            let rounded = line &+ WideLine(repeating: 32768)
            return lanes { Int16(truncatingIfNeeded: rounded[$0] &>> 16) }
        }

        /// A third of a transposition.
        @inline(__always)
        mutating func interleave() {
            let (a0, a1, a2, a3) = (Self.low(l0, l4), Self.high(l0, l4), Self.low(l1, l5), Self.high(l1, l5))
            let (a4, a5, a6, a7) = (Self.low(l2, l6), Self.high(l2, l6), Self.low(l3, l7), Self.high(l3, l7))
            (l0, l1, l2, l3) = (a0, a1, a2, a3)
            (l4, l5, l6, l7) = (a4, a5, a6, a7)
        }

        @inline(__always)
        func each(_ change: (Line) -> Line) -> Lines {
            Lines(
                change(l0), change(l1), change(l2), change(l3), change(l4), change(l5), change(l6), change(l7)
            )
        }

        @inline(__always)
        private static func low(_ a: Line, _ b: Line) -> Line {
            Line(a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3])
        }

        @inline(__always)
        private static func high(_ a: Line, _ b: Line) -> Line {
            Line(a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7])
        }
    }
}
