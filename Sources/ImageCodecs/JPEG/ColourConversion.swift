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
    /// rounded. The rows are as long as a whole number of eight pixels, and `packed` has two vectors for each eight.
    static func convert(
        luma: Span<UInt8>, blue: Span<UInt8>, red: Span<UInt8>, into packed: inout MutableSpan<PackedPixels>
    ) {
        var index = 0
        var target = 0
        while index &+ 8 <= luma.count {
            let y = Lanes(truncatingIfNeeded: luma.vector8(at: index))
            let cb = Lanes(truncatingIfNeeded: blue.vector8(at: index)) &- 128
            let cr = Lanes(truncatingIfNeeded: red.vector8(at: index)) &- 128
            // Whole parts are taken out of the factors, so that what is left fits into 16 bits with its sign, which
            // makes the products cheap.
            let wideCb = SIMD8<Int32>(truncatingIfNeeded: cb)
            let wideCr = SIMD8<Int32>(truncatingIfNeeded: cr)
            let r = levels(y &+ cr &+ rounded(wideCr &* 26345))
            let g = levels(y &- cr &+ rounded(wideCr &* 18734 &+ wideCb &* -22554))
            let b = levels(y &+ cb &+ cb &+ rounded(wideCb &* -14942))
            let redGreen = r | g &<< 8
            let blueAlpha = b | 0xFF00
            packed[target] = low(redGreen, blueAlpha)
            packed[target &+ 1] = high(redGreen, blueAlpha)
            index &+= 8
            target &+= 2
        }
    }

    /// Four pixels: of each two numbers of 16 bits, green above red and alpha above blue.
    typealias PackedPixels = SIMD8<UInt16>

    /// Unpacks as many pixels as `range` has room for. By way of memory rather than straight from the conversion:
    /// here the compiler sees that it is but a copy, there it would take the vectors apart.
    static func unpack(
        _ packed: Span<PackedPixels>, into pixels: inout MutableSpan<UInt8>, _ range: Range<Int>
    ) {
        let end = range.upperBound
        var target = range.lowerBound
        var index = 0
        while target &+ 16 <= end {
            pixels.store(packed[index], at: target)
            index &+= 1
            target &+= 16
        }
        var lane = 0
        while target < end {
            pixels[target] = UInt8(truncatingIfNeeded: packed[index][lane])
            pixels[target &+ 1] = UInt8(truncatingIfNeeded: packed[index][lane] &>> 8)
            lane &+= 1
            target &+= 2
        }
    }

    private typealias Lanes = SIMD8<Int16>

    @inline(__always)
    private static func rounded(_ value: SIMD8<Int32>) -> Lanes {
        Lanes(truncatingIfNeeded: (value &+ 32768) &>> 16)
    }

    /// Brought into the range of a byte by masks made of signs: the standard library's `clamped` goes lane by lane.
    @inline(__always)
    private static func levels(_ value: Lanes) -> PackedPixels {
        let positive = value & ~(value &>> 15)
        return PackedPixels(truncatingIfNeeded: (positive | (255 &- positive) &>> 15) & 255)
    }

    @inline(__always)
    private static func low(_ a: PackedPixels, _ b: PackedPixels) -> PackedPixels {
        PackedPixels(a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3])
    }

    @inline(__always)
    private static func high(_ a: PackedPixels, _ b: PackedPixels) -> PackedPixels {
        PackedPixels(a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7])
    }
}
