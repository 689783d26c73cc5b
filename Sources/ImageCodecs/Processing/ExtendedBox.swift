/// A box filter whose two outer weights are smaller than the others, so that it can have any variance. Three of them
/// are nearly a Gaussian (Gwosdek, Grewenig, Bruhn and Weickert, Theoretical Foundations of Gaussian Convolution by
/// Extended Box Filtering, 2011).
struct ExtendedBox {
    /// Four pixels of four channels.
    typealias Vector = SIMD16<Float>

    static let passes = 3

    /// How many whole neighbours there are at each side.
    let reach: Int
    /// The weight of a whole pixel, and of each of the two outer ones. The sum of all is 1.
    let weight: Float
    private let outerWeight: Float

    /// - Parameter deviation: the standard deviation of the Gaussian, in pixels.
    init(deviation: Double) {
        let variance = deviation * deviation / Double(Self.passes)
        reach = Int(((12 * variance + 1).squareRoot() - 1) / 2)
        let whole = Double(2 * reach + 1)
        let next = Double(reach + 1)
        let outer = whole * (Double(reach) * next - 3 * variance) / (6 * (variance - next * next))
        weight = Float(1 / (whole + 2 * outer))
        outerWeight = Float(outer / (whole + 2 * outer))
    }

    /// The memory for lines of this length, in bytes.
    static func memory(longest: Int) -> Int { 2 * longest * MemoryLayout<Vector>.stride }

    /// Filters the first `count` elements of a line once. The first and the last continue outside. The time does not
    /// depend on the reach.
    func filter(_ line: Span<Vector>, _ count: Int, into result: inout MutableSpan<Vector>) {
        let last = count - 1
        var sum = line[0] * Float(reach + 1)
        for index in 1..<max(1, min(reach + 1, last)) { sum += line[index] }
        if reach >= last { sum += line[last] * Float(reach - max(last, 1) + 1) }
        for index in 0..<count {
            let before = line[max(index &- reach &- 1, 0)]
            let after = line[min(index &+ reach &+ 1, last)]
            result[index] = sum * weight + (before + after) * outerWeight
            sum += after - line[max(index &- reach, 0)]
        }
    }
}

extension Bitmap {
    /// Blurs the image: all rows, then all columns, four lines at once.
    /// - Parameter radius: the standard deviation, in pixels.
    mutating func blur(radius: Double) {
        guard radius > 0 else { return }
        let box = ExtendedBox(deviation: radius)
        let (width, height, isOpaque) = (width, height, isOpaque)
        var lines = LinesOfPixels(longest: max(width, height), isOpaque: isOpaque)
        change { pixels in
            for row in stride(from: 0, to: height, by: 4) {
                lines.filter(
                    &pixels, from: row * width * 4, count: width, along: 4, across: width * 4,
                    lines: min(4, height - row), by: box)
            }
            for column in stride(from: 0, to: width, by: 4) {
                lines.filter(
                    &pixels, from: column * 4, count: height, along: width * 4, across: 4,
                    lines: min(4, width - column), by: box)
            }
        }
    }
}

/// Four rows or columns of an image, as numbers. Colors are premultiplied by alpha meanwhile, so that invisible pixels
/// do not bleed into visible ones.
private struct LinesOfPixels {
    private var line: [ExtendedBox.Vector]
    private var other: [ExtendedBox.Vector]
    private let isOpaque: Bool

    init(longest: Int, isOpaque: Bool) {
        line = [ExtendedBox.Vector](repeating: .zero, count: longest)
        other = line
        self.isOpaque = isOpaque
    }

    /// Filters lines of an image in place.
    /// - Parameters:
    ///   - start: the index of the first line's first byte.
    ///   - count: pixels in a line.
    ///   - along: bytes from one pixel of a line to the next.
    ///   - across: bytes from one line to the next.
    ///   - lines: how many lines there are, 1 to 4.
    mutating func filter(
        _ pixels: inout MutableSpan<UInt8>, from start: Int, count: Int, along: Int, across: Int, lines: Int,
        by box: ExtendedBox
    ) {
        for index in 0..<count {
            var vector = ExtendedBox.Vector.zero
            for number in 0..<4 {
                let place = start &+ index &* along &+ min(number, lines &- 1) &* across
                for channel in 0..<4 { vector[number &* 4 &+ channel] = Float(pixels[place &+ channel]) }
            }
            line[index] = isOpaque ? vector : Self.scaled(vector) { $0 / 255 }
        }
        for _ in 0..<ExtendedBox.passes {
            let source = line
            var result = other.mutableSpan
            box.filter(source.span, count, into: &result)
            (line, other) = (other, source)
        }
        for index in 0..<count {
            let vector = isOpaque ? line[index] : Self.scaled(line[index]) { $0 > 0 ? 255 / $0 : 0 }
            for number in 0..<lines {
                let place = start &+ index &* along &+ number &* across
                for channel in 0..<4 {
                    let level = vector[number &* 4 &+ channel] + 0.5
                    pixels[place &+ channel] = UInt8(truncatingIfNeeded: Int32(min(max(level, 0), 255)))
                }
            }
        }
    }

    /// Multiplies the colors of each pixel by a factor that depends on its alpha.
    @inline(__always)
    private static func scaled(
        _ vector: ExtendedBox.Vector, by factor: (_ alpha: Float) -> Float
    ) -> ExtendedBox.Vector {
        var result = vector
        for number in 0..<4 {
            let scale = factor(vector[number * 4 + 3])
            for channel in 0..<3 { result[number * 4 + channel] *= scale }
        }
        return result
    }
}
