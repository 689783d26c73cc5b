import FoundationEssentials
import Glibc
import ImageCodecs
import TestSupport

/// Pictures for the tests of protocols.
enum Pictures {
    /// A bitmap whose pixels a function computes.
    static func bitmap(_ width: Int, _ height: Int, _ pixel: (Int, Int) -> SIMD4<UInt8>) -> Bitmap {
        var pixels: [UInt8] = []
        for row in 0..<height {
            for column in 0..<width {
                let value = pixel(column, row)
                pixels += [value.x, value.y, value.z, value.w]
            }
        }
        return Bitmap(width: width, height: height, pixels: pixels)
    }

    /// A gradient with waves: thousands of colours, and no two equal neighbours.
    static func photograph(_ width: Int, _ height: Int) -> Bitmap {
        bitmap(width, height) { column, row in
            let wave = sin(Double(column) / 7) * cos(Double(row) / 11) * 40
            let grain = Double((column * 31 + row * 17) % 13)
            func level(_ value: Double) -> UInt8 { UInt8(min(max(0, value), 255)) }
            return SIMD4(
                level(Double(column) * 200 / Double(width) + wave + grain),
                level(Double(row) * 180 / Double(height) + 30 - wave),
                level(128 + wave - grain), 255)
        }
    }

    private static let posters = MadeOnce<String, Bitmap>()

    /// A poster of the sample catalogue, by its file name. It is decoded once.
    static func poster(_ name: String) throws -> Bitmap {
        try posters.value(for: name) {
            let file = try Data(contentsOf: URL(filePath: path(ofPoster: name)))
            return try ImageDecoders.standard.decode([UInt8](file))
        }
    }

    /// The path of that file.
    static func path(ofPoster name: String) -> String {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        return "/\(root)/sample-data/posters/\(name)"
    }
}

extension Bitmap {
    /// A pixel's channels.
    func pixel(_ column: Int, _ row: Int) -> SIMD4<UInt8> {
        let start = (row * width + column) * 4
        return SIMD4(pixels[start], pixels[start + 1], pixels[start + 2], pixels[start + 3])
    }
}
