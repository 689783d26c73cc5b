/// The inverse DCT of a block (T.81 A.3.3), in the integer form of Loeffler, Ligtenberg and Moschytz ("Practical fast
/// 1-D DCT algorithms with 11 multiplications", 1989) with 13-bit constants. The rounding gives the same samples as
/// libjpeg's accurate integer method.
///
/// Their few products of sums are expanded to products of 16-bit values: most machines compute eight lanes of two
/// products and their sum in one instruction. The results are identical.
enum InverseDCT {
    /// A row or column of the block.
    typealias Line = BlockLines.Line

    /// The fraction bits of the constants, and those kept between the passes.
    private static let constantBits: Int32 = 13
    private static let passBits: Int32 = 2

    /// The bits of a position that select the lower half and the right half of the block.
    private static let lowerHalf: Int32 = 32
    private static let rightHalf: Int32 = 4
    /// The bits of its row.
    private static let rows: Int32 = 56

    /// Transforms the 64 coefficients of `block`, row by row, into `size` x `size` samples (8, 4, 2 or 1), the first at
    /// `origin`. `positions` is the bitwise or of what the dequantiser returned for all nonzero coefficients, so that
    /// zero parts can be skipped.
    ///
    /// A span avoids a copy of the block: the processor would have to wait for the coefficients just stored, even for a
    /// block of one level.
    @inline(__always)
    static func transform(
        _ block: Span<Int16>, positions: Int32, size: Int, into samples: inout MutableSpan<UInt8>,
        at origin: Int, stride: Int
    ) {
        if positions == 0 {
            fill(ReducedInverseDCT.level(block[0]), size: size, into: &samples, at: origin, stride: stride)
        } else if size == 8 {
            if positions >= Dequantiser.extreme {
                transformExtreme(block, positions, into: &samples, at: origin, stride: stride)
            } else if positions & (lowerHalf | rightHalf) == 0 {
                transformCorner(block, into: &samples, at: origin, stride: stride)
            } else {
                transformAll(block, into: &samples, at: origin, stride: stride)
            }
        } else if size == 4 {
            ReducedInverseDCT.transformToFour(block, into: &samples, at: origin, stride: stride)
        } else {
            ReducedInverseDCT.transformToTwo(block, into: &samples, at: origin, stride: stride)
        }
    }

    /// Fills a block with one level.
    private static func fill(
        _ level: UInt8, size: Int, into samples: inout MutableSpan<UInt8>, at origin: Int, stride: Int
    ) {
        var target = origin
        if size == 8 {
            let line = SIMD8<UInt8>(repeating: level)
            for _ in 0..<8 {
                samples.store(line, at: target)
                target &+= stride
            }
            return
        }
        for _ in 0..<size {
            for column in 0..<size { samples[target &+ column] = level }
            target &+= stride
        }
    }

    /// Not inlined, as the other two: the loop over blocks keeps its values in registers then.
    @inline(never)
    private static func transformAll(
        _ block: Span<Int16>, into samples: inout MutableSpan<UInt8>, at origin: Int, stride: Int
    ) {
        var lines = lines(of: block)
        lines.transform(droppingBits: constantBits &- passBits)
        lines.transpose()
        lines.transform(droppingBits: constantBits &+ passBits &+ 3)
        lines.transpose()
        store(lines, into: &samples, at: origin, stride: stride)
    }

    /// As `transformAll`, but skips the half of the multiplications that the zeros of three quarters of the block make
    /// unnecessary.
    @inline(never)
    private static func transformCorner(
        _ block: Span<Int16>, into samples: inout MutableSpan<UInt8>, at origin: Int, stride: Int
    ) {
        let zero = Line()
        var lines = BlockLines(
            load(block, 0), load(block, 8), load(block, 16), load(block, 24), zero, zero, zero, zero)
        lines.transform(droppingBits: constantBits &- passBits)
        lines.transpose()
        lines = BlockLines(lines.l0, lines.l1, lines.l2, lines.l3, zero, zero, zero, zero)
        lines.transform(droppingBits: constantBits &+ passBits &+ 3)
        lines.transpose()
        store(lines, into: &samples, at: origin, stride: stride)
    }

