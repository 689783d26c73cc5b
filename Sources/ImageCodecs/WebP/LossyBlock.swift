/// A macroblock while it is predicted and its differences are added (RFC 6386 sections 12 and 14): 16 x 16 samples of
/// luma and 8 x 8 of each chroma in one plane, with the samples above and to the left of them. An element has four
/// samples, a row of a 4 x 4 block:
///
///     luma     row 1 to 16, element 1 to 4; above, to the left, and element 5 above to the right
///     chroma   row 18 to 25, element 1 and 2, and 4 and 5
enum LossyBlock {
    typealias Four = SIMD4<Int16>

    static let stride = 8
    static let count = stride * 26
    static let luma = stride + 1
    static let u = 18 * stride + 1
    static let v = u + 3

    /// The modes of prediction, in the order of `LossyTables.modes`. The first four are also those of whole planes.
    enum Mode {
        static let dc: UInt8 = 0
        static let trueMotion: UInt8 = 1
        static let vertical: UInt8 = 2
        static let horizontal: UInt8 = 3
        static let downRight: UInt8 = 4
        static let verticalRight: UInt8 = 5
        static let downLeft: UInt8 = 6
        static let verticalLeft: UInt8 = 7
        static let horizontalDown: UInt8 = 8
        static let horizontalUp: UInt8 = 9
    }

    // MARK: Prediction

    /// Predicts a plane of `side` elements and four times as many rows (section 12.2 and 12.3).
    static func predict(
        _ mode: UInt8, side: Int, at start: Int, hasAbove: Bool, hasLeft: Bool,
        _ block: inout MutableSpan<Four>
    ) {
        let rows = side &* 4
        switch mode {
        case Mode.trueMotion:
            let corner = block[start &- stride &- 1][3]
            for column in start..<start &+ side {
                let above = block[column &- stride] &- corner
                for row in 0..<rows {
                    let left = block[start &- 1 &+ row &* stride][3]
                    block[column &+ row &* stride] = limited(above &+ left)
                }
            }
        case Mode.vertical:
            for column in start..<start &+ side {
                let above = block[column &- stride]
                for row in 0..<rows { block[column &+ row &* stride] = above }
            }
        case Mode.horizontal:
            for row in 0..<rows {
                let line = start &+ row &* stride
                let left = Four(repeating: block[line &- 1][3])
                for column in line..<line &+ side { block[column] = left }
            }
        default:
            var sum: Int16 = 0
            if hasAbove {
                for column in 0..<side { sum &+= block[start &- stride &+ column].wrappedSum() }
            }
            if hasLeft {
                for row in 0..<rows { sum &+= block[start &- 1 &+ row &* stride][3] }
            }
            // A power of two.
            let count = Int16(truncatingIfNeeded: (hasAbove ? rows : 0) &+ (hasLeft ? rows : 0))
            let level = count == 0 ? 128 : (sum &+ count &>> 1) &>> Int16(count.trailingZeroBitCount)
            for row in 0..<rows {
                let line = start &+ row &* stride
                for column in line..<line &+ side { block[column] = Four(repeating: level) }
            }
        }
    }

