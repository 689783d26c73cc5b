import Foundation
import ImageCodecs

extension Bitmap {
    /// The pixels as a file of the Netpbm family.
    var netpbm: Data {
        if isOpaque {
            var data = Data("P6\n\(width) \(height)\n255\n".utf8)
            for index in stride(from: 0, to: pixels.count, by: 4) {
                data.append(contentsOf: pixels[index..<index + 3])
            }
            return data
        }
        let header = "P7\nWIDTH \(width)\nHEIGHT \(height)\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
        return Data(header.utf8) + Data(pixels)
    }

    /// The bitmap of a binary PPM from `djpeg`; nil if the bytes are not one.
    init?(ppm: [UInt8]) {
        let lines = ppm.prefix(64).split(separator: UInt8(ascii: "\n"), maxSplits: 3)
        guard lines.count == 4, lines[0].elementsEqual("P6".utf8) else { return nil }
        let sides = String(decoding: lines[1], as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        let start = lines[3].startIndex
        guard sides.count == 2, sides[0] > 0, sides[1] > 0, ppm.count == start + sides[0] * sides[1] * 3
        else { return nil }
        var pixels = [UInt8](repeating: 255, count: sides[0] * sides[1] * 4)
        for pixel in 0..<sides[0] * sides[1] {
            for channel in 0..<3 { pixels[pixel * 4 + channel] = ppm[start + pixel * 3 + channel] }
        }
        self.init(width: sides[0], height: sides[1], pixels: pixels)
    }
}