    /// The transform of values that only damaged files have, as libjpeg-turbo's vectors do it.
    @inline(never)
    private static func transformExtreme(
        _ block: Span<Int16>, _ positions: Int32, into samples: inout MutableSpan<UInt8>, at origin: Int,
        stride: Int
    ) {
        var lines = lines(of: block)
        if positions & rows == 0 {
            let row = lines.l0 &<< 2
            lines = BlockLines(row, row, row, row, row, row, row, row)
        } else {
            lines.transformExtremes(droppingBits: constantBits &- passBits)
        }
        lines.transpose()
        lines.transformExtremes(droppingBits: constantBits &+ passBits &+ 3)
        lines.transpose()
        store(lines, into: &samples, at: origin, stride: stride)
    }

    @inline(__always)
    private static func lines(of block: Span<Int16>) -> BlockLines {
        BlockLines(
            load(block, 0), load(block, 8), load(block, 16), load(block, 24), load(block, 32),
            load(block, 40), load(block, 48), load(block, 56))
    }

    @inline(__always)
    static func load(_ block: Span<Int16>, _ start: Int) -> Line {
        let line = block.extracting(start..<start &+ 8)
        return Line(line[0], line[1], line[2], line[3], line[4], line[5], line[6], line[7])
    }

    @inline(__always)
    private static func store(
        _ lines: BlockLines, into samples: inout MutableSpan<UInt8>, at origin: Int, stride: Int
    ) {
        samples.store(sample(lines.l0), at: origin)
        samples.store(sample(lines.l1), at: origin &+ stride)
        samples.store(sample(lines.l2), at: origin &+ stride &* 2)
        samples.store(sample(lines.l3), at: origin &+ stride &* 3)
        samples.store(sample(lines.l4), at: origin &+ stride &* 4)
        samples.store(sample(lines.l5), at: origin &+ stride &* 5)
        samples.store(sample(lines.l6), at: origin &+ stride &* 6)
        samples.store(sample(lines.l7), at: origin &+ stride &* 7)
    }

    /// Converts signed values to samples by adding the middle level.
    @inline(__always)
    private static func sample(_ line: Line) -> SIMD8<UInt8> {
        let shifted = clamped(line, to: -128...127) &+ Line(repeating: 128)
        return lanes { UInt8(truncatingIfNeeded: shifted[$0]) }
    }
}

extension BlockLines {
    /// One pass across the lines, each lane separately.
    @inline(__always)
    fileprivate mutating func transform(droppingBits bits: Int32) {
        let half: Int32 = 1 &<< (bits &- 1)
        let even0 = Self.sum(l0, 8192, l4, 8192, half)
        let even1 = Self.sum(l0, 8192, l4, -8192, half)
        let even2 = Self.sum(l2, 4433, l6, -10704)
        let even3 = Self.sum(l2, 10703, l6, 4433)
        let a0 = even0 &+ even3
        let a1 = even1 &+ even2
        let a2 = even1 &- even2
        let a3 = even0 &- even3
        let b0 = Self.sum(l1, 11363, l3, 9633) &+ Self.sum(l5, 6437, l7, 2260)
        let b1 = Self.sum(l1, 9633, l3, -2259) &+ Self.sum(l5, -11362, l7, -6436)
        let b2 = Self.sum(l1, 6437, l3, -11362) &+ Self.sum(l5, 2261, l7, 9633)
        let b3 = Self.sum(l1, 2260, l3, -6436) &+ Self.sum(l5, 9633, l7, -11363)
        (l0, l7) = (Self.narrow(a0 &+ b0, bits), Self.narrow(a0 &- b0, bits))
        (l1, l6) = (Self.narrow(a1 &+ b1, bits), Self.narrow(a1 &- b1, bits))
        (l2, l5) = (Self.narrow(a2 &+ b2, bits), Self.narrow(a2 &- b2, bits))
        (l3, l4) = (Self.narrow(a3 &+ b3, bits), Self.narrow(a3 &- b3, bits))
    }

