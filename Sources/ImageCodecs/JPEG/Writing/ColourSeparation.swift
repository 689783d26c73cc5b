/// Converts RGBA to YCbCr as in JFIF 1.02, rounded as in libjpeg:
///
///     Y  =  0.299    R + 0.587    G + 0.114    B
///     Cb = -0.168736 R - 0.331264 G + 0.5      B + 128
///     Cr =  0.5      R - 0.418688 G - 0.081312 B + 128
///
/// Each component is the sum of two products for red and blue and of one for green: two instructions for four pixels on
/// most machines. All samples are multiplied by 16, as `ForwardDCT` expects.
enum ColourSeparation {
    /// Eight neighbouring samples of a row.
    typealias Line = SIMD8<Int16>
    /// Four pixels as words: red below green, then blue below alpha.
    typealias Words = SIMD8<UInt16>
    private typealias Quad = SIMD4<Int32>

    /// The factors with sixteen fraction bits, paired for red and blue. Those of 32768 and more are split, so that all
    /// fit into 16 bits. An array hides the constants from the compiler, which would otherwise split the products.
    static var factors: [Line] {
        [
            // Luma: red and blue, and half of green.
            pair(19595, 7471), pair(19235, 0),
            // Cb and Cr, negated, so that 0.5 is a factor of -32768.
            pair(11059, -32768), pair(21709, 0), pair(-32768, 5329), pair(27439, 0),
            // A quarter of inverted pairs; the mask for red and blue; the shift of green.
            pair(-16384, -16384), Line(repeating: 255), Line(repeating: 8),
        ]
    }

    private static func pair(_ a: Int16, _ b: Int16) -> Line { Line(a, b, a, b, a, b, a, b) }

    /// Converts a row of pixels to luma, eight at a time; the luma of a grey pixel is its level. `start` is the line of
    /// the first eight. The next eight are in the next block, and each further sixteen are `step` lines on. Returns the
    /// bitwise and of all pixels, in groups of four.
    @inline(never)
    static func luma(
        _ pixels: Span<UInt8>, _ factors: Span<Line>, into allLines: inout [Line], at start: Int, step: Int
    ) -> Words {
        precondition(factors.count == 9)
        var lines = allLines.mutableSpan
        var common = Words(repeating: .max)
        for pair in 0..<pixels.count / 64 {
            let bytes = pixels.extracting(pair &* 64..<pair &* 64 &+ 64)
            let line = start &+ pair &* step
            precondition(line >= 0 && line < lines.count - 8)
            let (a, b, c, d) = (words(bytes, 0), words(bytes, 16), words(bytes, 32), words(bytes, 48))
            common &= a & b & c & d
            lines[line] = narrow(luma(a, factors), luma(b, factors)) &<< Line(repeating: 4)
            lines[line &+ 8] = narrow(luma(c, factors), luma(d, factors)) &<< Line(repeating: 4)
        }
        return common
    }

    /// The luma of four pixels.
    @inline(__always)
    private static func luma(_ words: Words, _ factors: Span<Line>) -> Quad {
        let (redBlue, green) = split(words, factors)
        let half = pairProducts(green, factors[1])
        let sum = pairProducts(redBlue, factors[0]) &+ half &+ half &+ Quad(repeating: 32768)
        return sum &>> Quad(repeating: 16)
    }

    /// Converts a row of pixels to chroma, eight at a time; see `luma`.
    @inline(never)
    static func colour(
        _ pixels: Span<UInt8>, _ factors: Span<Line>, blue allBlue: inout [Line], red allRed: inout [Line],
        at start: Int
    ) {
        precondition(factors.count == 9)
        var blue = allBlue.mutableSpan
        var red = allRed.mutableSpan
        for block in 0..<pixels.count / 32 {
            let bytes = pixels.extracting(block &* 32..<block &* 32 &+ 32)
            let line = start &+ block &* 8
            precondition(line >= 0 && line < blue.count && line < red.count)
            let colour = Colour(words(bytes, 0), words(bytes, 16), factors)
            blue[line] = ~colour.blue &<< Line(repeating: 4)
            red[line] = ~colour.red &<< Line(repeating: 4)
        }
    }

