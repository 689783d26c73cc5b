import ImageCodecs

/// A picture with slopes, edges and noise, the same on every run.
struct TestPicture {
    let width: Int
    let height: Int

    /// The picture as a binary PPM.
    var ppm: [UInt8] {
        var random = SeededRandom(seed: 5)
        var bytes = Array("P6\n\(width) \(height)\n255\n".utf8)
        for y in 0..<height {
            for x in 0..<width {
                let isBlock = (x / 9 + y / 7) % 5 == 0
                let colour =
                    isBlock
                    ? [250, 20, 40]
                    : [x * 255 / max(1, width - 1), y * 255 / max(1, height - 1), x * y / 17 % 256]
                let noise = random.next()
                for channel in 0..<3 {
                    let level = colour[channel] + Int(noise >> (8 * channel) & 31) - 16
                    bytes.append(UInt8(max(0, min(255, level))))
                }
            }
        }
        return bytes
    }

    /// The bitmap of a binary PPM of this size; nil if it is none.
    static func bitmap(ppm: [UInt8], width: Int, height: Int) -> Bitmap? {
        let header = Array("P6\n\(width) \(height)\n255\n".utf8)
        guard ppm.starts(with: header), ppm.count == header.count + width * height * 3 else { return nil }
        var pixels: [UInt8] = []
        for index in 0..<width * height {
            pixels += ppm[(header.count + index * 3)..<(header.count + index * 3 + 3)]
            pixels.append(255)
        }
        return Bitmap(width: width, height: height, pixels: pixels)
    }
}
