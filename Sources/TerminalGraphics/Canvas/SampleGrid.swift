internal import ImageCodecs

/// A bitmap resampled to a grid: by area average where the bitmap is larger, by linear interpolation where it is
/// smaller.
///
/// Samples are row-major; red, green and blue are 0 to 255 and premultiplied by alpha, alpha is 0 to 1.
struct SampleGrid {
    let columns: Int
    let rows: Int
    var samples: [SIMD4<Float>]

    init(of bitmap: Bitmap, columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        samples = Array(repeating: .zero, count: columns * rows)
        guard columns > 0, rows > 0 else { return }

        let across = AxisWeights(from: bitmap.width, to: columns)
        let down = AxisWeights(from: bitmap.height, to: rows)
        // A row of the bitmap, resampled horizontally, and its index.
        var line = Array(repeating: SIMD4<Float>.zero, count: columns)
        var ready = -1
        for row in 0..<rows {
            let start = row * columns
            for (offset, weight) in down.taps(of: row).enumerated() {
                let source = down.firsts[row] + offset
                if source != ready {
                    Self.narrow(bitmap, row: source, by: across, into: &line)
                    ready = source
                }
                for column in 0..<columns { samples[start + column] += line[column] * weight }
            }
        }
    }

    private static func narrow(
        _ bitmap: Bitmap, row: Int, by weights: AxisWeights, into line: inout [SIMD4<Float>]
    ) {
        let start = row * bitmap.width * 4
        let pixels = bitmap.pixels.span.extracting(start..<start + bitmap.width * 4)
        let taps = weights.weights.span
        let firsts = weights.firsts.span
        let bounds = weights.bounds.span
        var tap = 0
        for column in line.indices {
            var sum = SIMD4<Float>.zero
            var at = firsts[column] &* 4
            let end = bounds[column &+ 1]
            while tap < end {
                let alpha = Float(pixels[at &+ 3]) * (1 / 255)
                let colour = SIMD4(Float(pixels[at]), Float(pixels[at &+ 1]), Float(pixels[at &+ 2]), 1)
                sum += colour * (alpha * taps[tap])
                at &+= 4
                tap &+= 1
            }
            line[column] = sum
        }
    }
}

/// The pixels of each sample along one axis, with their weights.
private struct AxisWeights {
    /// The index of each sample's first pixel.
    private(set) var firsts: [Int] = []
    /// The start of each sample's weights, and the end of the last.
    private(set) var bounds: [Int] = [0]
    /// The weights; they sum to 1 for each sample.
    private(set) var weights: [Float] = []

    init(from pixels: Int, to samples: Int) {
        let scale = Double(pixels) / Double(samples)
        for sample in 0..<samples {
            scale > 1
                ? appendMean(from: Double(sample) * scale, to: Double(sample + 1) * scale, pixels: pixels)
                : appendInterpolation(at: (Double(sample) + 0.5) * scale - 0.5, pixels: pixels)
            bounds.append(weights.count)
        }
    }

    func taps(of sample: Int) -> ArraySlice<Float> { weights[bounds[sample]..<bounds[sample + 1]] }

    private mutating func appendMean(from start: Double, to end: Double, pixels: Int) {
        let first = Int(start)
        let last = min(pixels, max(first + 1, Int(end.rounded(.up))))
        firsts.append(first)
        for pixel in first..<last {
            let covered = min(end, Double(pixel + 1)) - max(start, Double(pixel))
            weights.append(Float(max(0, covered) / (end - start)))
        }
    }

    private mutating func appendInterpolation(at centre: Double, pixels: Int) {
        let first = max(0, Int(centre.rounded(.down)))
        let share = Float(min(max(0, centre - Double(first)), 1))
        firsts.append(first)
        if share > 0, first + 1 < pixels {
            weights += [1 - share, share]
        } else {
            weights.append(1)
        }
    }
}

/// The sums of a cell's samples, arranged so that each mask's part is one look-up.
struct CellSums {
    /// For each of `BlockMask.all`: the sum of the samples that the glyph covers.
    private(set) var covered = InlineArray<19, SIMD4<Float>>(repeating: .zero)
    /// The sum of all samples.
    private(set) var total = SIMD4<Float>.zero

    init(of grid: borrowing SampleGrid, column: Int, row: Int) {
        var columnSums = InlineArray<8, SIMD4<Float>>(repeating: .zero)
        var rowSums = InlineArray<8, SIMD4<Float>>(repeating: .zero)
        var quadrants = InlineArray<4, SIMD4<Float>>(repeating: .zero)
        let samples = grid.samples.span
        let half = BlockMask.side / 2
        for line in 0..<BlockMask.side {
            let start = (row * BlockMask.side + line) * grid.columns + column * BlockMask.side
            var left = SIMD4<Float>.zero
            var right = SIMD4<Float>.zero
            for offset in 0..<half {
                let one = samples[start + offset]
                let other = samples[start + half + offset]
                left += one
                right += other
                columnSums[offset] += one
                columnSums[half + offset] += other
            }
            rowSums[line] = left + right
            let upper = line < half ? 0 : 2
            quadrants[upper] += left
            quadrants[upper + 1] += right
        }

        // In the order of `BlockMask.all`.
        let eighths = BlockMask.side - 1
        var lower = SIMD4<Float>.zero
        var left = SIMD4<Float>.zero
        for count in 0..<eighths - 1 {
            lower += rowSums[eighths - count]
            left += columnSums[count]
            covered[count] = lower
            covered[eighths + count] = left
        }
        covered[half - 1] = quadrants[0] + quadrants[1]
        covered[eighths - 1] = rowSums[0]
        covered[2 * eighths - 1] = columnSums[eighths]
        for quadrant in 0..<4 { covered[2 * eighths + quadrant] = quadrants[quadrant] }
        covered[2 * eighths + 4] = quadrants[0] + quadrants[3]
        total = quadrants[0] + quadrants[1] + quadrants[2] + quadrants[3]
    }
}
