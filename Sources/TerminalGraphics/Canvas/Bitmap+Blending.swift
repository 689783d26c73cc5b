package import ImageCodecs

extension Bitmap {
    /// The alpha below which a pixel stays clear: a blend with it would hardly differ from the terminal's own
    /// background, which may be another than the one assumed.
    private static let leastAlpha = 16

    /// The bitmap over a background: half-transparent pixels become opaque blends, and clear ones stay clear. Cells and
    /// sixels can only be painted or not, and the palette of a PNG for kitty and iTerm2 has one clear entry.
    package func blended(on background: SIMD3<UInt8>) -> Bitmap {
        if isOpaque { return self }
        var pixels = pixels
        for place in stride(from: 0, to: pixels.count, by: 4) {
            let alpha = Int(pixels[place + 3])
            if alpha == 255 { continue }
            guard alpha >= Self.leastAlpha else {
                pixels[place + 3] = 0
                continue
            }
            for channel in 0..<3 {
                let sum = Int(pixels[place + channel]) * alpha + Int(background[channel]) * (255 - alpha)
                pixels[place + channel] = UInt8((sum + 127) / 255)
            }
            pixels[place + 3] = 255
        }
        return Bitmap(width: width, height: height, pixels: pixels)
    }
}
