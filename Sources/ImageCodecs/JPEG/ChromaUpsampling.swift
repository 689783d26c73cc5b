/// Brings a component's samples to the picture's resolution, one row at a time.
///
/// Where the picture has twice the samples in a direction, each new sample is three parts its nearest neighbour
/// and one part the next ("triangle"), rounded as libjpeg rounds; for every other ratio samples are repeated, as
/// libjpeg does too.
struct ChromaUpsampling {
    private enum Method { case none, across, down, both, repeating }

    private let method: Method
    private let plane: JPEGPlanes.Plane
    private let pictureWidth: Int
    /// Of how many pixels of the picture so many samples are kept, each way.
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
        // Two samples have no neighbours to both sides of a gap worth weighing; libjpeg repeats them. So it does where
        // a block is but one pixel.
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

    /// Whether the last row of pixels of a block wants the first row of samples of the block below.
    var needsNextRow: Bool { method == .down || method == .both }

    /// Writes the picture's `row` of this component into `output`, which has room for sixteen samples more than a
    /// row of the picture. `sums` and `pairs` are room to work in, as long.
    func upsample(
        row: Int, of samples: Span<UInt8>, into output: inout MutableSpan<UInt8>,
        sums: inout MutableSpan<UInt16>, pairs: inout MutableSpan<SIMD8<UInt16>>
    ) {
        switch method {
        case .none:
            repeatSamples(samples.extracting(place(of: row)), into: &output)
        case .across:
            Self.widen(samples.extracting(place(of: row)), into: &sums)
            spread(sums.span, extraBits: 0, &pairs, into: &output)
        case .down:
            let (near, far) = neighbours(of: row)
            Self.mix(
                samples.extracting(near), samples.extracting(far), bias: row & 1 == 0 ? 1 : 2, into: &output)
        case .both:
            let (near, far) = neighbours(of: row)
            Self.sum(samples.extracting(near), samples.extracting(far), into: &sums)
            spread(sums.span, extraBits: 2, &pairs, into: &output)
        case .repeating:
            let source = row &* down.samples / down.pixels
            repeatSamples(samples.extracting(place(of: source)), into: &output)
        }
    }

    private func place(of row: Int) -> Range<Int> {
        let start = plane.start(ofRow: row)
        return start..<start &+ plane.size.width
    }

    /// The row that is nearer to the picture's `row`, and the other one; at the picture's edges the same.
    private func neighbours(of row: Int) -> (near: Range<Int>, far: Range<Int>) {
        let near = row &>> 1
        let far = row & 1 == 0 ? max(near &- 1, 0) : min(near &+ 1, plane.size.height &- 1)
        return (place(of: near), place(of: far))
    }

    private func repeatSamples(_ source: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
        if across.samples == across.pixels {
            for index in 0..<min(source.count, output.count) { output[index] = source[index] }
            return
        }
        for index in 0..<min(output.count, pictureWidth) {
            output[index] = source[index &* across.samples / across.pixels]
        }
    }

    private static func mix(
        _ near: Span<UInt8>, _ far: Span<UInt8>, bias: Int32, into output: inout MutableSpan<UInt8>
    ) {
        for index in 0..<min(near.count, far.count, output.count) {
            let sum = Int32(near[index]) &* 3 &+ Int32(far[index]) &+ bias
            output[index] = UInt8(truncatingIfNeeded: sum &>> 2)
        }
    }

    private static func widen(_ source: Span<UInt8>, into sums: inout MutableSpan<UInt16>) {
        for index in 0..<min(source.count, sums.count) { sums[index] = UInt16(source[index]) }
    }

    private static func sum(_ near: Span<UInt8>, _ far: Span<UInt8>, into sums: inout MutableSpan<UInt16>) {
        for index in 0..<min(near.count, far.count, sums.count) {
            sums[index] = UInt16(near[index]) &* 3 &+ UInt16(far[index])
        }
    }

    /// Two samples for each sum, which are `extraBits` more than a sample: sixteen at once, and those at the two ends,
    /// which have but one neighbour, once more by themselves.
    @inline(__always)
    private func spread(
        _ sums: Span<UInt16>, extraBits: UInt16, _ pairs: inout MutableSpan<SIMD8<UInt16>>,
        into output: inout MutableSpan<UInt8>
    ) {
        let bits = extraBits &+ 2
        // libjpeg's: 1 and 2 of 4 ahead of a single step, 8 and 7 of 16 ahead of both.
        let leftBias: UInt16 = extraBits == 0 ? 1 : 8
        let rightBias: UInt16 = extraBits == 0 ? 2 : 7
        let last = plane.size.width &- 1
        var index = 1
        var vectors = 0
        while index < last {
            let middle = sums.vector8(at: index) &* 3
            let left = (middle &+ sums.vector8(at: index &- 1) &+ leftBias) &>> bits
            let right = (middle &+ sums.vector8(at: index &+ 1) &+ rightBias) &>> bits
            pairs[vectors] = left | right &<< 8
            index &+= 8
            vectors &+= 1
        }
        ColourConversion.unpack(pairs.span, into: &output, 2..<2 &+ vectors &* 16)
        output[0] = UInt8(truncatingIfNeeded: (sums[0] &* 4 &+ leftBias) &>> bits)
        output[1] = UInt8(truncatingIfNeeded: (sums[0] &* 3 &+ sums[1] &+ rightBias) &>> bits)
        output[2 &* last] = UInt8(
            truncatingIfNeeded: (sums[last] &* 3 &+ sums[last &- 1] &+ leftBias) &>> bits)
        output[2 &* last &+ 1] = UInt8(truncatingIfNeeded: (sums[last] &* 4 &+ rightBias) &>> bits)
    }
}
