/// Resizes a picture row by row with Lanczos' kernel, first across, then down. Red, green and blue are multiplied by alpha
/// meanwhile, so that invisible pixels lend no colour to visible ones.
struct Resampler {
    private typealias Pixel = SIMD4<Float>

    private let target: ImageSize
    private let across: LanczosKernel
    private let down: LanczosKernel
    private var row: [Pixel]
    /// The last rows, each already as wide as the result: row `r` of the source is at `r` modulo the taps of `down`.
    private var rows: [Pixel]
    private var sourceRow = 0
    private var resultRow = 0
    private var pixels: [UInt8]

    init(from source: ImageSize, to target: ImageSize) {
        self.target = target
        across = LanczosKernel(from: source.width, to: target.width)
        down = LanczosKernel(from: source.height, to: target.height)
        row = [Pixel](repeating: Pixel(), count: source.width)
        rows = [Pixel](repeating: Pixel(), count: down.taps * target.width)
        pixels = [UInt8](repeating: 255, count: target.width * target.height * 4)
    }

    /// Takes the next row of the source: its RGBA pixels.
    mutating func add(row source: Span<UInt8>) {
        Self.unpack(source, into: &row)
        let line = row
        Self.resample(line.span, across, into: &rows, at: sourceRow % down.taps * target.width)
        sourceRow += 1
        let lines = rows
        while resultRow < target.height, down.starts[resultRow] + down.taps <= sourceRow {
            let first = down.starts[resultRow] % down.taps
            let weights = (0..<down.taps).map { slot in
                down.weights[resultRow * down.taps + (slot + down.taps - first) % down.taps]
            }
            Self.mix(lines.span, weights.span, into: &pixels, at: resultRow * target.width)
            resultRow += 1
        }
    }

    /// The resized picture; every row of the source must have been added.
    consuming func finish(isComplete: Bool) -> Bitmap {
        Bitmap(width: target.width, height: target.height, pixels: pixels, isComplete: isComplete)
    }

    private static func unpack(_ bytes: Span<UInt8>, into line: inout [Pixel]) {
        var line = line.mutableSpan
        for index in 0..<min(line.count, bytes.count / 4) {
            let start = index &* 4
            let alpha = Float(bytes[start &+ 3])
            let colour = Pixel(Float(bytes[start]), Float(bytes[start &+ 1]), Float(bytes[start &+ 2]), 255)
            line[index] = alpha == 255 ? colour : colour * (alpha / 255)
        }
    }

    private static func resample(
        _ source: Span<Pixel>, _ kernel: LanczosKernel, into rows: inout [Pixel], at start: Int
    ) {
        var rows = rows.mutableSpan
        let (starts, weights) = (kernel.starts.span, kernel.weights.span)
        for index in 0..<starts.count {
            let taps = source.extracting(starts[index]..<starts[index] &+ kernel.taps)
            let factors = weights.extracting(index &* kernel.taps..<(index &+ 1) &* kernel.taps)
            var sum = Pixel()
            for tap in 0..<min(taps.count, factors.count) { sum += taps[tap] * factors[tap] }
            rows[start &+ index] = sum
        }
    }

    /// A row of the result: the sum of all rows, each by its weight.
    private static func mix(
        _ rows: Span<Pixel>, _ weights: Span<Float>, into pixels: inout [UInt8], at start: Int
    ) {
        var pixels = pixels.mutableSpan
        let width = rows.count / weights.count
        for column in 0..<width {
            var sum = Pixel()
            for slot in 0..<weights.count { sum += rows[slot &* width &+ column] * weights[slot] }
            // Near an edge alpha overshoots as colours do: so these are divided by what it is, not by what is left of it.
            let scale = sum.w > 0 ? 255 / sum.w : 0
            let place = (start &+ column) &* 4
            for channel in 0..<3 { pixels[place &+ channel] = level(sum[channel] * scale) }
            pixels[place &+ 3] = level(sum.w)
        }
    }

    @inline(__always)
    private static func level(_ value: Float) -> UInt8 {
        UInt8(truncatingIfNeeded: Int32(min(max(value, 0), 255) + 0.5))
    }
}

extension Bitmap {
    /// The picture at another size, sharper than `resized(to:)` makes it and slower: by Lanczos' kernel of three lobes, of
    /// the stored values, without linearising them; translucent pixels count by their alpha. Both sides must be positive.
    public func resampled(to target: ImageSize) -> Bitmap {
        guard target != size else { return self }
        // Far above the size wanted, means do as well and are much faster.
        let factor = min(width / (target.width * 2), height / (target.height * 2))
        if factor > 1 {
            return resized(to: ImageSize(width: width / factor, height: height / factor)).resampled(
                to: target)
        }
        var resampler = Resampler(from: size, to: target)
        let stride = width * 4
        for row in 0..<height {
            resampler.add(row: pixels.span.extracting(row * stride..<(row + 1) * stride))
        }
        return resampler.finish(isComplete: isComplete)
    }
}
