extension PlanarPicture {
    /// Resamples the image as `Bitmap.resampled(to:)` does, with 4:2:0 chroma. Both sides must be positive.
    package func resampled(to size: ImageSize) -> PlanarPicture { resampled(to: PictureLayout(whole: size)) }

    /// Resizes and crops the image as `sizing` says, without enlarging, with 4:2:0 chroma.
    package func resampled(to sizing: ImageSizing?) -> PlanarPicture {
        resampled(to: PictureLayout(size, to: sizing))
    }

    private func resampled(to layout: PictureLayout) -> PlanarPicture {
        if isQuarter, layout == PictureLayout(whole: size) { return self }
        var result: [Plane] = []
        var kernels: [(across: LanczosKernel, down: LanczosKernel)] = []
        var end = 0
        for (index, plane) in planes.enumerated() {
            // The result pixels per sample, in each direction.
            let pixels = index == 0 ? 1 : 2
            let size = ImageSize(
                width: (layout.size.width + pixels - 1) / pixels,
                height: (layout.size.height + pixels - 1) / pixels)
            // Chroma samples are centred among the pixels that share them (JFIF 1.02), so all planes begin at the same
            // edge.
            let across = LanczosKernel.recent(
                from: plane.size.width,
                scale: Double(self.size.width * pixels) * plane.perPixel.across / Double(layout.scaled.width),
                first: Double(layout.columns.lowerBound) / Double(pixels), count: size.width)
            let down = LanczosKernel.recent(
                from: plane.size.height,
                scale: Double(self.size.height * pixels) * plane.perPixel.down / Double(layout.scaled.height),
                first: Double(layout.rows.lowerBound) / Double(pixels), count: size.height)
            kernels.append((across, down))
            // Rows are padded to whole vectors and written in fours.
            let stride = (size.width + 7) / 8 * 8
            let perPixel = 1 / Double(pixels)
            result.append(Plane(offset: end, stride: stride, size: size, perPixel: (perPixel, perPixel)))
            end += stride * ((size.height + 3) / 4 * 4)
        }
        var samples = [UInt8](repeating: 0, count: end + JPEGPlanes.slack)
        for index in planes.indices {
            let resampler = PlaneResampler(
                self.samples, planes[index], across: kernels[index].across, down: kernels[index].down)
            resampler.resample(into: &samples, result[index])
        }
        return PlanarPicture(size: layout.size, planes: result, samples: samples, isComplete: isComplete)
    }

    /// The peak memory use of resampling in bytes, with the result and without the source.
    package static func memoryToResample(from source: ImageSize, to target: ImageSize) -> Int {
        // Chroma at the source's full resolution needs the most rows.
        let half = ImageSize(width: max(1, target.width / 2), height: max(1, target.height / 2))
        let rows = LanczosKernel.pairs(from: source.height, to: half.height)
        let columns = LanczosKernel.pairs(from: source.width, to: half.width)
        let weights = 2 * (columns * target.width + rows * target.height) * 16
        let lines = (rows * 4 + 16) * (source.width + 32)
        return 2 * (target.width + 16) * (target.height + 8) + weights + lines
    }
}

/// Resamples one plane with the Lanczos kernel and the passes of `Resampler`, which expect four channels. In the
/// vertical pass four neighbours of a row take the place of the channels, in the horizontal pass four rows.
struct PlaneResampler {
    private typealias Pair = Resampler.Pair

    private let samples: [UInt8]
    private let plane: PlanarPicture.Plane
    private let across: LanczosKernel
    private let down: LanczosKernel
    /// The pairs of source columns that the result depends on.
    private let columns: Range<Int>
    /// Vectors of eight samples per row; an even number, for `Resampler.mixRows`.
    private let vectors: Int

    init(
        _ samples: [UInt8], _ plane: PlanarPicture.Plane, across: LanczosKernel, down: LanczosKernel
    ) {
        (self.samples, self.plane, self.across, self.down) = (samples, plane, across, down)
        columns = across.columns
        vectors = (columns.count + 7) / 8 * 2
    }

