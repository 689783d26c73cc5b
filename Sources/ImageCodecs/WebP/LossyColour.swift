/// Converts rows of luma and chroma to RGBA: BT.601 with luma of 16 to 235, as libwebp rounds it. Chroma has half the
/// resolution, and is interpolated with weights of 9, 3, 3 and 1 sixteenth.
struct LossyColour {
    private typealias Lanes = SIMD8<Int16>
    private typealias Wide = SIMD8<UInt16>

    private var packed: [ColourConversion.PackedPixels]
    /// The element and the lane of the last column of chroma.
    private let last: (element: Int, lane: Int)

    init(width: Int) {
        packed = [ColourConversion.PackedPixels](repeating: .zero, count: (width + 15) / 16)
        let column = (width - 1) / 2
        last = (column / 8, column % 8)
    }

    /// Converts a row of a band.
    /// - Parameters:
    ///   - luma: the first element of the row.
    ///   - near: the first element of the nearer row of chroma, which has the greater weight.
    ///   - far: the first element of the other row of chroma.
    mutating func convert(
        _ band: LossyRows.Band, luma: Int, near: Int, far: Int, into pixels: inout MutableSpan<UInt8>,
        _ range: Range<Int>
    ) {
        Self.convert(band, luma, near, far, last, into: &packed)
        ColourConversion.unpack(packed.span, into: &pixels, range)
    }

    private static func convert(
        _ band: LossyRows.Band, _ lumaStart: Int, _ near: Int, _ far: Int, _ last: (element: Int, lane: Int),
        into packed: inout [ColourConversion.PackedPixels]
    ) {
        let luma = band.luma.span
        let (bandU, bandV) = (band.u.span, band.v.span)
        var output = packed.mutableSpan
        for element in 0..<output.count {
            let u = interpolated(bandU, near, far, element, last)
            let v = interpolated(bandV, near, far, element, last)
            let at = lumaStart &+ 2 &* element
            output[element] = ColourConversion.PackedPixels(
                lowHalf: convert(luma[at], u.low, v.low), highHalf: convert(luma[at &+ 1], u.high, v.high))
        }
    }

    /// The chroma of sixteen pixels in a row. Pixels of even columns lie between a column of chroma and the one before,
    /// the others between it and the next. The first and the last column have no neighbour.
    @inline(__always)
    private static func interpolated(
        _ plane: Span<Lanes>, _ near: Int, _ far: Int, _ element: Int, _ last: (element: Int, lane: Int)
    ) -> (low: Lanes, high: Lanes) {
        let (n, f) = (plane[near &+ element], plane[far &+ element])
        var (nBefore, fBefore, nAfter, fAfter) = (n, f, n, f)
        if element > 0 {
            nBefore = plane[near &+ element &- 1]
            fBefore = plane[far &+ element &- 1]
        } else {
            (nBefore[7], fBefore[7]) = (n[0], f[0])
        }
        nBefore = Lanes(nBefore[7], n[0], n[1], n[2], n[3], n[4], n[5], n[6])
        fBefore = Lanes(fBefore[7], f[0], f[1], f[2], f[3], f[4], f[5], f[6])
        if element < last.element {
            nAfter = plane[near &+ element &+ 1]
            fAfter = plane[far &+ element &+ 1]
        }
        nAfter = Lanes(n[1], n[2], n[3], n[4], n[5], n[6], n[7], nAfter[0])
        fAfter = Lanes(f[1], f[2], f[3], f[4], f[5], f[6], f[7], fAfter[0])
        if element == last.element {
            nAfter[last.lane] = n[last.lane]
            fAfter[last.lane] = f[last.lane]
        }
        let even = weighted(n, f, nBefore, fBefore)
        let odd = weighted(n, f, nAfter, fAfter)
        return (interleavedLow(even, odd), interleavedHigh(even, odd))
    }

    @inline(__always)
    private static func weighted(_ near: Lanes, _ far: Lanes, _ nearBeside: Lanes, _ farBeside: Lanes)
        -> Lanes
    {
        let sum = near &+ 3 &* (nearBeside &+ far) &+ farBeside &+ 8
        return (sum &>> 3 &+ near) &>> 1
    }

    /// Levels have six fraction bits before they are limited.
    @inline(__always)
    private static func convert(_ luma: Lanes, _ u: Lanes, _ v: Lanes) -> SIMD16<UInt16> {
        let y = product(luma, 19077)
        let red = levels(difference(y &+ product(v, 26149), Wide(repeating: 14234)))
        let green = levels(difference(y &+ 8708, product(u, 6419) &+ product(v, 13320)))
        let blue = levels(difference(y &+ product(u, 33050), Wide(repeating: 17685)))
        let redGreen = red | green &<< 8
        let blueAlpha = blue | Wide(repeating: 0xFF00)
        return SIMD16<UInt16>(
            lowHalf: interleavedLow(redGreen, blueAlpha), highHalf: interleavedHigh(redGreen, blueAlpha))
    }

    /// `value * factor / 256`, in one instruction.
    @inline(__always)
    private static func product(_ value: Lanes, _ factor: UInt32) -> Wide {
        let high = lanes { UInt16(truncatingIfNeeded: value[$0]) &<< 8 }
        return lanes { UInt16(truncatingIfNeeded: (UInt32(truncatingIfNeeded: high[$0]) &* factor) &>> 16) }
    }

    /// `a - b`, or 0 if that is negative, in one instruction.
    @inline(__always)
    private static func difference(_ a: Wide, _ b: Wide) -> Wide { a.replacing(with: b, where: a .< b) &- b }

    /// Drops the fraction, and limits the level to 255: with this difference, because the compiler would make branches
    /// of a minimum.
    @inline(__always)
    private static func levels(_ value: Wide) -> Wide {
        let level = value &>> 6
        return level &- difference(level, Wide(repeating: 255))
    }
}