    /// Predicts a block of 4 x 4 luma samples (section 12.3).
    static func predictFour(_ mode: UInt8, at start: Int, _ block: inout MutableSpan<Four>) {
        // The samples around the block in one line: from the lowest on the left, 0 to 3, over the corner, 4, to the
        // last above on the right, 12.
        let above = block[start &- stride]
        let right = block[start &- stride &+ 1]
        let e = (
            block[start &- 1 &+ 3 &* stride][3], block[start &- 1 &+ 2 &* stride][3],
            block[start &- 1 &+ stride][3], block[start &- 1][3], block[start &- stride &- 1][3], above[0],
            above[1], above[2], above[3], right[0], right[1], right[2], right[3]
        )
        let rows: (Four, Four, Four, Four)
        switch mode {
        case Mode.trueMotion:
            let difference = above &- e.4
            rows = (
                limited(difference &+ e.3), limited(difference &+ e.2), limited(difference &+ e.1),
                limited(difference &+ e.0)
            )
        case Mode.vertical:
            let row = Four(
                mean(e.4, e.5, e.6), mean(e.5, e.6, e.7), mean(e.6, e.7, e.8), mean(e.7, e.8, e.9))
            rows = (row, row, row, row)
        case Mode.horizontal:
            rows = (
                Four(repeating: mean(e.4, e.3, e.2)), Four(repeating: mean(e.3, e.2, e.1)),
                Four(repeating: mean(e.2, e.1, e.0)), Four(repeating: mean(e.1, e.0, e.0))
            )
        case Mode.downRight:
            let (a, b, c, d) = (
                mean(e.0, e.1, e.2), mean(e.1, e.2, e.3), mean(e.2, e.3, e.4), mean(e.3, e.4, e.5)
            )
            let (f, g, h) = (mean(e.4, e.5, e.6), mean(e.5, e.6, e.7), mean(e.6, e.7, e.8))
            rows = (Four(d, f, g, h), Four(c, d, f, g), Four(b, c, d, f), Four(a, b, c, d))
        case Mode.downLeft:
            let (a, b, c, d) = (
                mean(e.5, e.6, e.7), mean(e.6, e.7, e.8), mean(e.7, e.8, e.9), mean(e.8, e.9, e.10)
            )
            let (f, g, h) = (mean(e.9, e.10, e.11), mean(e.10, e.11, e.12), mean(e.11, e.12, e.12))
            rows = (Four(a, b, c, d), Four(b, c, d, f), Four(c, d, f, g), Four(d, f, g, h))
        case Mode.verticalRight:
            let (a, b, c) = (mean(e.4, e.5), mean(e.5, e.6), mean(e.6, e.7))
            let (f, g, h) = (mean(e.3, e.4, e.5), mean(e.4, e.5, e.6), mean(e.5, e.6, e.7))
            rows = (
                Four(a, b, c, mean(e.7, e.8)), Four(f, g, h, mean(e.6, e.7, e.8)),
                Four(mean(e.2, e.3, e.4), a, b, c), Four(mean(e.1, e.2, e.3), f, g, h)
            )
        case Mode.verticalLeft:
            let (a, b, c) = (mean(e.6, e.7), mean(e.7, e.8), mean(e.8, e.9))
            let (f, g, h) = (mean(e.6, e.7, e.8), mean(e.7, e.8, e.9), mean(e.8, e.9, e.10))
            rows = (
                Four(mean(e.5, e.6), a, b, c), Four(mean(e.5, e.6, e.7), f, g, h),
                Four(a, b, c, mean(e.9, e.10, e.11)), Four(f, g, h, mean(e.10, e.11, e.12))
            )
        case Mode.horizontalUp:
            let (a, b) = (mean(e.1, e.2), mean(e.0, e.1))
            let (f, g) = (mean(e.0, e.1, e.2), mean(e.1, e.0, e.0))
            rows = (
                Four(mean(e.2, e.3), mean(e.1, e.2, e.3), a, f), Four(a, f, b, g), Four(b, g, e.0, e.0),
                Four(repeating: e.0)
            )
        case Mode.horizontalDown:
            let (a, b, c) = (mean(e.3, e.4), mean(e.2, e.3), mean(e.1, e.2))
            let (f, g, h) = (mean(e.3, e.4, e.5), mean(e.2, e.3, e.4), mean(e.1, e.2, e.3))
            rows = (
                Four(a, f, mean(e.4, e.5, e.6), mean(e.5, e.6, e.7)), Four(b, g, a, f), Four(c, h, b, g),
                Four(mean(e.0, e.1), mean(e.0, e.1, e.2), c, h)
            )
        default:
            let row = Four(repeating: (above.wrappedSum() &+ e.0 &+ e.1 &+ e.2 &+ e.3 &+ 4) &>> 3)
            rows = (row, row, row, row)
        }
        block[start] = rows.0
        block[start &+ stride] = rows.1
        block[start &+ 2 &* stride] = rows.2
        block[start &+ 3 &* stride] = rows.3
    }

    @inline(__always)
    private static func mean(_ a: Int16, _ b: Int16) -> Int16 { (a &+ b &+ 1) &>> 1 }

    /// The middle one counts twice.
    @inline(__always)
    private static func mean(_ a: Int16, _ b: Int16, _ c: Int16) -> Int16 { (a &+ 2 &* b &+ c &+ 2) &>> 2 }

    /// Limits samples to a byte.
    @inline(__always)
    private static func limited(_ samples: Four) -> Four {
        let limit = Four(repeating: 255)
        let raised = samples.replacing(with: Four(), where: samples .< Four())
        return raised.replacing(with: limit, where: raised .> limit)
    }

    // MARK: Differences

    /// Adds the inverse transform of the 16 coefficients of a 4 x 4 block (section 14.4). `end` is the position after
    /// the last coefficient: up to 1 only the first can be other than 0.
    ///
    /// Coefficients come in a span of their own, from which the compiler loads vectors.
    @inline(__always)
    static func addDifferences(
        _ coefficients: Span<Int16>, end: Int, at start: Int, _ block: inout MutableSpan<Four>,
        zero: SIMD8<Int16>
    ) {
        if end > 3 {
            addTransform(coefficients, at: start, &block, zero: zero)
        } else if end > 1 {
            addSmallTransform(coefficients, at: start, &block)
        } else if coefficients[0] != 0 {
            let level = (coefficients[0] &+ 4) &>> 3
            for row in 0..<4 {
                block[start &+ row &* stride] = limited(block[start &+ row &* stride] &+ level)
            }
        }
    }

