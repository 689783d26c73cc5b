internal import Locking

/// The source pixels and weights for each pixel of a resampled line: a sinc function with a Lanczos window of three
/// lobes, stretched to the pixels of the smaller line.
///
/// `Resampler` multiplies source pixels in pairs. A pair begins at an even pixel.
struct LanczosKernel {
    /// The first pair for each result pixel.
    let starts: [Int]
    /// The number of pairs for each result pixel.
    let pairs: Int
    /// The weights of `pairs` pairs for each result pixel, repeated for each of four channels. They sum to exactly
    /// `one`, so that flat areas stay flat.
    let weights: [Resampler.Pair]

    /// The fraction bits of the weights: as many as fit into 16 bits beside a sign and an integer bit.
    static let fractionBits: Int32 = 14
    private static let one = 1 << Int(fractionBits)
    private static let lobes = 3.0

    /// The kernel, from the cache if possible, for a part of a line resampled from `source` to `target` pixels, both at
    /// least 1.
    static func recent(from source: Int, to target: Int, for columns: Range<Int>) -> LanczosKernel {
        KernelCache.shared.kernel(
            KernelCache.Key(
                source: source, scale: Double(source) / Double(target), first: Double(columns.lowerBound),
                count: columns.count))
    }

    /// Creates the kernel that resamples a line of `source` pixels to `count` result pixels. Each result pixel is
    /// `scale` source pixels wide. The first one begins `first` result pixels after the beginning of the line.
    init(from source: Int, scale: Double, first: Double, count: Int) {
        let width = max(scale, 1)
        pairs = Self.pairs(from: source, width: width)
        let lastStart = (source + 1) / 2 - pairs
        var starts: [Int] = []
        var weights: [Resampler.Pair] = []
        starts.reserveCapacity(count)
        weights.reserveCapacity(count * pairs)
        var line = [Double](repeating: 0, count: pairs * 2)
        for pixel in 0..<count {
            let centre = (first + Double(pixel) + 0.5) * scale
            let lowest = Int((centre - Self.lobes * width).rounded(.down))
            let start = max(0, min(lowest >> 1, lastStart))
            var sum = 0.0
            for index in 0..<pairs * 2 {
                let place = start * 2 + index
                // Outside the line there are no pixels: the other weights are scaled up for them.
                let isWithin = place < source
                line[index] = isWithin ? Self.lanczos((Double(place) + 0.5 - centre) / width) : 0
                sum += line[index]
            }
            starts.append(start)
            Self.append(line, sum: sum, to: &weights)
        }
        self.starts = starts
        self.weights = weights
    }

    /// The number of pairs that cover the lobes at any position.
    static func pairs(from source: Int, to target: Int) -> Int {
        pairs(from: source, width: max(Double(source) / Double(target), 1))
    }

    private static func pairs(from source: Int, width: Double) -> Int {
        min((source + 1) / 2, Int((lobes * width).rounded(.up)) + 1)
    }

    /// The pairs of source columns that the result depends on.
    var columns: Range<Int> { (starts.first ?? 0)..<(starts.last ?? 0) + pairs }

    /// The weights of a result row for a ring buffer that stores row pair `p` at `p` modulo `pairs`.
    func ringWeights(of row: Int) -> [Resampler.Pair] {
        let start = starts[row] % pairs
        return (0..<pairs).map { slot in weights[row * pairs + (slot + pairs - start) % pairs] }
    }

    /// Appends weights as integers that sum to `one`: the largest weight gets the rounding error.
    private static func append(_ line: [Double], sum: Double, to weights: inout [Resampler.Pair]) {
        let first = weights.count
        var (rest, most, heaviest) = (one, Int16.min, 0)
        for pair in 0..<line.count / 2 {
            let even = Int16((line[pair * 2] / sum * Double(one)).rounded())
            let odd = Int16((line[pair * 2 + 1] / sum * Double(one)).rounded())
            weights.append(Resampler.Pair(even, odd, even, odd, even, odd, even, odd))
            rest -= Int(even) + Int(odd)
            if max(even, odd) > most { (most, heaviest) = (max(even, odd), pair) }
        }
        let place = first + heaviest
        let isEven = weights[place][0] == most
        for channel in 0..<4 { weights[place][channel * 2 + (isEven ? 0 : 1)] += Int16(rest) }
    }

    private static func lanczos(_ distance: Double) -> Double {
        guard abs(distance) > 1e-9 else { return 1 }
        guard abs(distance) < lobes else { return 0 }
        let angle = Double.pi * distance
        return lobes * sine(distance) * sine(distance / lobes) / (angle * angle)
    }

    /// The sine of `halfTurns` times pi, accurate to nine digits: the Taylor series near zero.
    private static func sine(_ halfTurns: Double) -> Double {
        let nearest = halfTurns.rounded()
        let angle = (halfTurns - nearest) * Double.pi
        let square = angle * angle
        let series = [156.0, 110, 72, 42, 20, 6].reduce(1) { 1 - square / $1 * $0 }
        return Int(nearest).isMultiple(of: 2) ? angle * series : -angle * series
    }
}

/// A cache of recent kernels. Most posters have one of a few sizes, and creating their kernels took a tenth of the time
/// of an image.
///
/// Safe for concurrent use.
struct KernelCache: ~Copyable {
    /// The arguments of the kernel's initialiser.
    struct Key: Hashable {
        let source: Int
        let scale: Double
        let first: Double
        let count: Int
    }

    static let shared = KernelCache()

    /// Four for each size, two of them for chroma. They take 4 MiB at most; those of posters about 20 KiB each.
    private static let limit = 32
    private static let pairLimit = 8192

    /// Oldest first.
    private let kernels = Lock<[(key: Key, kernel: LanczosKernel)]>([])

    /// The kernel for a key. Two threads may create the same kernel at once.
    func kernel(_ key: Key) -> LanczosKernel {
        if let recent = kernels.withLock({ kernels in kernels.first { $0.key == key }?.kernel }) {
            return recent
        }
        let kernel = LanczosKernel(from: key.source, scale: key.scale, first: key.first, count: key.count)
        guard kernel.weights.count <= Self.pairLimit else { return kernel }
        kernels.withLock { kernels in
            if kernels.count == Self.limit { kernels.removeFirst() }
            kernels.append((key, kernel))
        }
        return kernel
    }
}
