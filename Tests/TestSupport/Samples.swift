package import ImageCodecs
package import LazyImages

/// Pictures with smooth colours, as in photographs.
package enum Samples {
    package static func bitmap(_ width: Int, _ height: Int, alpha: UInt8 = 255, shift: Int = 0) -> Bitmap {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 4)
        for y in 0..<height {
            for x in 0..<width {
                pixels += [
                    UInt8(x * 255 / width), UInt8(y * 255 / height), UInt8((x + y + shift) & 63), alpha,
                ]
            }
        }
        return Bitmap(width: width, height: height, pixels: pixels)
    }

    private struct Kind: Hashable {
        let width: Int
        let height: Int
        let shift: Int
    }

    private static let jpegs = MadeOnce<Kind, [UInt8]>()

    /// Each picture is encoded once.
    /// - Parameter shift: gives another picture of the same size.
    package static func jpeg(_ width: Int = 100, _ height: Int = 150, shift: Int = 0) throws -> [UInt8] {
        let kind = Kind(width: width, height: height, shift: shift)
        return try jpegs.value(for: kind) {
            try JPEGEncoder(quality: 90).encode(bitmap(width, height, shift: shift))
        }
    }

    /// A JPEG that says to have 600 million pixels, and has 64.
    package static func hugeJPEG() throws -> [UInt8] {
        var file = try greyJPEG(8, 8).array
        guard let frame = file.firstRange(of: [0xFF, 0xC0])?.lowerBound else { return file }
        file.replaceSubrange(frame + 5..<frame + 9, with: [0x4E, 0x20, 0x75, 0x30])
        return file
    }

    /// A large JPEG that costs little to make: mid-grey, of one component, whose blocks of 8 x 8 pixels have no
    /// coefficients. Each is two bits 0.
    package static func greyJPEG(_ width: Int, _ height: Int) throws -> ImageBytes {
        let grey = [[UInt8]](repeating: [128, 128, 128, 255], count: 256).flatMap(\.self)
        // Its four blocks are one byte.
        var file = try JPEGEncoder().encode(Bitmap(width: 16, height: 16, pixels: grey))
        guard let frame = file.firstRange(of: [0xFF, 0xC0])?.lowerBound, file.suffix(3) == [0, 0xFF, 0xD9]
        else { throw ImageDecodingError.unsupported(feature: "another encoding of grey") }
        for (offset, side) in [(5, height), (7, width)] {
            file[frame + offset] = UInt8(side >> 8)
            file[frame + offset + 1] = UInt8(side & 255)
        }
        let blocks = ((width + 7) / 8) * ((height + 7) / 8)
        let data = [UInt8](repeating: 0, count: (blocks + 3) / 4)
        return ImageBytes(file.dropLast(3) + data + [0xFF, 0xD9])
    }

    package static func png(_ width: Int, _ height: Int, alpha: UInt8 = 255) -> [UInt8] {
        PNGEncoder(colors: alpha < 255 ? .rgba : .rgb).encode(bitmap(width, height, alpha: alpha))
    }

    /// A JPEG with a complete header and undecodable data.
    package static func rubbish() throws -> [UInt8] {
        let whole = try jpeg()
        let scan = whole.firstRange(of: [0xFF, 0xDA])?.lowerBound ?? 0
        // Escapes bytes that would be markers, as in a real file.
        return whole[..<(scan + 14)] + (0..<400).map { UInt8(truncatingIfNeeded: $0 &* 89) & 0xFE } + [
            0xFF, 0xD9,
        ]
    }
}
