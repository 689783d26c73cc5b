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
    /// rounded. Whole parts are taken out of the factors, so that what is left fits into 16 bits with its sign.
    static func convert(
        luma: Span<UInt8>, blue: Span<UInt8>, red: Span<UInt8>, into pixels: inout MutableSpan<UInt8>,
        _ range: Range<Int>
    ) {
        var target = range.lowerBound
        for index in 0..<min(luma.count, blue.count, red.count, range.count / 4) {
            let y = Int32(luma[index])
            let cb = Int32(blue[index]) &- 128
            let cr = Int32(red[index]) &- 128
            pixels[target] = clamped(y &+ cr &+ (26345 &* cr &+ 32768) &>> 16)
            pixels[target &+ 1] = clamped(y &- cr &+ (18734 &* cr &- 22554 &* cb &+ 32768) &>> 16)
            pixels[target &+ 2] = clamped(y &+ 2 &* cb &+ (-14942 &* cb &+ 32768) &>> 16)
            target &+= 4
        }
    }

    @inline(__always)
    private static func clamped(_ value: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: max(0, min(255, value)))
    }
}
