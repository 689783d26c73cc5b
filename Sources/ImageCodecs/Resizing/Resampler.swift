/// Resizes an image with the Lanczos kernel, one result row at a time: first vertically, then horizontally. Colours are
/// premultiplied by alpha meanwhile, so that invisible pixels do not bleed into visible ones.
///
/// Pixels are multiplied in pairs, of two rows and then of two columns: most machines multiply eight 16-bit numbers and
/// add neighbouring products in one instruction. Between the passes a level has six fraction bits.
struct Resampler {
    /// Two pixels, channel by channel: both reds, both greens, both blues, both alphas.
    typealias Pair = SIMD8<Int16>
    private typealias Sum = SIMD4<Int32>

    private let source: Bitmap
    private let isOpaque: Bool
    private let size: ImageSize
    private let across: LanczosKernel
    private let down: LanczosKernel
    /// The pairs of source columns that the result depends on.
    private let columns: Range<Int>
    /// A ring buffer of row pairs: pair `p` is at `p` modulo the pairs of `down`.
    private var rows: [Pair]
    private var nextRowPair: Int
    /// The two rows of the next pair, two pixels per element.
    private var even: [Pair]
    private var odd: [Pair]
    /// A row between the passes, as pairs of columns; an even number of pairs.
    private var line: [Pair]
    /// A result row of an opaque image, two pixels per element.
    private var levels: [SIMD8<UInt8>]
    private var pixels: [UInt8]

    init(_ source: Bitmap, to layout: PictureLayout) {
        self.source = source
        isOpaque = source.isOpaque
        size = layout.size
        across = .recent(from: source.width, to: layout.scaled.width, for: layout.columns)
        down = .recent(from: source.height, to: layout.scaled.height, for: layout.rows)
        columns = across.columns
        nextRowPair = down.starts.first ?? 0
        line = [Pair](repeating: Pair(), count: (columns.count + 1) / 2 * 2)
        rows = [Pair](repeating: Pair(), count: down.pairs * line.count * 2)
        even = line
        odd = line
        levels = [SIMD8<UInt8>](repeating: SIMD8(), count: (size.width + 1) / 2)
        pixels = [UInt8](repeating: 255, count: size.bitmapBytes)
    }

    /// The peak memory use in bytes, with the result and without the source.
    static func memory(from source: ImageSize, to result: ImageSize) -> Int {
        let rows = LanczosKernel.pairs(from: source.height, to: result.height)
        let weights =
            LanczosKernel.pairs(from: source.width, to: result.width) * result.width + rows * result.height
        return result.bitmapBytes + (rows * (source.width + 4) + 2 * (source.width + 4) + weights * 2) * 16
    }

    consuming func resampled() -> Bitmap {
        for row in 0..<size.height {
            let start = down.starts[row]
            while nextRowPair < start + down.pairs { unpackNextRows() }
            Self.mixRows(rows, down.ringWeights(of: row), into: &line)
            let place = row * size.width * 4..<(row + 1) * size.width * 4
            if isOpaque {
                Self.mixColumns(line, across, from: columns.lowerBound, into: &levels)
                Self.copy(levels, into: &pixels, place)
            } else {
                Self.mixTranslucentColumns(line, across, from: columns.lowerBound, into: &pixels, place)
            }
        }
        return Bitmap(width: size.width, height: size.height, pixels: pixels, damage: source.damage)
    }

    // MARK: Rows

    private mutating func unpackNextRows() {
        let pair = nextRowPair
        nextRowPair += 1
        // A last row without a partner is paired with itself; the second weight is 0.
        unpack(row: pair * 2, into: &even)
        unpack(row: min(pair * 2 + 1, source.height - 1), into: &odd)
        Self.weave(even, odd, into: &rows, at: pair % down.pairs * line.count * 2)
    }

