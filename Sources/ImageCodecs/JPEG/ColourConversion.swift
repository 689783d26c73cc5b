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

    /// Replaces each colour by what it leaves to white.
    static func complement(_ pixels: inout MutableSpan<UInt8>, _ range: Range<Int>) {
        var index = range.lowerBound
        while index &+ 4 <= range.upperBound {
            pixels[index] = ~pixels[index]
            pixels[index &+ 1] = ~pixels[index &+ 1]
            pixels[index &+ 2] = ~pixels[index &+ 2]
            index &+= 4
        }
    }

    /// Makes RGB of cyan, magenta and yellow, which are there in its place, and `black`: what an ink lets through of the
    /// light, times what black does.
    static func addBlack(
        _ black: Span<UInt8>, isInverted: Bool, to pixels: inout MutableSpan<UInt8>, _ range: Range<Int>
    ) {
        let flip: UInt8 = isInverted ? 0 : 255
        var target = range.lowerBound
        for index in 0..<min(black.count, range.count / 4) {
            let light = UInt32(black[index] ^ flip)
            for channel in 0..<3 {
                let product = UInt32(pixels[target &+ channel] ^ flip) &* light &+ 128
                pixels[target &+ channel] = UInt8(truncatingIfNeeded: (product &+ product &>> 8) &>> 8)
            }
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
            let y = widened(luma.vector8(at: index))
            let cb = widened(blue.vector8(at: index)) &- 128
            let cr = widened(red.vector8(at: index)) &- 128
            // Whole parts are taken out of the factors, so that what is left fits into 16 bits with its sign: the upper
            // half of a product is then one instruction, of twice the value rounded by halves.
            let r = levels(y &+ cr &+ half(upper(cr &+ cr, 26345)))
            let wide =
                widened(cr) &* 18734
                &+ widened(cb) &* -22554
            let g = levels(y &- cr &+ upperHalves(wide &+ 32768))
            let b = levels(y &+ cb &+ cb &+ half(upper(cb &+ cb, -14942)))
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
        while target &+ 32 <= end, index &+ 2 <= packed.count {
            pixels.store(packed[index], packed[index &+ 1], at: target)
            index &+= 2
            target &+= 32
        }
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
    private static func upper(_ value: Lanes, _ factor: Int32) -> Lanes {
        upperHalves(widened(value) &* factor)
    }

    @inline(__always)
    private static func half(_ value: Lanes) -> Lanes { (value &+ 1) &>> 1 }

    /// Brought into the range of a byte by masks made of signs: the standard library's `clamped` goes lane by lane.
    @inline(__always)
    private static func levels(_ value: Lanes) -> PackedPixels {
        let positive = value & ~(value &>> 15)
        return unsigned((positive | (255 &- positive) &>> 15) & 255)
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

// Conversions of vectors, as the standard library's `init(truncatingIfNeeded:)`. That one is compiled once for all files,
// and called where it is not at hand; these are compiled beside what uses them, and become an instruction or two there.

private func widened(_ vector: SIMD8<UInt8>) -> SIMD8<Int16> {
    var result = SIMD8<Int16>()
    for lane in result.indices { result[lane] = Int16(truncatingIfNeeded: vector[lane]) }
    return result
}

private func widened(_ vector: SIMD8<Int16>) -> SIMD8<Int32> {
    var result = SIMD8<Int32>()
    for lane in result.indices { result[lane] = Int32(truncatingIfNeeded: vector[lane]) }
    return result
}

private func upperHalves(_ vector: SIMD8<Int32>) -> SIMD8<Int16> {
    let shifted = vector &>> 16
    var result = SIMD8<Int16>()
    for lane in result.indices { result[lane] = Int16(truncatingIfNeeded: shifted[lane]) }
    return result
}

private func unsigned(_ vector: SIMD8<Int16>) -> SIMD8<UInt16> {
    var result = SIMD8<UInt16>()
    for lane in result.indices { result[lane] = UInt16(truncatingIfNeeded: vector[lane]) }
    return result
}
