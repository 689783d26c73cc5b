/// Of which pixels of a line each pixel of its resampled line is made, and by what weights: Lanczos' window of three lobes
/// over a sine cardinal, as wide as a pixel of the smaller of the two lines needs it.
struct LanczosKernel {
    /// The first source pixel for each pixel of the result.
    let starts: [Int]
    /// How many source pixels count for each.
    let taps: Int
    /// So many weights for each pixel of the result, of the sum 1.
    let weights: [Float]

    /// A kernel between lines of so many pixels, at least one.
    init(from source: Int, to target: Int) {
        let scale = Double(source) / Double(target)
        let width = max(scale, 1)
        let reach = Self.lobes * width
        taps = min(source, Int((2 * reach).rounded(.up)) + 1)
        var starts: [Int] = []
        var weights: [Float] = []
        for pixel in 0..<target {
            let centre = (Double(pixel) + 0.5) * scale
            // Beyond the line's ends there is nothing: the weights within make up for it.
            let start = max(0, min(Int((centre - reach).rounded(.down)), source - taps))
            let raw = (start..<start + taps).map { Self.lanczos((Double($0) + 0.5 - centre) / width) }
            let sum = raw.reduce(0, +)
            starts.append(start)
            weights += raw.map { Float($0 / sum) }
        }
        self.starts = starts
        self.weights = weights
    }

    private static let lobes = 3.0

    private static func lanczos(_ distance: Double) -> Double {
        guard abs(distance) > 1e-9 else { return 1 }
        guard abs(distance) < lobes else { return 0 }
        let angle = Double.pi * distance
        return lobes * sine(distance) * sine(distance / lobes) / (angle * angle)
    }

    /// The sine of so many half turns, right to nine digits: its series, where it is within a quarter turn of nought.
    private static func sine(_ halfTurns: Double) -> Double {
        let nearest = halfTurns.rounded()
        let angle = (halfTurns - nearest) * Double.pi
        let square = angle * angle
        let series = [156.0, 110, 72, 42, 20, 6].reduce(1) { 1 - square / $1 * $0 }
        return Int(nearest).isMultiple(of: 2) ? angle * series : -angle * series
    }
}
