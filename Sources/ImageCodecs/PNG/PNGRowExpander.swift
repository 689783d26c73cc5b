/// Converts a row of PNG samples to RGBA with 8 bits.
///
/// Smaller depths are scaled by 255 / (2^depth - 1), which is an integer; 16 bits are rounded.
struct PNGRowExpander {
    private let colourType: PNGHeader.ColourType
    private let bitDepth: Int
    /// The RGBA of each value of a grey sample of at most 8 bits, or of a palette index.
    private let lookup: [SIMD4<UInt8>]
    /// The entries of the palette. Those past it are black.
    private let colours: Int
    private let transparentColour: [Int]

    init(_ structure: PNGStructure) {
        colourType = structure.header.colourType
        bitDepth = structure.header.bitDepth
        transparentColour = structure.transparentColour ?? []
        colours = structure.palette.count
        switch structure.header.colourType {
        case .palette:
            let black = SIMD4<UInt8>(0, 0, 0, 255)
            lookup = structure.palette + Array(repeating: black, count: 256 - structure.palette.count)
        case .grey where structure.header.bitDepth <= 8:
            let most = 1 << structure.header.bitDepth - 1
            lookup = (0...most).map { value in
                let level = UInt8(value * 255 / most)
                return SIMD4(level, level, level, structure.transparentColour == [value] ? 0 : 255)
            }
        default: lookup = []
        }
    }

    /// Expands the pixels that fit into `range`; false if a sample is past the end of the palette.
    func expand(_ row: Span<UInt8>, into pixels: inout MutableSpan<UInt8>, _ range: Range<Int>) -> Bool {
        switch (colourType, bitDepth) {
        case (.palette, _), (.grey, 1...8): return expandLookup(row, into: &pixels, range)
        case (.rgba, 8): expandRGBA8(row, into: &pixels, range)
        case (.rgb, 8) where transparentColour.isEmpty: expandRGB8(row, into: &pixels, range)
        case (.greyAlpha, 8):
            Self.expand(row, into: &pixels, range, bytes: 2) { pixel in
                SIMD4(pixel[0], pixel[0], pixel[0], pixel[1])
            }
        case (.greyAlpha, 16):
            Self.expand(row, into: &pixels, range, bytes: 4) { pixel in
                let grey = Self.level(pixel, 0)
                return SIMD4(grey, grey, grey, Self.level(pixel, 2))
            }
        case (.rgb, 16) where transparentColour.isEmpty:
            Self.expand(row, into: &pixels, range, bytes: 6) { pixel in
                SIMD4(Self.level(pixel, 0), Self.level(pixel, 2), Self.level(pixel, 4), 255)
            }
        case (.rgba, 16):
            Self.expand(row, into: &pixels, range, bytes: 8) { pixel in
                SIMD4(
                    Self.level(pixel, 0), Self.level(pixel, 2), Self.level(pixel, 4), Self.level(pixel, 6))
            }
        default: expandChannels(row, into: &pixels, range)
        }
        return true
    }

    private func expandLookup(_ row: Span<UInt8>, into pixels: inout MutableSpan<UInt8>, _ range: Range<Int>)
        -> Bool
    {
        let lookup = lookup.span
        let mask = 1 &<< bitDepth &- 1
        var highest = 0
        var bit = 0
        var target = range.lowerBound
        while target &+ 4 <= range.upperBound {
            let value = Int(row[bit &>> 3]) &>> (8 &- bitDepth &- bit & 7) & mask
            highest = max(highest, value)
            pixels.store(lookup[value], at: target)
            bit &+= bitDepth
            target &+= 4
        }
        return colourType == .grey || highest < colours
    }

    private func expandRGBA8(_ row: Span<UInt8>, into pixels: inout MutableSpan<UInt8>, _ range: Range<Int>) {
        let count = min(row.count, range.count)
        var index = 0
        while index &+ 8 <= count {
            pixels.store(row.vector8(at: index), at: range.lowerBound &+ index)
            index &+= 8
        }
        while index < count {
            pixels[range.lowerBound &+ index] = row[index]
            index &+= 1
        }
    }

    private func expandRGB8(_ row: Span<UInt8>, into pixels: inout MutableSpan<UInt8>, _ range: Range<Int>) {
        var source = 0
        var target = range.lowerBound
        while target &+ 4 <= range.upperBound, source &+ 3 <= row.count {
            pixels.store(SIMD4(row[source], row[source &+ 1], row[source &+ 2], 255), at: target)
            source &+= 3
            target &+= 4
        }
    }

    /// Converts each pixel of so many bytes.
    @inline(__always)
    private static func expand(
        _ row: Span<UInt8>, into pixels: inout MutableSpan<UInt8>, _ range: Range<Int>, bytes: Int,
        _ convert: (Span<UInt8>) -> SIMD4<UInt8>
    ) {
        var source = 0
        var target = range.lowerBound
        while target &+ 4 <= range.upperBound, source &+ bytes <= row.count {
            pixels.store(convert(row.extracting(source..<source &+ bytes)), at: target)
            source &+= bytes
            target &+= 4
        }
    }

    /// A sample of 16 bits, rounded to 8: exactly the nearest of 257 levels apart.
    @inline(__always)
    private static func level(_ pixel: Span<UInt8>, _ place: Int) -> UInt8 {
        let value = UInt32(pixel[place]) &<< 8 | UInt32(pixel[place &+ 1])
        return UInt8(truncatingIfNeeded: (value &* 255 &+ 32895) &>> 16)
    }

    /// All other kinds: grey of 16 bits, and a transparent colour.
    private func expandChannels(
        _ row: Span<UInt8>, into pixels: inout MutableSpan<UInt8>, _ range: Range<Int>
    ) {
        let channels = colourType.channels
        let bytes = bitDepth / 8
        let isGrey = channels < 3
        var source = 0
        var target = range.lowerBound
        while target &+ 4 <= range.upperBound, source &+ channels &* bytes <= row.count {
            var matches = !transparentColour.isEmpty
            var pixel = SIMD4<UInt8>(repeating: 255)
            for channel in 0..<channels {
                let at = source &+ channel &* bytes
                let value = bytes == 1 ? Int(row[at]) : Int(row[at]) &<< 8 | Int(row[at &+ 1])
                if matches, transparentColour[channel] != value { matches = false }
                let level = UInt8(truncatingIfNeeded: bytes == 1 ? value : (value &* 255 &+ 32895) &>> 16)
                if isGrey, channel == 0 {
                    pixel = SIMD4(level, level, level, 255)
                } else {
                    pixel[isGrey ? 3 : channel] = level
                }
            }
            if matches { pixel.w = 0 }
            pixels.store(pixel, at: target)
            source &+= channels &* bytes
            target &+= 4
        }
    }
}
