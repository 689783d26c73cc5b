import LazyImages

extension ImageFormat {
    /// Portable pixmaps, which the library does not support.
    static let ppm = ImageFormat("ppm", mediaType: "image/x-portable-pixmap")
}

/// Decodes binary portable pixmaps of 8 bits: `P6`, width, height and 255, each followed by white space, then
/// three bytes per pixel.
struct PPMDecoder: ImageDecoding {
    let formats: Set<ImageFormat> = [.ppm]

    func format(of bytes: Span<UInt8>) -> ImageFormat? {
        bytes.count > 2 && bytes[0] == UInt8(ascii: "P") && bytes[1] == UInt8(ascii: "6") && isSpace(bytes[2])
            ? .ppm : nil
    }

    func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader {
        ImageHeader(format: .ppm, size: try start(bytes).size)
    }

    func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        let (size, offset) = try start(bytes)
        guard bytes.count >= offset + size.width * size.height * 3 else {
            throw .truncated(offset: bytes.count)
        }
    }

    func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        let (size, offset) = try start(bytes)
        try limits.check(size)
        try checkComplete(bytes)
        let result = target.map(size.fitted(into:)) ?? size
        var pixels: [UInt8] = []
        for y in 0..<result.height {
            for x in 0..<result.width {
                // The nearest pixel.
                let (column, row) = (x * size.width / result.width, y * size.height / result.height)
                let place = offset + (row * size.width + column) * 3
                pixels += [bytes[place], bytes[place + 1], bytes[place + 2], 255]
            }
        }
        guard let bitmap = Bitmap(exactly: pixels, width: result.width, height: result.height) else {
            throw .corrupt(segment: "pixels", offset: offset)
        }
        return bitmap
    }

    /// The size, and the offset of the pixels.
    private func start(_ bytes: Span<UInt8>) throws(ImageDecodingError) -> (size: ImageSize, offset: Int) {
        var offset = 2
        var numbers: [Int] = []
        while numbers.count < 3 {
            while offset < bytes.count, isSpace(bytes[offset]) { offset += 1 }
            var number = 0
            while offset < bytes.count, (0x30...0x39).contains(bytes[offset]), number < 100_000 {
                number = number * 10 + Int(bytes[offset]) - 0x30
                offset += 1
            }
            guard offset < bytes.count else { throw .truncated(offset: bytes.count) }
            guard number > 0, isSpace(bytes[offset]) else {
                throw .corrupt(segment: "header of a pixmap", offset: offset)
            }
            numbers.append(number)
        }
        guard numbers[2] == 255 else { throw .unsupported(feature: "PPM of other than 8 bits") }
        return (ImageSize(width: numbers[0], height: numbers[1]), offset + 1)
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
