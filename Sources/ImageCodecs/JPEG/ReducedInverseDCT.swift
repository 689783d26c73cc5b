/// The inverse DCT to 4 x 4, 2 x 2 or 1 samples. Each sample is the mean of the full-size samples it replaces, before
/// their rounding. The constants (13 bits) include the sums of neighbouring cosines, which saves most of the work, and
/// coefficients whose cosines cancel out are skipped.
enum ReducedInverseDCT {
    private typealias Lanes = SIMD8<Int32>
    private typealias Line = BlockLines.Line
    private typealias Quad = SIMD4<Int32>

    /// Transforms to 4 x 4 samples, the first at `origin`.
    static func transformToFour(
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
    static func transformToTwo(
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
