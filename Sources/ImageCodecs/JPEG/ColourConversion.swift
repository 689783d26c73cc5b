/// Converts one row of each component to RGBA.
enum ColourConversion {
    static func convert(grey: Span<UInt8>, into pixels: inout MutableSpan<UInt8>, _ range: Range<Int>) {
        var target = range.lowerBound
        for index in 0..<min(grey.count, range.count / 4) {
            let level = grey[index]
            pixels[target] = level
            pixels[target &+ 1] = level
            pixels[target &+ 2] = level
            target &+= 4
        }
    }

    static func convert(
        red: Span<UInt8>, green: Span<UInt8>, blue: Span<UInt8>, into pixels: inout MutableSpan<UInt8>,
        _ range: Range<Int>
    ) {
        var target = range.lowerBound
        for index in 0..<min(red.count, green.count, blue.count, range.count / 4) {
            pixels[target] = red[index]
            pixels[target &+ 1] = green[index]
            pixels[target &+ 2] = blue[index]
            target &+= 4
        }
    }

    /// Inverts each colour.
    static func complement(_ pixels: inout MutableSpan<UInt8>, _ range: Range<Int>) {
        var index = range.lowerBound
        while index &+ 4 <= range.upperBound {
            pixels[index] = ~pixels[index]
            pixels[index &+ 1] = ~pixels[index &+ 1]
            pixels[index &+ 2] = ~pixels[index &+ 2]
            index &+= 4
        }
    }

    /// Converts CMYK to RGB, with the inverted cyan, magenta and yellow in `pixels`: by a profile, or else the light that
    /// each ink lets through, times the light that black lets through.
    static func addBlack(
        _ black: Span<UInt8>, _ inks: ColourTransform?, to pixels: inout MutableSpan<UInt8>,
        _ range: Range<Int>
    ) {
        var target = range.lowerBound
        for index in 0..<min(black.count, range.count / 4) {
            if let inks {
                let light = SIMD4(pixels[target], pixels[target &+ 1], pixels[target &+ 2], black[index])
                pixels.store(inks.colour(ofInks: ~light), at: target)
            } else {
                for channel in 0..<3 {
                    let product = UInt32(pixels[target &+ channel]) &* UInt32(black[index]) &+ 128
                    pixels[target &+ channel] = UInt8(truncatingIfNeeded: (product &+ product &>> 8) &>> 8)
                }
            }
            target &+= 4
        }
    }

    /// JFIF 1.02: R = Y + 1.402 Cr, G = Y - 0.344136 Cb - 0.714136 Cr, B = Y + 1.772 Cb, with the results of libjpeg's
    /// sixteen fraction bits.
    static func convert(
        luma: Span<SIMD16<UInt8>>, blue: Span<WideSamples>, red: Span<WideSamples>,
        into packed: inout MutableSpan<PackedPixels>
    ) {
        for index in 0..<min(luma.count, blue.count, red.count, packed.count) {
            let (y, cb, cr) = (luma[index], blue[index], red[index])
            packed[index] = PackedPixels(
                lowHalf: convert(y.lowHalf, cb.lowHalf, cr.lowHalf),
                highHalf: convert(y.highHalf, cb.highHalf, cr.highHalf))
        }
    }

    @inline(__always)
    private static func convert(_ luma: SIMD8<UInt8>, _ blue: Wide, _ red: Wide) -> SIMD16<UInt16> {
        let y = lanes { Int16(truncatingIfNeeded: luma[$0]) }
        // Seven fraction bits, truncated. These factors near 1.402 and 1.772 and these offsets give the exact result
        // for every level.
        let redPart = upperHalves(red, times: 45943) &- Lanes(repeating: 22908)
        let bluePart = upperHalves(blue, times: 58066) &- Lanes(repeating: 28969)
        let r = levels(y &+ lanes { redPart[$0] &>> 7 })
        let g = levels(y &- greenPart(centred(blue), centred(red)))
        let b = levels(y &+ lanes { bluePart[$0] &>> 7 })
        let redGreen = lanes { r[$0] | g[$0] &<< 8 }
        let blueAlpha = lanes { b[$0] | 0xFF00 }
        return SIMD16<UInt16>(
            lowHalf: interleavedLow(redGreen, blueAlpha), highHalf: interleavedHigh(redGreen, blueAlpha))
    }

    /// Sixteen pixels as pairs of 16-bit numbers: green above red, and alpha above blue.
    typealias PackedPixels = SIMD32<UInt16>

    /// Unpacks the pixels that fit into `range`. The detour by memory lets the compiler see a plain copy; directly
    /// after the conversion it would split the vectors.
    static func unpack(
        _ packed: Span<PackedPixels>, into pixels: inout MutableSpan<UInt8>, _ range: Range<Int>
    ) {
        let whole = range.count / 64
        for index in 0..<min(whole, packed.count) {
            pixels.store(packed[index], at: range.lowerBound &+ index &* 64)
        }
        for index in range.dropFirst(whole &* 64) {
            let byte = index &- range.lowerBound
            pixels[index] = UInt8(
                truncatingIfNeeded: packed[whole][byte &>> 1 & 31] &>> UInt16(byte & 1 &* 8))
        }
    }

    /// Converts the samples to bytes.
    static func narrow(_ wide: Span<WideSamples>, into samples: inout MutableSpan<SIMD16<UInt8>>) {
        for index in 0..<min(wide.count, samples.count) {
            for lane in 0..<16 {
                samples[index][lane] = UInt8(truncatingIfNeeded: wide[index][lane] &>> 8)
            }
        }
    }

    /// As above, for single bytes.
    static func narrow(_ wide: Span<WideSamples>, into samples: inout MutableSpan<UInt8>) {
        for index in 0..<min(wide.count, samples.count / 16) {
            for lane in 0..<16 {
                samples[index &* 16 &+ lane] = UInt8(truncatingIfNeeded: wide[index][lane] &>> 8)
            }
        }
    }

    private typealias Wide = SIMD8<UInt16>
    private typealias Lanes = SIMD8<Int16>

    /// The upper half of an unsigned product, in one instruction. For samples in the lower byte the compiler would
    /// choose slower code.
    @inline(__always)
    private static func upperHalves(_ value: Wide, times factor: UInt32) -> Lanes {
        lanes { Int16(truncatingIfNeeded: (UInt32(truncatingIfNeeded: value[$0]) &* factor) &>> 16) }
    }

    @inline(__always)
    private static func centred(_ value: Wide) -> Lanes {
        lanes { Int16(truncatingIfNeeded: value[$0] ^ 0x8000) }
    }

    /// The amount to subtract from green: 22554 and 46802 parts of 65536, halved to fit into 16 bits. Two products and
    /// their sum are one instruction.
    @inline(__always)
    private static func greenPart(_ blue: Lanes, _ red: Lanes) -> Lanes {
        lanes {
            let sum =
                Int32(truncatingIfNeeded: blue[$0]) &* 11277
                &+ Int32(truncatingIfNeeded: red[$0]) &* 23401
            return Int16(truncatingIfNeeded: (sum &+ 1 &<< 22) &>> 23)
        }
    }

    /// Clamps to 0...255 with masks made from the signs, which the compiler recognises as minimum and maximum.
    /// Comparisons would become branches.
    @inline(__always)
    private static func levels(_ value: Lanes) -> Wide {
        lanes {
            let positive = value[$0] & ~(value[$0] &>> 15)
            return UInt16(truncatingIfNeeded: (positive | (255 &- positive) &>> 15) & 255)
        }
    }
}
