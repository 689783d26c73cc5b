import SystemSupport
import ImageCodecs

/// A picture with gradients, edges and noise, the same on every run.
struct TestPicture {
    let width: Int
    let height: Int

    /// The picture as a binary PPM.
    var ppm: [UInt8] {
        var random = SeededNumbers(seed: 5)
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

    /// The bitmap of a binary PPM as `djpeg` writes it, with the size on a separate line; nil for other
    /// bytes.
    static func bitmap(ppm: [UInt8]) -> Bitmap? {
        let lines = ppm.prefix(64).split(separator: UInt8(ascii: "\n"), maxSplits: 3)
        guard lines.count == 4, Array(lines[0]) == Array("P6".utf8) else { return nil }
        let sides = String(decoding: lines[1], as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        let start = lines[3].startIndex
        guard sides.count == 2, sides[0] > 0, sides[1] > 0, ppm.count == start + sides[0] * sides[1] * 3
        else {
            return nil
        }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(sides[0] * sides[1] * 4)
        for index in stride(from: start, to: ppm.count, by: 3) { pixels += ppm[index..<index + 3] + [255] }
        return Bitmap(width: sides[0], height: sides[1], pixels: pixels)
    }
}
