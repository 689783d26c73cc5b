extension ImageHeader {
    /// Whether a file is all there, by its structure alone: one pass, nothing is decoded.
    ///
    /// Throws `truncated` when a JPEG ends before its EOI marker, a PNG before the end of its IEND chunk or a WebP
    /// before the length in its header, and `corrupt` where a length on the way there cannot be. Bytes after that
    /// end are let pass, and so is every other format: this is a check of a download, not of a picture.
    /// - Parameter bytes: the whole file.
    public static func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        switch ImageFormat(detecting: bytes) {
        case .jpeg: try checkCompleteJPEG(bytes)
        case .png: try checkCompletePNG(bytes)
        case .webp: try checkCompleteWebP(bytes)
        default: break
        }
    }

    /// Checks a file given as an array; as `checkComplete(_:)` with a span.
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
                // No entropy-coded data holds an EOI, so a file that ends in one after a scan began is whole. Only what
                // has other bytes behind it must be searched.
                if bytes.hasBytes([0xFF, 0xD9], at: bytes.count - 2) { return }
                segments.skipEntropyCodedData(in: bytes)
            }
        }
    }

    /// PNG 5.3: a chunk is its length, its type, so many bytes, and a check of four.
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

    /// The RIFF header's length counts all that follows it.
    private static func checkCompleteWebP(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        guard let length = bytes.littleEndian32(at: 4), bytes.count >= 8 + length else {
            throw .truncated(offset: bytes.count)
        }
    }
}
