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

    /// Transforms the 64 coefficients of `block`, row by row, into `size` x `size` samples (8, 4, 2 or 1), the first at
    /// `origin`. `positions` is the bitwise or of the positions of all nonzero coefficients, so that zero parts can be
    /// skipped.
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
            if positions & (lowerHalf | rightHalf) == 0 {
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

    private static func transformAll(
        _ block: Span<Int16>, into samples: inout MutableSpan<UInt8>, at origin: Int, stride: Int
    ) {
        var lines = BlockLines(
            load(block, 0), load(block, 8), load(block, 16), load(block, 24), load(block, 32),
            load(block, 40),
            load(block, 48), load(block, 56))
        lines.transform(droppingBits: constantBits &- passBits)
        lines.transpose()
        lines.transform(droppingBits: constantBits &+ passBits &+ 3)
        lines.transpose()
        store(lines, into: &samples, at: origin, stride: stride)
    }

    /// As `transformAll`, but skips the half of the multiplications that the zeros of three quarters of the block make
    /// unnecessary.
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
