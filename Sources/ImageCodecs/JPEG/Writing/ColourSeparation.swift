/// Makes luma and colour differences of RGBA, by JFIF 1.02, rounded as libjpeg rounds:
///
///     Y  =  0.299    R + 0.587    G + 0.114    B
///     Cb = -0.168736 R - 0.331264 G + 0.5      B
///     Cr =  0.5      R - 0.418688 G - 0.081312 B
///
/// all around nought, as the transform wants them.
enum ColourSeparation {
    /// Eight pixels, red in the lowest byte.
    typealias Words = SIMD8<UInt32>
    private typealias Wide = SIMD8<Int32>
    private typealias Lanes = SIMD8<Int16>

    /// Luma of pixels that are grey.
    static func grey(
        _ pixels: Span<UInt8>, units: Int, _ common: inout Words, into lumaBytes: inout [UInt8],
        at start: Int
    ) {
        var luma = lumaBytes.mutableSpan
        var seen = common
        for unit in 0..<units {
            let words = words(pixels, at: unit &* 32)
            seen &= words
            luma.store(lanes { UInt8(truncatingIfNeeded: words[$0]) ^ 128 }, at: start &+ unit &* 8)
        }
        common = seen
    }

    /// Samples of a row of pixels, eight to a unit.
    static func separate(
        _ pixels: Span<UInt8>, units: Int, _ common: inout Words, into lumaBytes: inout [UInt8],
        _ blueBytes: inout [UInt8], _ redBytes: inout [UInt8], at start: Int
    ) {
        var luma = lumaBytes.mutableSpan
        var blue = blueBytes.mutableSpan
        var red = redBytes.mutableSpan
        var seen = common
        for unit in 0..<units {
            let words = words(pixels, at: unit &* 32)
            seen &= words
            let samples = Samples(words)
            luma.store(bytes(samples.luma), at: start &+ unit &* 8)
            blue.store(bytes(samples.blue), at: start &+ unit &* 8)
            red.store(bytes(samples.red), at: start &+ unit &* 8)
        }
        common = seen
    }

    /// Luma of two rows of pixels, sixteen to a unit, and colour of each four of them.
    static func separate(
        _ upper: Span<UInt8>, _ lower: Span<UInt8>, units: Int, _ common: inout Words,
        into lumaBytes: inout [UInt8], _ blueBytes: inout [UInt8],
        _ redBytes: inout [UInt8], at start: Int, stride: Int, colourAt colourStart: Int
    ) {
        var luma = lumaBytes.mutableSpan
        var blue = blueBytes.mutableSpan
        var red = redBytes.mutableSpan
        var seen = common
        for half in 0..<units &* 2 {
            let (above, below) = (words(upper, at: half &* 32), words(lower, at: half &* 32))
            seen &= above & below
            let (first, second) = (Samples(above), Samples(below))
            luma.store(bytes(first.luma), at: start &+ half &* 8)
            luma.store(bytes(second.luma), at: start &+ half &* 8 &+ stride)
            blue.store(means(first.blue &+ second.blue), at: colourStart &+ half &* 4)
            red.store(means(first.red &+ second.red), at: colourStart &+ half &* 4)
        }
        common = seen
    }

    @inline(__always)
    private static func words(_ pixels: Span<UInt8>, at index: Int) -> Words {
        let bytes = pixels.extracting(index..<index &+ 32)
        return Words(
            word(bytes, 0), word(bytes, 4), word(bytes, 8), word(bytes, 12), word(bytes, 16), word(bytes, 20),
            word(bytes, 24), word(bytes, 28))
    }

    @inline(__always)
    private static func word(_ bytes: Span<UInt8>, _ index: Int) -> UInt32 {
        UInt32(bytes[index]) | UInt32(bytes[index &+ 1]) &<< 8 | UInt32(bytes[index &+ 2]) &<< 16
            | UInt32(bytes[index &+ 3]) &<< 24
    }

    private struct Samples {
        let luma, blue, red: Lanes

        /// Sixteen fraction bits. Factors of 32768 and more are put otherwise, so that all fit 16 bits.
        @inline(__always)
        init(_ words: Words) {
            let r = lanes { Int32(truncatingIfNeeded: words[$0] & 255) }
            let g = lanes { Int32(truncatingIfNeeded: words[$0] &>> 8 & 255) }
            let b = lanes { Int32(truncatingIfNeeded: words[$0] &>> 16 & 255) }
            // 0.587 is 1 - 0.413.
            let y = Self.sum(r, 19595, g, -27066, b, 7471, 32768)
            luma = lanes { Int16(truncatingIfNeeded: y[$0] &>> 16 &+ g[$0] &- 128) }
            let cb = Self.sum(r, 11059, g, 21709, b, -32768, -32767)
            blue = lanes { Int16(truncatingIfNeeded: (0 &- cb[$0]) &>> 16) }
            let cr = Self.sum(r, -32768, g, 27439, b, 5329, -32767)
            red = lanes { Int16(truncatingIfNeeded: (0 &- cr[$0]) &>> 16) }
        }

        @inline(__always)
        private static func sum(
            _ a: Wide, _ aFactor: Int32, _ b: Wide, _ bFactor: Int32, _ c: Wide, _ cFactor: Int32,
            _ addend: Int32
        ) -> Wide {
            a &* Wide(repeating: aFactor) &+ b &* Wide(repeating: bFactor) &+ c &* Wide(repeating: cFactor)
                &+ Wide(repeating: addend)
        }
    }

    @inline(__always)
    private static func bytes(_ samples: Lanes) -> SIMD8<UInt8> {
        lanes { UInt8(truncatingIfNeeded: samples[$0]) }
    }

    /// Of sums of two samples one above the other, the means of two such sums each, rounded down and up in turn.
    @inline(__always)
    private static func means(_ sums: Lanes) -> SIMD4<UInt8> {
        SIMD4(mean(sums, 0, 1), mean(sums, 2, 2), mean(sums, 4, 1), mean(sums, 6, 2))
    }

    @inline(__always)
    private static func mean(_ sums: Lanes, _ lane: Int, _ bias: Int16) -> UInt8 {
        UInt8(truncatingIfNeeded: (sums[lane] &+ sums[lane &+ 1] &+ bias) &>> 2)
    }
}
