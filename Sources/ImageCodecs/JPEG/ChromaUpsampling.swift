/// Brings a component's samples to the picture's resolution, one row at a time.
///
/// Where the picture has twice the samples in a direction, each new sample is three parts its nearest neighbour
/// and one part the next ("triangle"), rounded as libjpeg rounds; for every other ratio samples are repeated, as
/// libjpeg does too.
struct ChromaUpsampling {
    private enum Method { case none, across, down, both, repeating }

    private let method: Method
    private let component: JPEGComponent
    private let horizontalMaximum: Int
    private let verticalMaximum: Int
    private let plane: JPEGPlanes.Plane
    private let pictureWidth: Int

    init(_ component: JPEGComponent, of frame: JPEGFrame, plane: JPEGPlanes.Plane) {
        self.component = component
        self.plane = plane
        pictureWidth = frame.size.width
        horizontalMaximum = frame.horizontalMaximum
        verticalMaximum = frame.verticalMaximum
        let isSameAcross = component.horizontalFactor == horizontalMaximum
        let isSameDown = component.verticalFactor == verticalMaximum
        let isHalfAcross = component.horizontalFactor * 2 == horizontalMaximum
        let isHalfDown = component.verticalFactor * 2 == verticalMaximum
        // Two samples have no neighbours to both sides of a gap worth weighing; libjpeg repeats them.
        let isWide = plane.size.width > 2
        method =
            if isSameAcross && isSameDown {
                .none
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

    /// Writes the picture's `row` of this component into `output`, which has room for an even number of samples.
    /// `sums` is room to work in, as long.
    func upsample(
        row: Int, of samples: Span<UInt8>, into output: inout MutableSpan<UInt8>,
        sums: inout MutableSpan<UInt16>
    ) {
        switch method {
        case .none:
            repeatSamples(samples.extracting(place(of: row)), into: &output)
        case .across:
            spread(samples.extracting(place(of: row)), into: &output)
        case .down:
            let (near, far) = neighbours(of: row)
            Self.mix(
                samples.extracting(near), samples.extracting(far), bias: row & 1 == 0 ? 1 : 2, into: &output)
        case .both:
            let (near, far) = neighbours(of: row)
            Self.sum(samples.extracting(near), samples.extracting(far), into: &sums)
            spread(sums: sums.span, into: &output)
        case .repeating:
            let source = row &* component.verticalFactor / verticalMaximum
            repeatSamples(samples.extracting(place(of: source)), into: &output)
        }
    }

    private func place(of row: Int) -> Range<Int> {
        let start = plane.offset &+ row &* plane.stride
        return start..<start &+ plane.size.width
    }

    /// The row that is nearer to the picture's `row`, and the other one; at the picture's edges the same.
    private func neighbours(of row: Int) -> (near: Range<Int>, far: Range<Int>) {
        let near = row &>> 1
        let far = row & 1 == 0 ? max(near &- 1, 0) : min(near &+ 1, plane.size.height &- 1)
        return (place(of: near), place(of: far))
    }

    private func repeatSamples(_ source: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
        if component.horizontalFactor == horizontalMaximum {
            for index in 0..<min(source.count, output.count) { output[index] = source[index] }
            return
        }
        let width = min(output.count, pictureWidth)
        for index in 0..<width {
            output[index] = source[index &* component.horizontalFactor / horizontalMaximum]
        }
    }

    private func spread(_ source: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
        let last = source.count &- 1
        output[0] = source[0]
        output[1] = UInt8(truncatingIfNeeded: (Int32(source[0]) &* 3 &+ Int32(source[1]) &+ 2) &>> 2)
        var index = 1
        while index < last {
            let middle = Int32(source[index]) &* 3
            output[2 &* index] = UInt8(truncatingIfNeeded: (middle &+ Int32(source[index &- 1]) &+ 1) &>> 2)
            output[2 &* index &+ 1] = UInt8(
                truncatingIfNeeded: (middle &+ Int32(source[index &+ 1]) &+ 2) &>> 2)
            index &+= 1
        }
        output[2 &* last] =
            UInt8(truncatingIfNeeded: (Int32(source[last]) &* 3 &+ Int32(source[last &- 1]) &+ 1) &>> 2)
        output[2 &* last &+ 1] = source[last]
    }

    private static func mix(
        _ near: Span<UInt8>, _ far: Span<UInt8>, bias: Int32, into output: inout MutableSpan<UInt8>
    ) {
        for index in 0..<min(near.count, far.count, output.count) {
            let sum = Int32(near[index]) &* 3 &+ Int32(far[index]) &+ bias
            output[index] = UInt8(truncatingIfNeeded: sum &>> 2)
        }
    }

    private static func sum(_ near: Span<UInt8>, _ far: Span<UInt8>, into sums: inout MutableSpan<UInt16>) {
        for index in 0..<min(near.count, far.count, sums.count) {
            sums[index] = UInt16(near[index]) &* 3 &+ UInt16(far[index])
        }
    }

    private func spread(sums: Span<UInt16>, into output: inout MutableSpan<UInt8>) {
        let last = plane.size.width &- 1
        output[0] = UInt8(truncatingIfNeeded: (sums[0] &* 4 &+ 8) &>> 4)
        output[1] = UInt8(truncatingIfNeeded: (sums[0] &* 3 &+ sums[1] &+ 7) &>> 4)
        var index = 1
        while index < last {
            let middle = sums[index] &* 3
            output[2 &* index] = UInt8(truncatingIfNeeded: (middle &+ sums[index &- 1] &+ 8) &>> 4)
            output[2 &* index &+ 1] = UInt8(truncatingIfNeeded: (middle &+ sums[index &+ 1] &+ 7) &>> 4)
            index &+= 1
        }
        output[2 &* last] = UInt8(truncatingIfNeeded: (sums[last] &* 3 &+ sums[last &- 1] &+ 8) &>> 4)
        output[2 &* last &+ 1] = UInt8(truncatingIfNeeded: (sums[last] &* 4 &+ 7) &>> 4)
    }
}