    /// The transform if only the first three coefficients, in the order of the file, are other than 0.
    @inline(__always)
    private static func addSmallTransform(
        _ coefficients: Span<Int16>, at start: Int, _ block: inout MutableSpan<Four>
    ) {
        func parts(_ coefficient: Int16) -> (cosine: Int16, sine: Int16) {
            let value = Int32(coefficient)
            return (
                Int16(truncatingIfNeeded: value &+ (value &* 20091) &>> 16),
                Int16(truncatingIfNeeded: (value &* 35468) &>> 16)
            )
        }
        let level = coefficients[0] &+ 4
        let across = parts(coefficients[1])
        let down = parts(coefficients[4])
        let row = Four(across.cosine, across.sine, 0 &- across.sine, 0 &- across.cosine) &+ level
        add(row &+ down.cosine, at: start, &block)
        add(row &+ down.sine, at: start &+ stride, &block)
        add(row &- down.sine, at: start &+ 2 &* stride, &block)
        add(row &- down.cosine, at: start &+ 3 &* stride, &block)
    }

    @inline(__always)
    private static func add(_ differences: Four, at start: Int, _ block: inout MutableSpan<Four>) {
        block[start] = limited(block[start] &+ differences &>> 3)
    }

    /// Two rows of a block, or two of the transform's terms.
    private typealias Lanes = SIMD8<Int16>

    private static func addTransform(
        _ coefficients: Span<Int16>, at start: Int, _ block: inout MutableSpan<Four>, zero: Lanes
    ) {
        let columns = transform(
            coefficients.vector8(at: 0) &+ zero, coefficients.vector8(at: 8) &+ zero, rounding: 0)
        let turned = transposed(columns.first, columns.last)
        let result = transform(turned.top &+ zero, turned.bottom &+ zero, rounding: 4)
        let rows = transposed(result.first, result.last)
        add(rows.top.lowHalf, at: start, &block)
        add(rows.top.highHalf, at: start &+ stride, &block)
        add(rows.bottom.lowHalf, at: start &+ 2 &* stride, &block)
        add(rows.bottom.highHalf, at: start &+ 3 &* stride, &block)
    }

    /// One direction of the transform, of the first two and the last two rows, to the first and second, and to the
    /// fourth and third. The constants are sqrt(2) times the cosine and sine of pi / 8, in 65,536ths.
    @inline(__always)
    private static func transform(_ top: Lanes, _ bottom: Lanes, rounding: Int16) -> (
        first: Lanes, last: Lanes
    ) {
        let odd = Lanes(lowHalf: top.highHalf, highHalf: bottom.highHalf)
        let cosine = odd &+ upperHalves(odd, times: 20091)
        let sine = upperHalves(odd, times: 35468)
        let (first, third) = (top.lowHalf &+ rounding, bottom.lowHalf)
        let sums = Lanes(lowHalf: first &+ third, highHalf: first &- third)
        let products = Lanes(
            lowHalf: cosine.lowHalf &+ sine.highHalf, highHalf: sine.lowHalf &- cosine.highHalf)
        return (sums &+ products, sums &- products)
    }

    /// The upper half of a product. The compiler has one instruction for it only without signs; the product of a
    /// negative number is too large by the factor then.
    @inline(__always)
    private static func upperHalves(_ value: Lanes, times factor: UInt32) -> Lanes {
        let unsigned = lanes { UInt16(truncatingIfNeeded: value[$0]) }
        let halves = lanes {
            Int16(truncatingIfNeeded: (UInt32(truncatingIfNeeded: unsigned[$0]) &* factor) &>> 16)
        }
        return halves &- (value &>> 15) & Lanes(repeating: Int16(truncatingIfNeeded: factor))
    }

    /// Rows become columns, from the order that `transform` gives to the one that it takes.
    @inline(__always)
    private static func transposed(_ first: Lanes, _ last: Lanes) -> (top: Lanes, bottom: Lanes) {
        let a = Lanes(first[0], first[4], first[1], first[5], first[2], first[6], first[3], first[7])
        let b = Lanes(last[4], last[0], last[5], last[1], last[6], last[2], last[7], last[3])
        return (
            Lanes(a[0], a[1], b[0], b[1], a[2], a[3], b[2], b[3]),
            Lanes(a[4], a[5], b[4], b[5], a[6], a[7], b[6], b[7])
        )
    }