    /// As `transform`, for values that do not fit: sums of two wrap at 16 bits, and the results are limited.
    fileprivate mutating func transformExtremes(droppingBits bits: Int32) {
        let half: Int32 = 1 &<< (bits &- 1)
        let even0 = Self.sum(l0 &+ l4, 8192, l0, 0, half)
        let even1 = Self.sum(l0 &- l4, 8192, l0, 0, half)
        let even2 = Self.sum(l2, 4433, l6, -10704)
        let even3 = Self.sum(l2, 10703, l6, 4433)
        let (odd0, odd1) = (l3 &+ l7, l1 &+ l5)
        let odd2 = Self.sum(odd0, -6436, odd1, 9633)
        let odd3 = Self.sum(odd0, 9633, odd1, 6437)
        let evens = [even0 &+ even3, even1 &+ even2, even1 &- even2, even0 &- even3]
        let odds = [
            Self.sum(l7, -7373, l1, 4926) &+ odd3, Self.sum(l5, -20995, l3, 4177) &+ odd2,
            Self.sum(l5, -4176, l3, -20995) &+ odd3, Self.sum(l7, -4927, l1, -7373) &+ odd2,
        ]
        let sums = (0..<4).map { Self.limited(evens[$0] &+ odds[$0], bits) }
        let differences = (0..<4).map { Self.limited(evens[$0] &- odds[$0], bits) }
        self = BlockLines(
            sums[0], sums[1], sums[2], sums[3], differences[3], differences[2], differences[1], differences[0]
        )
    }

    private static func limited(_ line: WideLine, _ bits: Int32) -> Line {
        Line(clamping: line &>> WideLine(repeating: bits))
    }

    @inline(__always)
    private static func sum(
        _ first: Line, _ firstFactor: Int32, _ second: Line, _ secondFactor: Int32, _ addend: Int32 = 0
    ) -> WideLine {
        lanes { Int32(truncatingIfNeeded: first[$0]) } &* WideLine(repeating: firstFactor)
            &+ lanes { Int32(truncatingIfNeeded: second[$0]) } &* WideLine(repeating: secondFactor)
            &+ WideLine(repeating: addend)
    }

    /// Narrows to 16 bits, which suffice for valid files.
    @inline(__always)
    private static func narrow(_ line: WideLine, _ bits: Int32) -> Line {
        lanes { Int16(truncatingIfNeeded: line[$0] &>> bits) }
    }
}

/// The inverse DCT to 4 x 4, 2 x 2 or 1 samples. Each sample is the mean of the full-size samples it replaces, before
/// their rounding. The constants (13 bits) include the sums of neighbouring cosines, which saves most of the work, and
/// coefficients whose cosines cancel out are skipped.
enum ReducedInverseDCT {
    private typealias Lanes = SIMD8<Int32>
    private typealias Line = BlockLines.Line
    private typealias Quad = SIMD4<Int32>

    /// Transforms to 4 x 4 samples, the first at `origin`.
    fileprivate static func transformToFour(
        _ block: Span<Int16>, into samples: inout MutableSpan<UInt8>, at origin: Int, stride: Int
    ) {
        // First all eight columns at once, then all four rows at once. Intermediate values have two more bits than
        // coefficients, which fit into 16 bits for valid files.
        let (c1, c3) = (InverseDCT.load(block, 8), InverseDCT.load(block, 24))
        let (c5, c7) = (InverseDCT.load(block, 40), InverseDCT.load(block, 56))
        let base = sum(InverseDCT.load(block, 0), 16384, Line(), 0) &+ Lanes(repeating: 1 &<< 11)
        let even = sum(InverseDCT.load(block, 16), 15137, InverseDCT.load(block, 48), -6270)
        let outer = sum(c1, 20995, c3, 7373) &+ sum(c5, -4926, c7, -4176)
        let inner = sum(c1, 8697, c3, -17799) &+ sum(c5, 11893, c7, -1730)
        let (upper, lower) = (base &+ even, base &- even)
        var lines = BlockLines(
            narrow(upper &+ outer), narrow(lower &+ inner), narrow(lower &- inner), narrow(upper &- outer),
            Line(), Line(), Line(), Line())
        lines.transpose()
        storeFour(lines, into: &samples, at: origin, stride: stride)
    }

