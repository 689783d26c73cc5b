/// The cosine transform of one block (T.81 A.3.3) and its quantisation (A.3.4), with the coefficients of libjpeg's accurate
/// integer method, to the bit. `InverseDCT` names the method.
///
/// The factors have 14 fraction bits here, one more than there, and the samples are 16 times as large. So both passes
/// drop 16 bits of a sum: its upper half is taken, and nothing is shifted.
enum ForwardDCT {
    typealias Line = BlockLines.Line

    /// Transforms the block whose first line of samples is at `origin`, and quantises it into `coefficients`, row by row.
    /// The result has a bit for each coefficient that is not zero, in zigzag order from the lowest bit.
    @inline(never)
    static func transform(
        _ samples: Span<Line>, at origin: Int, stride: Int, _ quantiser: borrowing JPEGQuantiser,
        into coefficients: inout CoefficientBlock
    ) -> UInt64 {
        var lines = BlockLines(
            samples[origin], samples[origin &+ stride], samples[origin &+ 2 &* stride],
            samples[origin &+ 3 &* stride], samples[origin &+ 4 &* stride], samples[origin &+ 5 &* stride],
            samples[origin &+ 6 &* stride], samples[origin &+ 7 &* stride])
        // Both transpositions have arithmetic between their rounds, with numbers that the compiler does not know. Three
        // rounds at a stretch it would merge into one shuffle of eight lines, which the processor does not have: that is
        // five times as slow. The first has use for it; the second adds and subtracts the same.
        let (level, scale) = (quantiser.middleLevel, quantiser.sampleScale)
        lines.interleave()
        lines = lines.each { $0 &- level }
        lines.interleave()
        lines = lines.each { $0 &* scale }
        lines.interleave()
        lines.transform(isFirstPass: true)
        lines.interleave()
        lines = lines.each { $0 &- level }
        lines.interleave()
        lines = lines.each { $0 &+ level }
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
}

extension BlockLines {
    /// One pass: across the lines, each lane by itself.
    @inline(__always)
    fileprivate mutating func transform(isFirstPass: Bool) {
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
}
