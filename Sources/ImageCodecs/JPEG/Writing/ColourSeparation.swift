/// Makes luma and colour differences of RGBA, by JFIF 1.02, rounded as libjpeg rounds:
///
///     Y  =  0.299    R + 0.587    G + 0.114    B
///     Cb = -0.168736 R - 0.331264 G + 0.5      B + 128
///     Cr =  0.5      R - 0.418688 G - 0.081312 B + 128
enum ColourSeparation {
    /// Eight samples that are neighbours in a row.
    typealias Line = SIMD8<Int16>
    /// Eight pixels, red in the lowest byte.
    typealias Words = SIMD8<Int32>
    private typealias Quad = SIMD4<Int32>

    /// Packs the pixels of a row, the last one again and again where `row` has room for more.
    static func pack(_ pixels: Span<UInt8>, into packed: inout [Words]) {
        var row = packed.mutableSpan
        let whole = pixels.count / 32
        for group in 0..<whole {
            let bytes = pixels.extracting(group &* 32..<group &* 32 &+ 32)
            row[group] = Words(
                word(bytes, 0), word(bytes, 4), word(bytes, 8), word(bytes, 12), word(bytes, 16),
                word(bytes, 20), word(bytes, 24), word(bytes, 28))
        }
        let last = pixels.count - 4
        for group in whole..<row.count {
            row[group] = lanes { word(pixels, min(group * 32 + $0 * 4, last)) }
        }
    }

    @inline(__always)
    private static func word(_ bytes: Span<UInt8>, _ index: Int) -> Int32 {
        let (low, high) = (
            UInt32(bytes[index]) | UInt32(bytes[index &+ 1]) &<< 8,
            UInt32(bytes[index &+ 2]) | UInt32(bytes[index &+ 3]) &<< 8
        )
        return Int32(bitPattern: low | high &<< 16)
    }

    /// Luma of pixels that are grey, eight by eight.
    static func grey(
        _ pixels: Span<Words>, _ common: inout Words, into lumaLines: inout [Line], at start: Int
    ) {
        var luma = lumaLines.mutableSpan
        var seen = common
        for group in 0..<pixels.count {
            let words = pixels[group]
            seen &= words
            luma[start &+ group] = narrow(words & Words(repeating: 255))
        }
        common = seen
    }

    /// Samples of a row of pixels, eight by eight.
    static func separate(
        _ pixels: Span<Words>, _ common: inout Words, into lumaLines: inout [Line],
        _ blueLines: inout [Line], _ redLines: inout [Line], at start: Int
    ) {
        var luma = lumaLines.mutableSpan
        var blue = blueLines.mutableSpan
        var red = redLines.mutableSpan
        var seen = common
        for group in 0..<pixels.count {
            let words = pixels[group]
            seen &= words
            let samples = Samples(words)
            luma[start &+ group] = narrow(samples.luma)
            blue[start &+ group] = narrow(samples.blue)
            red[start &+ group] = narrow(samples.red)
        }
        common = seen
    }

    /// Luma of two rows of pixels, sixteen by sixteen, and colour of each four of them.
    static func separate(
        _ upper: Span<Words>, _ lower: Span<Words>, _ common: inout Words,
        into lumaLines: inout [Line], _ blueLines: inout [Line], _ redLines: inout [Line], at start: Int,
        stride: Int, colourAt colourStart: Int
    ) {
        var luma = lumaLines.mutableSpan
        var blue = blueLines.mutableSpan
        var red = redLines.mutableSpan
        var seen = common
        for group in 0..<upper.count / 2 {
            var means: (blue: (Quad, Quad), red: (Quad, Quad))
            let place = start &+ group &* 2
            (means.blue.0, means.red.0) = separate(
                upper, lower, at: group &* 2, &seen, into: &luma, place, stride)
            (means.blue.1, means.red.1) = separate(
                upper, lower, at: group &* 2 &+ 1, &seen, into: &luma, place &+ 1, stride)
            blue[colourStart &+ group] = narrow(Words(lowHalf: means.blue.0, highHalf: means.blue.1))
            red[colourStart &+ group] = narrow(Words(lowHalf: means.red.0, highHalf: means.red.1))
        }
        common = seen
    }

    @inline(__always)
    private static func separate(
        _ upper: Span<Words>, _ lower: Span<Words>, at index: Int, _ seen: inout Words,
        into luma: inout MutableSpan<Line>, _ place: Int, _ stride: Int
    ) -> (blue: Quad, red: Quad) {
        let (above, below) = (upper[index], lower[index])
        seen &= above & below
        let (first, second) = (Samples(above), Samples(below))
        luma[place] = narrow(first.luma)
        luma[place &+ stride] = narrow(second.luma)
        return (means(first.blue &+ second.blue), means(first.red &+ second.red))
    }

    /// Of sums of two samples one above the other, the means of two such sums each, rounded down and up in turn.
    @inline(__always)
    private static func means(_ sums: Words) -> Quad {
        let even = Quad(sums[0], sums[2], sums[4], sums[6])
        let odd = Quad(sums[1], sums[3], sums[5], sums[7])
        return (even &+ odd &+ Quad(1, 2, 1, 2)) &>> Quad(repeating: 2)
    }

    @inline(__always)
    private static func narrow(_ samples: Words) -> Line {
        lanes { Int16(truncatingIfNeeded: samples[$0]) }
    }

    private struct Samples {
        let luma, blue, red: Words

        /// Sixteen fraction bits. Factors of 32768 and more are put otherwise, so that all fit 16 bits.
        @inline(__always)
        init(_ words: Words) {
            let byte = Words(repeating: 255)
            let r = words & byte
            let g = words &>> Words(repeating: 8) & byte
            let b = words &>> Words(repeating: 16) & byte
            // 0.587 is 1 - 0.413.
            let y = Self.sum(r, 19595, g, -27066, b, 7471) &+ Words(repeating: 32768)
            luma = y &>> Words(repeating: 16) &+ g
            let middle = Words(repeating: 128 << 16 + 32767)
            blue = (middle &- Self.sum(r, 11059, g, 21709, b, -32768)) &>> Words(repeating: 16)
            red = (middle &- Self.sum(r, -32768, g, 27439, b, 5329)) &>> Words(repeating: 16)
        }

        @inline(__always)
        private static func sum(
            _ a: Words, _ aFactor: Int32, _ b: Words, _ bFactor: Int32, _ c: Words, _ cFactor: Int32
        ) -> Words {
            a &* Words(repeating: aFactor) &+ b &* Words(repeating: bFactor) &+ c &* Words(repeating: cFactor)
        }
    }
}