    @inline(__always)
    private static func storeFour(
        _ lines: BlockLines, into samples: inout MutableSpan<UInt8>, at origin: Int, stride: Int
    ) {
        let base = quad(lines.l0, 16384, Line(), 0) &+ Quad(repeating: 1 &<< 18)
        let even = quad(lines.l2, 15137, lines.l6, -6270)
        let outer = quad(lines.l1, 20995, lines.l3, 7373) &+ quad(lines.l5, -4926, lines.l7, -4176)
        let inner = quad(lines.l1, 8697, lines.l3, -17799) &+ quad(lines.l5, 11893, lines.l7, -1730)
        let (upper, lower) = (base &+ even, base &- even)
        // Columns of samples, each of four rows.
        let shift = Quad(repeating: 19)
        let (s0, s1) = ((upper &+ outer) &>> shift, (lower &+ inner) &>> shift)
        let (s2, s3) = ((lower &- inner) &>> shift, (upper &- outer) &>> shift)
        let (left, right) = (levels(s0, s1), levels(s2, s3))
        for row in 0..<4 {
            let place = origin &+ row &* stride
            samples.store(SIMD4(left[row], left[row + 4], right[row], right[row + 4]), at: place)
        }
    }

    @inline(__always)
    private static func sum(
        _ first: Line, _ firstFactor: Int32, _ second: Line, _ secondFactor: Int32
    ) -> Lanes {
        lanes { Int32(truncatingIfNeeded: first[$0]) } &* Lanes(repeating: firstFactor)
            &+ lanes { Int32(truncatingIfNeeded: second[$0]) } &* Lanes(repeating: secondFactor)
    }

    /// As `sum`, for the first four lanes.
    @inline(__always)
    private static func quad(
        _ first: Line, _ firstFactor: Int32, _ second: Line, _ secondFactor: Int32
    ) -> Quad {
        sum(first, firstFactor, second, secondFactor).lowHalf
    }

    @inline(__always)
    private static func narrow(_ line: Lanes) -> Line {
        lanes { Int16(truncatingIfNeeded: line[$0] &>> 12) }
    }

    /// Converts signed values to samples by adding the middle level.
    @inline(__always)
    private static func levels(_ first: Quad, _ second: Quad) -> SIMD8<UInt8> {
        let values = Line(
            Int16(truncatingIfNeeded: first[0]), Int16(truncatingIfNeeded: first[1]),
            Int16(truncatingIfNeeded: first[2]), Int16(truncatingIfNeeded: first[3]),
            Int16(truncatingIfNeeded: second[0]), Int16(truncatingIfNeeded: second[1]),
            Int16(truncatingIfNeeded: second[2]), Int16(truncatingIfNeeded: second[3]))
        let shifted = clamped(values, to: -128...127) &+ Line(repeating: 128)
        return lanes { UInt8(truncatingIfNeeded: shifted[$0]) }
    }

    /// Transforms to 2 x 2 samples, the first at `origin`.
    fileprivate static func transformToTwo(
        _ block: Span<Int16>, into samples: inout MutableSpan<UInt8>, at origin: Int, stride: Int
    ) {
        let (c1, c3, c5, c7) = (wide(block, 8), wide(block, 24), wide(block, 40), wide(block, 56))
        let base = wide(block, 0) &<< 15 &+ 1 &<< 12
        let odd = (c1 &* 29692 &- c3 &* 10426) &+ (c5 &* 6967 &- c7 &* 5906)
        storeTwo((base &+ odd) &>> 13, into: &samples, at: origin)
        storeTwo((base &- odd) &>> 13, into: &samples, at: origin &+ stride)
    }