    /// Unpacks the needed columns of a source row.
    private func unpack(row: Int, into levels: inout [Pair]) {
        let bytes = source.pixels.span.extracting(
            (row * source.width + columns.lowerBound * 2) * 4..<(row + 1) * source.width * 4)
        let whole = isOpaque ? min(bytes.count / 8, levels.count) : 0
        Self.unpack(bytes, into: &levels, whole)
        for pixel in whole * 2..<min(bytes.count / 4, levels.count * 2) {
            let premultiplied = Self.premultiplied(bytes, pixel * 4)
            for channel in 0..<4 { levels[pixel / 2][pixel % 2 * 4 + channel] = premultiplied[channel] }
        }
    }

    /// Unpacks opaque pixels, two per element.
    private static func unpack(_ bytes: Span<UInt8>, into allLevels: inout [Pair], _ count: Int) {
        var levels = allLevels.mutableSpan
        for two in 0..<min(count, levels.count) {
            let vector = bytes.vector8(at: two &* 8)
            levels[two] = lanes { Int16(truncatingIfNeeded: vector[$0]) &<< 6 }
        }
    }

    /// Interleaves two rows into pairs.
    private static func weave(
        _ even: [Pair], _ odd: [Pair], into allRows: inout [Pair], at place: Int
    ) {
        let (even, odd) = (even.span, odd.span)
        var rows = allRows.mutableSpan
        var target = place
        for two in 0..<min(even.count, odd.count) {
            let (a, b) = (even[two], odd[two])
            rows[target] = Pair(a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3])
            rows[target &+ 1] = Pair(a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7])
            target &+= 2
        }
    }

    private static func premultiplied(_ pixels: Span<UInt8>, _ index: Int) -> SIMD4<Int16> {
        let alpha = Int32(pixels[index &+ 3])
        func level(_ channel: Int) -> Int16 {
            Int16(truncatingIfNeeded: (Int32(pixels[index &+ channel]) &* alpha &* 64 &+ 127) / 255)
        }
        return SIMD4(level(0), level(1), level(2), Int16(truncatingIfNeeded: alpha &* 64))
    }

    // MARK: Passes

    /// The vertical pass: weights the rows and returns pairs of columns, two pairs at once.
    fileprivate static func mixRows(_ rows: [Pair], _ weights: [Pair], into line: inout [Pair]) {
        let (rows, weights) = (rows.span, weights.span)
        var line = line.mutableSpan
        let stride = line.count &* 2
        let half = Sum(repeating: 1 &<< (LanczosKernel.fractionBits &- 1))
        for pair in 0..<line.count / 2 {
            var (a, b, c, d) = (half, half, half, half)
            var place = pair &* 4
            for slot in 0..<weights.count {
                let pixels = rows.extracting(place..<place &+ 4)
                let weight = weights[slot]
                a = a &+ pairProducts(pixels[0], weight)
                b = b &+ pairProducts(pixels[1], weight)
                c = c &+ pairProducts(pixels[2], weight)
                d = d &+ pairProducts(pixels[3], weight)
                place &+= stride
            }
            line[pair &* 2] = woven(a, b)
            line[pair &* 2 &+ 1] = woven(c, d)
        }
    }

    /// Combines two pixels into a pair and removes the weights' fraction bits.
    @inline(__always)
    private static func woven(_ even: Sum, _ odd: Sum) -> Pair {
        let bits = Sum(repeating: LanczosKernel.fractionBits)
        let (a, b) = (even &>> bits, odd &>> bits)
        return lanes { Int16(truncatingIfNeeded: $0 & 1 == 0 ? a[$0 / 2] : b[$0 / 2]) }
    }

    /// One pixel of the horizontal pass, added to `addend`, with 20 fraction bits.
    @inline(__always)
    private static func mix(
        _ line: Span<Pair>, _ weights: Span<Pair>, _ start: Int, _ column: Int, _ pairs: Int, _ addend: Sum
    ) -> Sum {
        var sum = addend
        let taps = line.extracting(start..<start &+ pairs)
        let factors = weights.extracting(column &* pairs..<(column &+ 1) &* pairs)
        for pair in 0..<min(taps.count, factors.count) {
            sum = sum &+ pairProducts(taps[pair], factors[pair])
        }
        return sum
    }

    /// The horizontal pass, two pixels at once. Repeats the last pixel if `row` is longer than the result.
    fileprivate static func mixColumns(
        _ line: [Pair], _ kernel: LanczosKernel, from first: Int, into row: inout [SIMD8<UInt8>]
    ) {
        let (line, weights, starts) = (line.span, kernel.weights.span, kernel.starts.span)
        var row = row.mutableSpan
        let half = Sum(repeating: 1 &<< 19)
        for two in 0..<row.count {
            let column = min(two &* 2, starts.count &- 1)
            let next = min(column &+ 1, starts.count &- 1)
            let a = mix(line, weights, starts[column] &- first, column, kernel.pairs, half)
            let b = mix(line, weights, starts[next] &- first, next, kernel.pairs, half)
            let (c, d) = (a &>> Sum(repeating: 20), b &>> Sum(repeating: 20))
            let both = Pair(
                Int16(truncatingIfNeeded: c[0]), Int16(truncatingIfNeeded: c[1]),
                Int16(truncatingIfNeeded: c[2]), Int16(truncatingIfNeeded: c[3]),
                Int16(truncatingIfNeeded: d[0]), Int16(truncatingIfNeeded: d[1]),
                Int16(truncatingIfNeeded: d[2]), Int16(truncatingIfNeeded: d[3]))
            let levels = clamped(both, to: 0...255)
            row[two] = lanes { UInt8(truncatingIfNeeded: levels[$0]) }
        }
    }

    private static func copy(_ row: [SIMD8<UInt8>], into allPixels: inout [UInt8], _ place: Range<Int>) {
        let row = row.span
        var pixels = allPixels.mutableSpan
        for two in 0..<place.count / 8 { pixels.store(row[two], at: place.lowerBound &+ two &* 8) }
        if place.count % 8 > 0 {
            pixels.store(row[row.count - 1].lowHalf, at: place.upperBound - 4)
        }
    }

    private static func mixTranslucentColumns(
        _ line: [Pair], _ kernel: LanczosKernel, from first: Int, into allPixels: inout [UInt8],
        _ place: Range<Int>
    ) {
        let (line, weights, starts) = (line.span, kernel.weights.span, kernel.starts.span)
        var pixels = allPixels.mutableSpan
        let one = Float(1 << 20)
        for column in 0..<starts.count {
            let sum = mix(line, weights, starts[column] &- first, column, kernel.pairs, Sum())
            let at = place.lowerBound &+ column &* 4
            // Near an edge alpha overshoots as colours do: divide by its value before clamping.
            let scale = sum.w > 0 ? 255 / Float(sum.w) : 0
            for channel in 0..<3 { pixels[at &+ channel] = level(Float(sum[channel]) * scale) }
            pixels[at &+ 3] = level(Float(sum.w) / one)
        }
    }

    @inline(__always)
    private static func level(_ value: Float) -> UInt8 {
        UInt8(truncatingIfNeeded: Int32(min(max(value, 0), 255) + 0.5))
    }
}

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
            let across = KernelCache.Key(
                source: plane.size.width,
                scale: Double(self.size.width * pixels) * plane.perPixel.across / Double(layout.scaled.width),
                first: Double(layout.columns.lowerBound) / Double(pixels), count: size.width)
            let down = KernelCache.Key(
                source: plane.size.height,
                scale: Double(self.size.height * pixels) * plane.perPixel.down / Double(layout.scaled.height),
                first: Double(layout.rows.lowerBound) / Double(pixels), count: size.height)
            kernels.append((KernelCache.shared.kernel(across), KernelCache.shared.kernel(down)))
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
        return PlanarPicture(size: layout.size, planes: result, samples: samples, damage: damage)
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
    fileprivate func resample(into samples: inout [UInt8], _ result: PlanarPicture.Plane) {
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
