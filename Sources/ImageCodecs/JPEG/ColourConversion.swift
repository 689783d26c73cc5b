/// What the components of a JPEG mean.
enum JPEGColour: Equatable {
    case grey
    case yCbCr
    case rgb

    /// Whether the three components are YCbCr or RGB: JFIF says the first; Adobe's APP14 says which; without both,
    /// components named R, G, B are that (as libjpeg takes them).
    init(frame: JPEGFrame, hasJFIF: Bool, adobeTransform: UInt8?) {
        if frame.components.count == 1 {
            self = .grey
        } else if hasJFIF {
            self = .yCbCr
        } else if let adobeTransform {
            self = adobeTransform == 0 ? .rgb : .yCbCr
        } else {
            self = frame.components.map(\.identifier) == [0x52, 0x47, 0x42] ? .rgb : .yCbCr
        }
    }
}

/// Makes RGBA of one row of each component.
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

    /// JFIF 1.02: R = Y + 1.402 Cr, G = Y - 0.344136 Cb - 0.714136 Cr, B = Y + 1.772 Cb, with 16 fraction bits,
    /// rounded.
    ///
    /// All of `opaque` must be 255. It is read from memory because the compiler takes the vectors apart, at twice the
    /// time, once it can foresee any lane of them.
    static func convert(
        luma: Span<UInt8>, blue: Span<UInt8>, red: Span<UInt8>, opaque: Span<SIMD8<Int16>>,
        into pixels: inout MutableSpan<UInt8>, _ range: Range<Int>
    ) {
        let count = min(luma.count, blue.count, red.count, opaque.count &* 8, range.count / 4)
        var index = 0
        var target = range.lowerBound
        while index &+ 8 <= count {
            let (first, second, third, fourth) = rgba(
                luma.vector8(at: index), blue: blue.vector8(at: index), red: red.vector8(at: index),
                opaque: opaque[index &>> 3])
            pixels.store(bytes(first), bytes(second), bytes(third), bytes(fourth), at: target)
            index &+= 8
            target &+= 32
        }
        while index < count {
            let (first, _, _, _) = rgba(
                SIMD8(repeating: luma[index]), blue: SIMD8(repeating: blue[index]),
                red: SIMD8(repeating: red[index]), opaque: Lanes(repeating: 255))
            for channel in 0..<4 { pixels[target &+ channel] = bytes(first)[channel] }
            index &+= 1
            target &+= 4
        }
    }

    /// Eight pixels, two in each vector, not yet brought into range. Whole parts are taken out of the factors, so
    /// that what is left fits into 16 bits with its sign, which makes the products cheap.
    @inline(__always)
    private static func rgba(
        _ luma: SIMD8<UInt8>, blue: SIMD8<UInt8>, red: SIMD8<UInt8>, opaque: Lanes
    ) -> (Lanes, Lanes, Lanes, Lanes) {
        let y = Lanes(truncatingIfNeeded: luma)
        let cb = Lanes(truncatingIfNeeded: blue) &- 128
        let cr = Lanes(truncatingIfNeeded: red) &- 128
        let wideCb = SIMD8<Int32>(truncatingIfNeeded: cb)
        let wideCr = SIMD8<Int32>(truncatingIfNeeded: cr)
        let r = y &+ cr &+ rounded(wideCr &* 26345)
        let g = y &- cr &+ rounded(wideCr &* 18734 &+ wideCb &* -22554)
        let b = y &+ cb &+ cb &+ rounded(wideCb &* -14942)
        let (rg0, rg1, ba0, ba1) = (low(r, g), high(r, g), low(b, opaque), high(b, opaque))
        return (lowPairs(rg0, ba0), highPairs(rg0, ba0), lowPairs(rg1, ba1), highPairs(rg1, ba1))
    }

    private typealias Lanes = SIMD8<Int16>

    @inline(__always)
    private static func rounded(_ value: SIMD8<Int32>) -> Lanes {
        Lanes(truncatingIfNeeded: (value &+ 32768) &>> 16)
    }

    @inline(__always)
    private static func low(_ a: Lanes, _ b: Lanes) -> Lanes {
        Lanes(a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3])
    }

    @inline(__always)
    private static func high(_ a: Lanes, _ b: Lanes) -> Lanes {
        Lanes(a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7])
    }

    @inline(__always)
    private static func lowPairs(_ a: Lanes, _ b: Lanes) -> Lanes {
        Lanes(a[0], a[1], b[0], b[1], a[2], a[3], b[2], b[3])
    }

    @inline(__always)
    private static func highPairs(_ a: Lanes, _ b: Lanes) -> Lanes {
        Lanes(a[4], a[5], b[4], b[5], a[6], a[7], b[6], b[7])
    }

    /// Brought into range only now that the channels are together: the compiler then keeps the vector whole.
    @inline(__always)
    private static func bytes(_ value: Lanes) -> SIMD8<UInt8> {
        SIMD8<UInt8>(
            truncatingIfNeeded: value.clamped(
                lowerBound: Lanes(repeating: 0), upperBound: Lanes(repeating: 255)))
    }
}