    /// Converts two rows to chroma at half the resolution, sixteen pixels by two at a time.
    @inline(never)
    static func colour(
        _ upper: Span<UInt8>, _ lower: Span<UInt8>, _ factors: Span<Line>, blue allBlue: inout [Line],
        red allRed: inout [Line], at start: Int
    ) {
        precondition(factors.count == 9)
        var blue = allBlue.mutableSpan
        var red = allRed.mutableSpan
        for unit in 0..<upper.count / 64 {
            let above = upper.extracting(unit &* 64..<unit &* 64 &+ 64)
            let below = lower.extracting(unit &* 64..<unit &* 64 &+ 64)
            let line = start &+ unit &* 8
            precondition(line >= 0 && line < blue.count && line < red.count)
            let upperLeft = Colour(words(above, 0), words(above, 16), factors)
            let lowerLeft = Colour(words(below, 0), words(below, 16), factors)
            let leftBlue = means(upperLeft.blue &+ lowerLeft.blue, factors)
            let leftRed = means(upperLeft.red &+ lowerLeft.red, factors)
            let upperRight = Colour(words(above, 32), words(above, 48), factors)
            let lowerRight = Colour(words(below, 32), words(below, 48), factors)
            let rightBlue = means(upperRight.blue &+ lowerRight.blue, factors)
            let rightRed = means(upperRight.red &+ lowerRight.red, factors)
            blue[line] = narrow(leftBlue, rightBlue) &<< Line(repeating: 4)
            red[line] = narrow(leftRed, rightRed) &<< Line(repeating: 4)
        }
    }

    /// The chroma of eight pixels, with all bits inverted.
    private struct Colour {
        let blue, red: Line

        @inline(__always)
        init(_ left: Words, _ right: Words, _ factors: Span<Line>) {
            let (first, second) = (split(left, factors), split(right, factors))
            blue = narrow(Self.sum(first, factors[2], factors[3]), Self.sum(second, factors[2], factors[3]))
            red = narrow(Self.sum(first, factors[4], factors[5]), Self.sum(second, factors[4], factors[5]))
        }

        @inline(__always)
        private static func sum(_ pixels: (redBlue: Line, green: Line), _ a: Line, _ b: Line) -> Quad {
            // 128, libjpeg's rounding of slightly less than a half, and 1 for the inverted bits.
            let sum =
                pairProducts(pixels.redBlue, a) &+ pairProducts(pixels.green, b)
                &- Quad(repeating: 128 << 16 + 32767 + 1)
            return sum &>> Quad(repeating: 16)
        }
    }

    /// Averages pairs of column sums, each of two inverted samples, and rounds down and up alternately; in the upper
    /// halves.
    @inline(__always)
    private static func means(_ sums: Line, _ factors: Span<Line>) -> Quad {
        let (down, up) = (Int32(1 - 4) << 14, Int32(2 - 4) << 14)
        return (pairProducts(sums, factors[6]) &+ Quad(down, up, down, up)) &>> Quad(repeating: 16)
    }

    @inline(__always)
    private static func narrow(_ left: Quad, _ right: Quad) -> Line {
        lanes { Int16(truncatingIfNeeded: $0 < 4 ? left[$0] : right[$0 - 4]) }
    }

    @inline(__always)
    private static func words(_ bytes: Span<UInt8>, _ start: Int) -> Words {
        lanes { UInt16(bytes[start &+ $0 &* 2]) | UInt16(bytes[start &+ $0 &* 2 &+ 1]) &<< 8 }
    }

    @inline(__always)
    private static func split(_ words: Words, _ factors: Span<Line>) -> (redBlue: Line, green: Line) {
        let bits = Words(repeating: UInt16(truncatingIfNeeded: factors[8][0]))
        let low = words & Words(truncatingIfNeeded: factors[7])
        return (Line(truncatingIfNeeded: low), Line(truncatingIfNeeded: words &>> bits))
    }
}
