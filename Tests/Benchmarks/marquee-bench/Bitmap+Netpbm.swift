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
}
