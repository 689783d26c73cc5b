/// The cosine transform of one block (T.81 A.3.3) and its quantisation (A.3.4): the coefficients of libjpeg's accurate
/// integer method, to the bit. It is the transform of Loeffler, Ligtenberg and Moschytz; see `InverseDCT`.
///
/// Its constants have 14 fraction bits here, one more than there, and samples come in four bits higher. So both passes
/// drop sixteen bits in the end, which is the upper half of a product and costs no shift of its own.
enum ForwardDCT {
    typealias Line = SIMD8<Int16>
    private typealias WideLine = SIMD8<Int32>

    /// Transforms the block of samples whose first is at `origin`, quantises it into `coefficients`, row by row, and
    /// answers which of them are not zero: bit `z` for the zigzag position `z`.
    ///
    /// Samples are signed: a level of 128 is 0.
    @inline(never)
    static func transform(
        _ samples: Span<UInt8>, at origin: Int, stride: Int, _ quantiser: borrowing JPEGQuantiser,
        into coefficients: inout MutableSpan<Int16>
    ) -> UInt64 {
        var lines = columns(samples, at: origin, stride: stride)
        lines.transform(isFirstPass: true)
        lines.transpose()
        lines.transform(isFirstPass: false)

        let factors = quantiser.factors.span
        // Of each column, a bit for each row that has a coefficient.
        var rows = SIMD8<UInt16>()
        quantise(lines.l0, 0, factors, &rows, &coefficients)
        quantise(lines.l1, 1, factors, &rows, &coefficients)
        quantise(lines.l2, 2, factors, &rows, &coefficients)
        quantise(lines.l3, 3, factors, &rows, &coefficients)
        quantise(lines.l4, 4, factors, &rows, &coefficients)
        quantise(lines.l5, 5, factors, &rows, &coefficients)
        quantise(lines.l6, 6, factors, &rows, &coefficients)
        quantise(lines.l7, 7, factors, &rows, &coefficients)
        let positions = quantiser.positions.span.extracting(0..<2048)
        var found: UInt64 = 0
        for column in 0..<8 { found |= positions[column &<< 8 | Int(rows[column] & 255)] }
        return found
    }

    @inline(__always)
    private static func quantise(
        _ line: Line, _ row: Int, _ factors: Span<JPEGQuantiser.Factors>, _ rows: inout SIMD8<UInt16>,
        _ coefficients: inout MutableSpan<Int16>
    ) {
        let factors = factors[row]
        let sign = lanes { line[$0] &>> 15 }
        let magnitude = lanes { UInt16(truncatingIfNeeded: (line[$0] ^ sign[$0]) &- sign[$0]) }
        let sum = magnitude &+ factors.correction
        let quotient = upperHalves(upperHalves(sum, factors.reciprocal), factors.scale)
        rows |= lanes { min(quotient[$0], 1) &<< UInt16(truncatingIfNeeded: row) }
        coefficients.store(
            lanes { (Int16(truncatingIfNeeded: quotient[$0]) ^ sign[$0]) &- sign[$0] }, at: row &* 8)
    }

    @inline(__always)
    private static func upperHalves(_ a: SIMD8<UInt16>, _ b: SIMD8<UInt16>) -> SIMD8<UInt16> {
        lanes {
            UInt16(
                truncatingIfNeeded: (UInt32(truncatingIfNeeded: a[$0]) &* UInt32(truncatingIfNeeded: b[$0]))
                    &>> 16)
        }
    }

    /// The block's columns, each sample four bits up. As bytes they are turned in half the steps.
    @inline(__always)
    private static func columns(_ samples: Span<UInt8>, at origin: Int, stride: Int) -> Lines {
        let block = samples.extracting(origin..<origin &+ 7 &* stride &+ 8)
        let a0 = interleaved(block.vector8(at: 0), block.vector8(at: 4 &* stride))
        let a1 = interleaved(block.vector8(at: stride), block.vector8(at: 5 &* stride))
        let a2 = interleaved(block.vector8(at: 2 &* stride), block.vector8(at: 6 &* stride))
        let a3 = interleaved(block.vector8(at: 3 &* stride), block.vector8(at: 7 &* stride))
        let b0 = interleaved(a0.lowHalf, a2.lowHalf)
        let b1 = interleaved(a0.highHalf, a2.highHalf)
        let b2 = interleaved(a1.lowHalf, a3.lowHalf)
        let b3 = interleaved(a1.highHalf, a3.highHalf)
        let (c0, c1) = (interleaved(b0.lowHalf, b2.lowHalf), interleaved(b0.highHalf, b2.highHalf))
        let (c2, c3) = (interleaved(b1.lowHalf, b3.lowHalf), interleaved(b1.highHalf, b3.highHalf))
        return Lines(
            raised(c0.lowHalf), raised(c0.highHalf), raised(c1.lowHalf), raised(c1.highHalf),
            raised(c2.lowHalf), raised(c2.highHalf), raised(c3.lowHalf), raised(c3.highHalf))
    }

    @inline(__always)
    private static func interleaved(_ a: SIMD8<UInt8>, _ b: SIMD8<UInt8>) -> SIMD16<UInt8> {
        SIMD16(
            a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3], a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7])
    }

    @inline(__always)
    private static func raised(_ samples: SIMD8<UInt8>) -> Line {
        lanes { Int16(bitPattern: UInt16(truncatingIfNeeded: samples[$0]) &<< 8) &>> 4 }
    }

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
            let half: Int16 = isFirstPass ? 0 : 2
            l0 = lanes { (sum[$0] &+ half) &>> 2 }
            l4 = lanes { (difference[$0] &+ half) &>> 2 }
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
        private static func narrow(_ line: WideLine) -> Line {
            lanes { Int16(truncatingIfNeeded: (line[$0] &+ 32768) &>> 16) }
        }

        /// Rows become columns: three rounds of interleaving.
        @inline(__always)
        mutating func transpose() {
            let (a0, a1, a2, a3) = (Self.low(l0, l4), Self.high(l0, l4), Self.low(l1, l5), Self.high(l1, l5))
            let (a4, a5, a6, a7) = (Self.low(l2, l6), Self.high(l2, l6), Self.low(l3, l7), Self.high(l3, l7))
            let (b0, b1, b2, b3) = (Self.low(a0, a4), Self.high(a0, a4), Self.low(a1, a5), Self.high(a1, a5))
            let (b4, b5, b6, b7) = (Self.low(a2, a6), Self.high(a2, a6), Self.low(a3, a7), Self.high(a3, a7))
            (l0, l1, l2, l3) = (Self.low(b0, b4), Self.high(b0, b4), Self.low(b1, b5), Self.high(b1, b5))
            (l4, l5, l6, l7) = (Self.low(b2, b6), Self.high(b2, b6), Self.low(b3, b7), Self.high(b3, b7))
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
