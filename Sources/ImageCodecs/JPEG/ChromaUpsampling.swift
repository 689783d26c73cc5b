/// Sixteen neighbouring samples of a row, each in the upper byte of its lane, as the colour conversion multiplies them.
typealias WideSamples = SIMD16<UInt16>

/// Upsamples a component to the image's resolution, one row at a time.
///
/// For a ratio of two, each new sample is three parts its nearest neighbour and one part the next (a triangle filter),
/// rounded as in libjpeg. For other ratios samples are repeated, as in libjpeg.
struct ChromaUpsampling {
    private enum Method { case none, across, down, both, repeating }

    private let method: Method
    private let plane: JPEGPlanes.Plane
    private let pictureWidth: Int
    /// The ratio of samples to pixels in each direction.
    private let across: (samples: Int, pixels: Int)
    private let down: (samples: Int, pixels: Int)

    init(_ component: JPEGComponent, of frame: JPEGFrame, scale: JPEGScale, plane: JPEGPlanes.Plane) {
        self.plane = plane
        pictureWidth = scale.size.width
        across = (
            component.horizontalFactor * plane.blockSize, frame.horizontalMaximum * scale.blockSize
        )
        down = (component.verticalFactor * plane.blockSize, frame.verticalMaximum * scale.blockSize)
        let isSameAcross = across.samples == across.pixels
        let isSameDown = down.samples == down.pixels
        let isHalfAcross = across.samples * 2 == across.pixels
        let isHalfDown = down.samples * 2 == down.pixels
        // libjpeg repeats samples if there are only two, and if a block becomes a single pixel.
        let isWide = plane.size.width > 2
        method =
            if isSameAcross && isSameDown {
                .none
            } else if scale.blockSize == 1 {
                .repeating
            } else if isHalfAcross && isSameDown && isWide {
                .across
            } else if isSameAcross && isHalfDown {
                .down
            } else if isHalfAcross && isHalfDown && isWide {
                .both
            } else {
                .repeating
            }
    }

    /// Whether the last pixel row of a block depends on the first sample row of the block below.
    var needsNextRow: Bool { method == .down || method == .both }

    /// The lowest sample row that the image's `row` depends on.
    func lastRow(for row: Int) -> Int {
        switch method {
        case .none, .across: row
        case .down, .both: row & 1 == 0 ? row &>> 1 : min(row &>> 1 &+ 1, plane.size.height &- 1)
        case .repeating: row &* down.samples / down.pixels
        }
    }

    /// Writes the image's `row` of this component into `output`, which must have room for whole vectors.
    func upsample(row: Int, of samples: Span<UInt8>, into output: inout MutableSpan<WideSamples>) {
        switch method {
        case .none:
            let source = samples.extracting(range(of: row))
            for vector in 0..<min(source.count &>> 4, output.count) {
                let (low, high) = (source.vector8(at: vector &* 16), source.vector8(at: vector &* 16 &+ 8))
                output[vector] = WideSamples(
                    lowHalf: lanes { UInt16(truncatingIfNeeded: low[$0]) &<< 8 },
                    highHalf: lanes { UInt16(truncatingIfNeeded: high[$0]) &<< 8 })
            }
        case .across:
            // The sum of two rows in the other direction has four times the value: use the same row twice. The biases
            // are libjpeg's 1 and 2 of 4.
            let near = samples.extracting(range(of: row))
            spread(near, near, leftBias: 4, rightBias: 8, into: &output)
        case .down:
            let (near, far) = neighbours(of: row)
            mix(
                samples.extracting(near), samples.extracting(far), bias: row & 1 == 0 ? 1 : 2, into: &output)
        case .both:
            let (near, far) = neighbours(of: row)
            spread(
                samples.extracting(near), samples.extracting(far), leftBias: 8, rightBias: 7, into: &output)
        case .repeating:
            let source = samples.extracting(range(of: row &* down.samples / down.pixels))
            for column in 0..<pictureWidth {
                let sample = source[column &* across.samples / across.pixels]
                output[column &>> 4][column & 15] = UInt16(sample) &<< 8
            }
        }
    }

    /// Whether the component has the image's resolution, so that `copy` suffices.
    var isCopy: Bool { method == .none }