    @inline(__always)
    private static func storeTwo(_ row: Lanes, into samples: inout MutableSpan<UInt8>, at origin: Int) {
        let base = row[0] &<< 15
        let odd = row[1] &* 29692 &- row[3] &* 10426 &+ row[5] &* 6967 &- row[7] &* 5906
        samples[origin] = sample(base &+ odd, bits: 20)
        samples[origin &+ 1] = sample(base &- odd, bits: 20)
    }

    /// The single sample of a block, from its DC coefficient. Also the level of a block whose AC coefficients are 0.
    @inline(__always)
    static func level(_ coefficient: Int16) -> UInt8 { sample(Int32(coefficient), bits: 3) }

    /// Converts a signed value to a sample by adding the middle level.
    @inline(__always)
    private static func sample(_ value: Int32, bits: Int32) -> UInt8 {
        let shifted = (value &+ 1 &<< (bits &- 1)) &>> bits &+ 128
        return UInt8(truncatingIfNeeded: max(0, min(255, shifted)))
    }

    @inline(__always)
    private static func wide(_ block: Span<Int16>, _ start: Int) -> Lanes {
        Lanes(truncatingIfNeeded: InverseDCT.load(block, start))
    }
}

/// The scale at which a frame is decoded. Each 8 x 8 block becomes 8, 4, 2 or 1 samples in each direction, so that a
/// small image never exists at its full size.
struct JPEGScale {
    /// The pixels of an 8 x 8 block of the image, in each direction: 1, 2, 4 or 8.
    let blockSize: Int
    /// The image's size at this scale, rounded up.
    let size: ImageSize
    /// The samples of each component's blocks. A subsampled component is reduced less, if that saves upsampling it.
    let componentBlockSizes: [Int]

    /// The smallest scale whose image is not below `target`; the full size if nil. With `isPlanar` all components are
    /// reduced alike, because nothing is upsampled.
    init(_ frame: JPEGFrame, target: ImageSize?, isPlanar: Bool = false) {
        var blockSize = 8
        if let target {
            blockSize = 1
            while blockSize < 8 {
                let size = Self.scaled(frame.size, blockSize)
                if size.width >= target.width, size.height >= target.height { break }
                blockSize *= 2
            }
        }
        self.blockSize = blockSize
        size = Self.scaled(frame.size, blockSize)
        componentBlockSizes = frame.components.map { component in
            var own = blockSize
            while !isPlanar, own < 8,
                frame.horizontalMaximum * blockSize % (component.horizontalFactor * own * 2) == 0,
                frame.verticalMaximum * blockSize % (component.verticalFactor * own * 2) == 0
            {
                own *= 2
            }
            return own
        }
    }

    private static func scaled(_ size: ImageSize, _ blockSize: Int) -> ImageSize {
        ImageSize(width: (size.width * blockSize + 7) / 8, height: (size.height * blockSize + 7) / 8)
    }
}

/// The eight rows or columns of a block, for the transforms.
struct BlockLines {
    /// Eight neighbouring values.
    typealias Line = SIMD8<Int16>
    typealias WideLine = SIMD8<Int32>

    var l0, l1, l2, l3, l4, l5, l6, l7: Line

    @inline(__always)
    init(_ l0: Line, _ l1: Line, _ l2: Line, _ l3: Line, _ l4: Line, _ l5: Line, _ l6: Line, _ l7: Line) {
        (self.l0, self.l1, self.l2, self.l3) = (l0, l1, l2, l3)
        (self.l4, self.l5, self.l6, self.l7) = (l4, l5, l6, l7)
    }

    /// Transposes the block, in three rounds of interleaving.
    @inline(__always)
    mutating func transpose() {
        interleave()
        interleave()
        interleave()
    }

    /// One of the three rounds of a transposition.
    @inline(__always)
    private mutating func interleave() {
        let (a0, a1, a2, a3) = (Self.low(l0, l4), Self.high(l0, l4), Self.low(l1, l5), Self.high(l1, l5))
        let (a4, a5, a6, a7) = (Self.low(l2, l6), Self.high(l2, l6), Self.low(l3, l7), Self.high(l3, l7))
        (l0, l1, l2, l3) = (a0, a1, a2, a3)
        (l4, l5, l6, l7) = (a4, a5, a6, a7)
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
