extension ImageHeader {
    /// Checks in one pass, without decoding, that a file's structure is complete.
    ///
    /// Throws `.truncated(offset:)` if a JPEG ends before its EOI marker, a PNG before the end of its IEND chunk, a WebP
    /// before the length in its header, or a GIF in a block, and `corrupt` for an invalid length. Accepts bytes after
    /// that end, and every other format: this checks a download, not the image.
    /// - Parameter bytes: the whole file.
    public static func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        switch ImageFormat(detecting: bytes) {
        case .jpeg: try checkCompleteJPEG(bytes)
        case .png: try checkCompletePNG(bytes)
        case .webp: try checkCompleteWebP(bytes)
        case .gif: try checkCompleteGIF(bytes)
        default: break
        }
    }

    /// Checks a file in an array; see `checkComplete(_:)`.
    /// - Parameter bytes: the whole file.
    public static func checkComplete(_ bytes: [UInt8]) throws(ImageDecodingError) {
        try checkComplete(bytes.span)
    }

    private static func checkCompleteJPEG(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        var segments = JPEGSegments(offset: 2)
        while true {
            let segment = try segments.next(in: bytes)
            if segment.marker == .endOfImage { return }
            if segment.marker == .startOfScan {
                // Entropy-coded data contains no EOI, so a file that ends with one after the start of a scan is
                // complete. Only a file with trailing bytes needs a search.
                if bytes.hasBytes([0xFF, 0xD9], at: bytes.count - 2) { return }
                segments.skipEntropyCodedData(in: bytes)
            }
        }
    }

    /// PNG 5.3: a chunk is a length, a type, data, and a CRC of four bytes.
    private static func checkCompletePNG(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        var offset = 8
        while true {
            guard let length = bytes.bigEndian32(at: offset), offset + 12 <= bytes.count else {
                throw .truncated(offset: bytes.count)
            }
            guard length <= Int(Int32.max) else {
                throw .corrupt(segment: "length of a PNG chunk", offset: offset)
            }
            let isEnd = bytes.hasBytes("IEND", at: offset + 4)
            offset += 12 + length
            guard offset <= bytes.count else { throw .truncated(offset: bytes.count) }
            if isEnd { return }
        }
    }

    /// Some encoders leave the trailer out, so a GIF may end behind any block.
    private static func checkCompleteGIF(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        var blocks = try GIFBlocks(bytes)
        while true {
            if case .end = try blocks.next(in: bytes) { break }
        }
        guard blocks.offset <= bytes.count else { throw .truncated(offset: bytes.count) }
    }

    /// The length in the RIFF header counts all bytes after it.
    private static func checkCompleteWebP(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        guard let length = bytes.littleEndian32(at: 4), bytes.count >= 8 + length else {
            throw .truncated(offset: bytes.count)
        }
    }
}
