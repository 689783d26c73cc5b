internal import ImageCodecs

/// Quantises a picture to at most 256 sixel colours, in hundredths: with an adaptive palette, and error diffusion
/// (Floyd and Steinberg, 1976) where neighbouring pixels differ, as in photographs. Areas of one colour stay plain.
struct SixelColours {
    /// The mean squared error of a channel to aim for, in squared levels of 255: 38 dB. Using all 256 colours would
    /// take a third more bytes for photographs.
    private static let error = 10.0
    private static let clear = SixelPixels.clear

    /// Red, green and blue, 0 to 100.
    let colours: [SIMD3<Int>]
    /// The colour index of each pixel, row by row.
    private(set) var indices: [UInt16]

    /// The colours as the terminal shows them, 0 to 255.
    private let shown: [SIMD4<Int32>]
    /// The cached nearest colours, by six bits of each channel.
    private var nearest = [UInt16](repeating: clear, count: 1 << 18)

    init(of bitmap: Bitmap) {
        let palette = AdaptivePalette(of: bitmap, error: Self.error)
        colours = palette.colours.map { colour in
            SIMD3(Int(colour.x), Int(colour.y), Int(colour.z)) &* 100 &+ 127
        }.map { SIMD3($0.x / 255, $0.y / 255, $0.z / 255) }
        shown = colours.map { SIMD4(Self.level($0.x), Self.level($0.y), Self.level($0.z), 0) }
        indices = [UInt16](repeating: Self.clear, count: bitmap.width * bitmap.height)
        quantise(bitmap, palette)
    }

    private static func level(_ hundredths: Int) -> Int32 { Int32((hundredths * 255 + 50) / 100) }

    private mutating func quantise(_ bitmap: Bitmap, _ palette: AdaptivePalette) {
        let (width, height) = (bitmap.width, bitmap.height)
        // The diffused errors for this row and the next, in 64ths of a level, with one more entry on either side.
        var errors = [SIMD4<Int32>](repeating: SIMD4(), count: width + 2)
        var nextErrors = errors
        for row in 0..<height {
            for column in 0..<width {
                let pixel = Self.pixel(column, row, of: bitmap)
                guard pixel.w > 127 else { continue }
                let place = row * width + column
                if palette.isExact || Self.isFlat(column, row, in: bitmap) {
                    indices[place] = UInt16(palette.index(of: pixel))
                    continue
                }
                let debt = errors[column + 1]
                let wanted = (SIMD4<Int32>(truncatingIfNeeded: pixel) &+ (debt &+ 32) &>> 6)
                    .clamped(lowerBound: SIMD4(), upperBound: SIMD4(repeating: 255))
                let number = nearest(to: wanted)
                indices[place] = number
                // Diffuse three quarters of the error: all of it would add more noise than it hides steps.
                let error = (wanted &- shown[Int(number)]) &* 3
                errors[column + 2] &+= error &* 7
                nextErrors[column] &+= error &* 3
                nextErrors[column + 1] &+= error &* 5
                nextErrors[column + 2] &+= error
            }
            swap(&errors, &nextErrors)
            for column in nextErrors.indices { nextErrors[column] = SIMD4() }
        }
    }

    private static func pixel(_ column: Int, _ row: Int, of bitmap: Bitmap) -> SIMD4<UInt8> {
        let start = (row * bitmap.width + column) * 4
        let pixels = bitmap.pixels.span
        return SIMD4(pixels[start], pixels[start + 1], pixels[start + 2], pixels[start + 3])
    }

    /// Whether a pixel equals its neighbours on all four sides.
    private static func isFlat(_ column: Int, _ row: Int, in bitmap: Bitmap) -> Bool {
        let own = pixel(column, row, of: bitmap)
        return (column == 0 || pixel(column - 1, row, of: bitmap) == own)
            && (column == bitmap.width - 1 || pixel(column + 1, row, of: bitmap) == own)
            && (row == 0 || pixel(column, row - 1, of: bitmap) == own)
            && (row == bitmap.height - 1 || pixel(column, row + 1, of: bitmap) == own)
    }

    private mutating func nearest(to wanted: SIMD4<Int32>) -> UInt16 {
        let key = Int(wanted.x >> 2) << 12 | Int(wanted.y >> 2) << 6 | Int(wanted.z >> 2)
        if nearest[key] != Self.clear { return nearest[key] }
        let opaque = SIMD4<Int32>(wanted.x, wanted.y, wanted.z, 0)
        var best = 0
        var least = Int32.max
        for number in shown.indices {
            let difference = shown[number] &- opaque
            let distance = (difference &* difference).wrappedSum()
            if distance < least { (best, least) = (number, distance) }
        }
        nearest[key] = UInt16(best)
        return nearest[key]
    }
}