    /// Writes the result. It may write past the ends of rows, and writes four rows at a time.
    func resample(into samples: inout [UInt8], _ result: PlanarPicture.Plane) {
        // A ring buffer: row pair `p` is at `p` modulo the pairs of `down`.
        var rows = [Pair](repeating: Pair(), count: down.pairs * vectors * 2)
        var nextRowPair = down.starts.first ?? 0
        let blank = [Pair](repeating: Pair(), count: vectors)
        var four = [blank, blank, blank, blank]
        var line = [Pair](repeating: Pair(), count: vectors * 4)
        var levels = [SIMD8<UInt8>](repeating: SIMD8(), count: result.stride / 2)
        for row in 0..<result.size.height {
            while nextRowPair < down.starts[row] + down.pairs {
                weave(nextRowPair, into: &rows)
                nextRowPair += 1
            }
            Resampler.mixRows(rows, down.ringWeights(of: row), into: &four[row % 4])
            guard row % 4 == 3 || row == result.size.height - 1 else { continue }
            Self.join(four[0], four[1], four[2], four[3], into: &line)
            Resampler.mixColumns(line, across, from: columns.lowerBound, into: &levels)
            Self.store(levels, into: &samples, result.offset + row / 4 * 4 * result.stride, result.stride)
        }
    }

    /// Pairs two rows, even and odd columns separately, so that the sums are neighbours again.
    private func weave(_ pair: Int, into rows: inout [Pair]) {
        let start = plane.offset + columns.lowerBound * 2
        let even = start + pair * 2 * plane.stride
        // A last row without a partner is paired with itself; the second weight is 0.
        let odd = start + min(pair * 2 + 1, plane.size.height - 1) * plane.stride
        Self.weave(samples, even, odd, vectors, into: &rows, at: pair % down.pairs * vectors * 2)
    }

    private static func weave(
        _ allSamples: [UInt8], _ even: Int, _ odd: Int, _ vectors: Int, into allRows: inout [Pair],
        at place: Int
    ) {
        let samples = allSamples.span
        var rows = allRows.mutableSpan
        for vector in 0..<vectors {
            // Samples past the end of the row have weight 0.
            let a = samples.vector8(at: even &+ vector &* 8)
            let b = samples.vector8(at: odd &+ vector &* 8)
            let c = lanes { Int16(truncatingIfNeeded: a[$0]) &<< 6 }
            let d = lanes { Int16(truncatingIfNeeded: b[$0]) &<< 6 }
            let target = place &+ vector &* 2
            rows[target] = Pair(c[0], d[0], c[2], d[2], c[4], d[4], c[6], d[6])
            rows[target &+ 1] = Pair(c[1], d[1], c[3], d[3], c[5], d[5], c[7], d[7])
        }
    }

    /// Makes pairs of columns from four rows.
    private static func join(
        _ a: [Pair], _ b: [Pair], _ c: [Pair], _ d: [Pair], into joined: inout [Pair]
    ) {
        let (a, b, c, d) = (a.span, b.span, c.span, d.span)
        var line = joined.mutableSpan
        for vector in 0..<min(a.count, b.count, c.count, d.count) {
            let (p, q, r, s) = (a[vector], b[vector], c[vector], d[vector])
            let target = vector &* 4
            line[target] = Pair(p[0], p[1], q[0], q[1], r[0], r[1], s[0], s[1])
            line[target &+ 1] = Pair(p[2], p[3], q[2], q[3], r[2], r[3], s[2], s[3])
            line[target &+ 2] = Pair(p[4], p[5], q[4], q[5], r[4], r[5], s[4], s[5])
            line[target &+ 3] = Pair(p[6], p[7], q[6], q[7], r[6], r[7], s[6], s[7])
        }
    }

    /// Stores four rows; each vector has two columns of them.
    private static func store(
        _ levels: [SIMD8<UInt8>], into allSamples: inout [UInt8], _ start: Int, _ stride: Int
    ) {
        let levels = levels.span
        var samples = allSamples.mutableSpan
        for group in 0..<levels.count / 4 {
            let (a, b) = (levels[group &* 4], levels[group &* 4 &+ 1])
            let (c, d) = (levels[group &* 4 &+ 2], levels[group &* 4 &+ 3])
            for row in 0..<4 {
                let eight = SIMD8(
                    a[row], a[row &+ 4], b[row], b[row &+ 4], c[row], c[row &+ 4], d[row], d[row &+ 4])
                samples.store(eight, at: start &+ row &* stride &+ group &* 8)
            }
        }
    }
}
