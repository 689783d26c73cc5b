/// Makes luma and colour differences of RGBA, by JFIF 1.02, rounded as libjpeg rounds:
///
///     Y  =  0.299    R + 0.587    G + 0.114    B
///     Cb = -0.168736 R - 0.331264 G + 0.5      B + 128
///     Cr =  0.5      R - 0.418688 G - 0.081312 B + 128
///
/// Each component is a sum of two products of red and blue, and of one of green: of four pixels at once, two instructions on
/// most machines.
enum ColourSeparation {
    /// Eight samples that are neighbours in a row.
    typealias Line = SIMD8<Int16>
    /// Four pixels: red below green, then blue below alpha.
    typealias Words = SIMD8<UInt16>
    private typealias Quad = SIMD4<Int32>

    /// The factors, with sixteen fraction bits, those of red and blue together. Factors of 32768 and more are put otherwise, so
    /// that all fit 16 bits. Stored, so that the compiler does not know them: it would take the products apart.
    struct Factors {
        fileprivate let luma = pair(19595, 7471)
        /// Half of it.
        fileprivate let lumaOfGreen = pair(19235, 0)
        // What is taken away: so that 0.5 is a factor of -32768.
        fileprivate let blue = pair(11059, -32768)
        fileprivate let blueOfGreen = pair(21709, 0)
        fileprivate let red = pair(-32768, 5329)
        fileprivate let redOfGreen = pair(27439, 0)
        fileprivate let ones = pair(1, 1)

        private static func pair(_ a: Int16, _ b: Int16) -> Line { Line(a, b, a, b, a, b, a, b) }
    }

    /// Packs the pixels of a row, the last one again and again where `row` has room for more.
    static func pack(_ pixels: Span<UInt8>, into packed: inout [Words]) {
        var row = packed.mutableSpan
        let whole = pixels.count / 16
        for group in 0..<whole {
            let bytes = pixels.extracting(group &* 16..<group &* 16 &+ 16)
            row[group] = lanes { word(bytes, $0 &* 2) }
        }
        let last = pixels.count - 4
        for group in whole..<row.count {
            row[group] = lanes { word(pixels, min(group * 16 + $0 / 2 * 4, last) + $0 % 2 * 2) }
        }
    }

    @inline(__always)
    private static func word(_ bytes: Span<UInt8>, _ index: Int) -> UInt16 {
        UInt16(bytes[index]) | UInt16(bytes[index &+ 1]) &<< 8
    }

    /// Luma of pixels that are grey, eight by eight.
    static func grey(
        _ pixels: Span<Words>, _ common: inout Words, into lumaLines: inout [Line], at start: Int
    ) {
        var luma = lumaLines.mutableSpan
        var seen = common
        for group in 0..<pixels.count / 2 {
            let (low, high) = (pixels[group &* 2], pixels[group &* 2 &+ 1])
            seen &= low & high
            luma[start &+ group] = lanes {
                Int16(truncatingIfNeeded: ($0 < 4 ? low[$0 * 2] : high[$0 * 2 - 8]) & 255)
            }
        }
        common = seen
    }

    /// Samples of a row of pixels, eight by eight.
    static func separate(
        _ pixels: Span<Words>, _ factors: Factors, _ common: inout Words, into lumaLines: inout [Line],
        _ blueLines: inout [Line], _ redLines: inout [Line], at start: Int
    ) {
        var luma = lumaLines.mutableSpan
        var blue = blueLines.mutableSpan
        var red = redLines.mutableSpan
        var seen = common
        for group in 0..<pixels.count / 2 {
            let (low, high) = (pixels[group &* 2], pixels[group &* 2 &+ 1])
            seen &= low & high
            let (first, second) = (Samples(low, factors), Samples(high, factors))
            luma[start &+ group] = narrow(first.luma, second.luma)
            blue[start &+ group] = narrow(first.blue, second.blue)
            red[start &+ group] = narrow(first.red, second.red)
        }
        common = seen
    }

    /// Luma of two rows of pixels, sixteen by sixteen, and colour of each four of them.
    static func separate(
        _ upper: Span<Words>, _ lower: Span<Words>, _ factors: Factors, _ common: inout Words,
        into lumaLines: inout [Line], _ blueLines: inout [Line], _ redLines: inout [Line], at start: Int,
        stride: Int, colourAt colourStart: Int
    ) {
        var luma = lumaLines.mutableSpan
        var blue = blueLines.mutableSpan
        var red = redLines.mutableSpan
        var seen = common
        for group in 0..<upper.count / 4 {
            let place = start &+ group &* 2
            let (leftBlue, leftRed) = separate(
                upper, lower, at: group &* 4, factors, &seen, into: &luma, place, stride)
            let (rightBlue, rightRed) = separate(
                upper, lower, at: group &* 4 &+ 2, factors, &seen, into: &luma, place &+ 1, stride)
            blue[colourStart &+ group] = narrow(leftBlue, rightBlue)
            red[colourStart &+ group] = narrow(leftRed, rightRed)
        }
        common = seen
    }

    /// Eight pixels of each row.
    @inline(__always)
    private static func separate(
        _ upper: Span<Words>, _ lower: Span<Words>, at index: Int, _ factors: Factors, _ seen: inout Words,
        into luma: inout MutableSpan<Line>, _ place: Int, _ stride: Int
    ) -> (blue: Quad, red: Quad) {
        let (a, b, c, d) = (upper[index], upper[index &+ 1], lower[index], lower[index &+ 1])
        seen &= a & b & c & d
        let (upperLeft, upperRight) = (Samples(a, factors), Samples(b, factors))
        let (lowerLeft, lowerRight) = (Samples(c, factors), Samples(d, factors))
        luma[place] = narrow(upperLeft.luma, upperRight.luma)
        luma[place &+ stride] = narrow(lowerLeft.luma, lowerRight.luma)
        return (
            means(upperLeft.blue &+ lowerLeft.blue, upperRight.blue &+ lowerRight.blue, factors),
            means(upperLeft.red &+ lowerLeft.red, upperRight.red &+ lowerRight.red, factors)
        )
    }

    /// Of sums of two samples one above the other, the means of two such sums each, rounded down and up in turn.
    @inline(__always)
    private static func means(_ left: Quad, _ right: Quad, _ factors: Factors) -> Quad {
        (pairProducts(narrow(left, right), factors.ones) &+ Quad(1, 2, 1, 2)) &>> Quad(repeating: 2)
    }

    @inline(__always)
    private static func narrow(_ left: Quad, _ right: Quad) -> Line {
        lanes { Int16(truncatingIfNeeded: $0 < 4 ? left[$0] : right[$0 - 4]) }
    }

    private struct Samples {
        let luma, blue, red: Quad

        @inline(__always)
        init(_ words: Words, _ factors: Factors) {
            let redBlue = Line(truncatingIfNeeded: words & Words(repeating: 255))
            let green = Line(truncatingIfNeeded: words &>> Words(repeating: 8))
            let half = pairProducts(green, factors.lumaOfGreen)
            let bits = Quad(repeating: 16)
            luma =
                (pairProducts(redBlue, factors.luma) &+ half &+ half &+ Quad(repeating: 32768)) &>> bits
            let middle = Quad(repeating: 128 << 16 + 32767)
            let lessBlue = pairProducts(redBlue, factors.blue) &+ pairProducts(green, factors.blueOfGreen)
            let lessRed = pairProducts(redBlue, factors.red) &+ pairProducts(green, factors.redOfGreen)
            blue = (middle &- lessBlue) &>> bits
            red = (middle &- lessRed) &>> bits
        }
    }
}