    /// Copies the image's `row` of a component with the image's resolution.
    func copy(row: Int, of samples: Span<UInt8>, into output: inout MutableSpan<SIMD16<UInt8>>) {
        let source = samples.extracting(range(of: row))
        for vector in 0..<min(source.count &>> 4, output.count) {
            output[vector] = SIMD16(
                lowHalf: source.vector8(at: vector &* 16), highHalf: source.vector8(at: vector &* 16 &+ 8))
        }
    }

    /// The samples of a row, up to half a vector past its last vector.
    private func range(of row: Int) -> Range<Int> {
        let start = plane.start(ofRow: row)
        return start..<start &+ (plane.size.width &+ 15) &>> 4 &* 16 &+ 8
    }

    /// The row nearer to the image's `row`, and the other one; the same at the image's edges.
    private func neighbours(of row: Int) -> (near: Range<Int>, far: Range<Int>) {
        let near = row &>> 1
        let far = row & 1 == 0 ? max(near &- 1, 0) : min(near &+ 1, plane.size.height &- 1)
        return (range(of: near), range(of: far))
    }

    private typealias Lanes = SIMD8<UInt16>

    /// Three parts of one row and one of the other, with two more bits than a sample.
    @inline(__always)
    private static func sum(_ near: Span<UInt8>, _ far: Span<UInt8>, at index: Int) -> Lanes {
        widened(near.vector8(at: index)) &* Lanes(repeating: 3) &+ widened(far.vector8(at: index))
    }

    private func mix(
        _ near: Span<UInt8>, _ far: Span<UInt8>, bias: UInt16, into output: inout MutableSpan<WideSamples>
    ) {
        for vector in 0..<min(near.count &>> 4, far.count &>> 4, output.count) {
            let low = Self.sum(near, far, at: vector &* 16)
            let high = Self.sum(near, far, at: vector &* 16 &+ 8)
            output[vector] = WideSamples(
                lowHalf: lanes { (low[$0] &+ bias) &<< 6 & 0xFF00 },
                highHalf: lanes { (high[$0] &+ bias) &<< 6 & 0xFF00 })
        }
    }

    /// Interpolates two samples for each sum of rows, sixteen at once. The first and last samples have only one
    /// neighbour and are computed separately.
    private func spread(
        _ near: Span<UInt8>, _ far: Span<UInt8>, leftBias: UInt16, rightBias: UInt16,
        into output: inout MutableSpan<WideSamples>
    ) {
        var before = Lanes()
        var here = Self.sum(near, far, at: 0)
        for vector in 0..<min(near.count &>> 3 &- 1, far.count &>> 3 &- 1, output.count) {
            let after = Self.sum(near, far, at: (vector &+ 1) &* 8)
            let middle = here &* Lanes(repeating: 3)
            let leftSum = middle &+ Self.shifted(here, in: before) &+ Lanes(repeating: leftBias)
            let rightSum = middle &+ Self.shifted(here, out: after) &+ Lanes(repeating: rightBias)
            let (left, right) = (lanes { leftSum[$0] &<< 4 & 0xFF00 }, lanes { rightSum[$0] &<< 4 & 0xFF00 })
            output[vector] = WideSamples(
                lowHalf: Lanes(
                    left[0], right[0], left[1], right[1], left[2], right[2], left[3], right[3]),
                highHalf: Lanes(
                    left[4], right[4], left[5], right[5], left[6], right[6], left[7], right[7]))
            (before, here) = (here, after)
        }
        let last = plane.size.width &- 1
        let (firstSum, lastSum) = (Self.sum(near, far, at: 0)[0], Self.sum(near, far, at: last)[0])
        output[0][0] = (firstSum &* 4 &+ leftBias) &<< 4 & 0xFF00
        output[last &>> 3][(2 &* last &+ 1) & 15] = (lastSum &* 4 &+ rightBias) &<< 4 & 0xFF00
    }

    /// The left neighbour of each lane.
    @inline(__always)
    private static func shifted(_ here: Lanes, in before: Lanes) -> Lanes {
        Lanes(before[7], here[0], here[1], here[2], here[3], here[4], here[5], here[6])
    }

    /// The right neighbour of each lane.
    @inline(__always)
    private static func shifted(_ here: Lanes, out after: Lanes) -> Lanes {
        Lanes(here[1], here[2], here[3], here[4], here[5], here[6], here[7], after[0])
    }
}