    /// Spreads the DCs of the 16 luma blocks, which follow the others, to these blocks (section 14.3).
    static func spreadDC(_ coefficients: inout MutableSpan<Int16>, from first: Int, end: Int) {
        if end <= 1 {
            let level = Int16(truncatingIfNeeded: (Int32(coefficients[first]) &+ 3) &>> 3)
            coefficients[first] = 0
            for index in 0..<16 { coefficients[index &* 16] = level }
            return
        }
        var values = InlineArray<16, Int32>(repeating: 0)
        for index in 0..<16 {
            values[index] = Int32(coefficients[first &+ index])
            coefficients[first &+ index] = 0
        }
        @inline(__always) func butterfly(_ first: Int, _ step: Int, _ rounding: Int32) {
            let corner = values[first] &+ rounding
            let a0 = corner &+ values[first &+ 3 &* step]
            let a1 = values[first &+ step] &+ values[first &+ 2 &* step]
            let a2 = values[first &+ step] &- values[first &+ 2 &* step]
            let a3 = corner &- values[first &+ 3 &* step]
            values[first] = a0 &+ a1
            values[first &+ step] = a3 &+ a2
            values[first &+ 2 &* step] = a0 &- a1
            values[first &+ 3 &* step] = a3 &- a2
        }
        for column in 0..<4 { butterfly(column, 4, 0) }
        for row in 0..<4 { butterfly(row * 4, 1, 3) }
        for index in 0..<16 { coefficients[index &* 16] = Int16(truncatingIfNeeded: values[index] &>> 3) }
    }
}

/// Reads the coefficients of a block (RFC 6386 section 13).
enum LossyCoefficients {
    /// The kinds of blocks, in the order of the probabilities: luma whose DC is apart, these DCs, chroma, luma.
    enum Kind {
        static let lumaWithoutDC = 0
        static let lumaDC = 1
        static let chroma = 2
        static let luma = 3
    }

    /// Reads the coefficients of a block from position `first` on, and stores them times their steps.
    /// - Parameter context: how many of the blocks above and to the left have coefficients.
    /// - Returns: the position after the last coefficient that is not 0; `first` without any.
    @inline(__always)
    static func read(
        _ bits: inout LossyBits, in file: Span<UInt8>, _ probabilities: Span<UInt8>, kind: Int, context: Int,
        _ steps: LossySegment.Steps, first: Int, into block: inout MutableSpan<Int16>, at start: Int,
        zigzag: Span<UInt8>
    ) -> Int {
        let base = kind &* LossyHeader.kindStride
        let decisions = LossyTables.decisions
        var position = first
        var index = base &+ position &* LossyHeader.positionStride &+ context &* decisions
        while position < 16 {
            bits.reserve(in: file)
            guard bits.take(probabilities[index]) else { return position }
            while !bits.take(probabilities[index &+ 1]) {
                position &+= 1
                if position == 16 { return 16 }
                index = base &+ position &* LossyHeader.positionStride
                bits.reserve(in: file)
            }
            let next = base &+ (position &+ 1) &* LossyHeader.positionStride
            var value: Int32 = 1
            if bits.take(probabilities[index &+ 2]) {
                if bits.take(probabilities[index &+ 3]) {
                    (value, bits) = large(bits, in: file, probabilities, index)
                    bits.reserve(in: file)
                } else if bits.take(probabilities[index &+ 4]) {
                    value = bits.take(probabilities[index &+ 5]) ? 4 : 3
                } else {
                    value = 2
                }
                index = next &+ 2 &* decisions
            } else {
                index = next &+ decisions
            }
            let signed = bits.signed(value) &* (position > 0 ? steps.ac : steps.dc)
            block[start &+ Int(zigzag[position])] = Int16(truncatingIfNeeded: signed)
            position &+= 1
        }
        return 16
    }

    /// A magnitude above 4.
    @inline(never)
    private static func large(
        _ bits: LossyBits, in file: Span<UInt8>, _ probabilities: Span<UInt8>, _ index: Int
    ) -> (Int32, LossyBits) {
        var reader = bits
        let value = large(&reader, in: file, probabilities, index)
        return (value, reader)
    }

    @inline(__always)
    private static func large(
        _ bits: inout LossyBits, in file: Span<UInt8>, _ probabilities: Span<UInt8>, _ index: Int
    ) -> Int32 {
        @inline(__always) func bit(_ probability: UInt8) -> Int32 { bits.read(probability, in: file) ? 1 : 0 }
        if bit(probabilities[index &+ 6]) == 0 {
            if bit(probabilities[index &+ 7]) == 0 { return 5 &+ bit(159) }
            let high = 2 &* bit(165)
            return 7 &+ high &+ bit(145)
        }
        let high = bit(probabilities[index &+ 8])
        let category = 2 &* high &+ bit(probabilities[index &+ 9 &+ Int(high)])
        var value: Int32 = 0
        for probability in LossyTables.extraBits[Int(category)] { value = 2 &* value &+ bit(probability) }
        return value &+ 3 &+ 8 &<< category
    }
}
