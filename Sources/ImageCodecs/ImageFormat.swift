/// The formats told apart by their first bytes; a file's name or media type is never asked.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    /// ISO 10918-1, in any wrapping (JFIF, Exif, none).
    case jpeg
    /// Portable Network Graphics, ISO 15948.
    case png
    /// GIF87a and GIF89a.
    case gif
    /// WebP, lossy or not, in its RIFF container.
    case webp
    /// AV1 still pictures and sequences.
    case avif
    /// Windows bitmaps, from OS/2's header on.
    case bmp
    /// Scalable Vector Graphics as plain XML.
    case svg

    /// The format these bytes begin with, or nil. The beginning of a file is enough: 1 KiB shows every format.
    public init?(detecting bytes: Span<UInt8>) {
        if bytes.hasBytes([0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.hasBytes(PNGSignature.magic) {
            self = .png
        } else if bytes.hasBytes("GIF87a") || bytes.hasBytes("GIF89a") {
            self = .gif
        } else if bytes.hasBytes("RIFF"), bytes.hasBytes("WEBP", at: 8) {
            self = .webp
        } else if Self.hasAVIFBrand(bytes) {
            self = .avif
        } else if Self.isBitmapFile(bytes) {
            self = .bmp
        } else if Self.opensSVG(bytes) {
            self = .svg
        } else {
            return nil
        }
    }

    /// The media type a server would announce, such as `image/jpeg`.
    public var mediaType: String {
        switch self {
        case .svg: "image/svg+xml"
        case .jpeg, .png, .gif, .webp, .avif, .bmp: "image/\(rawValue)"
        }
    }

    /// The usual ending of a file's name, without the dot, such as `jpg`.
    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// The format's name as people write it, for messages.
    package var displayName: String { self == .webp ? "WebP" : rawValue.uppercased() }
}

enum PNGSignature {
    static let magic: MagicNumber = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
}

extension ImageFormat {
    /// ISO 14496-12, 4.3: a `ftyp` box (size, "ftyp", major brand, version, compatible brands).
    private static func hasAVIFBrand(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.hasBytes("ftyp", at: 4), let boxSize = bytes.bigEndian32(at: 0) else { return false }
        func isAVIF(at offset: Int) -> Bool {
            bytes.hasBytes("avif", at: offset) || bytes.hasBytes("avis", at: offset)
        }
        if isAVIF(at: 8) { return true }
        var offset = 16
        let end = min(boxSize, bytes.count, searchLength)
        while offset + 4 <= end {
            if isAVIF(at: offset) { return true }
            offset += 4
        }
        return false
    }

    /// "BM" alone opens many a text file, so the size of the second header must be one that exists.
    private static func isBitmapFile(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.hasBytes("BM"), let headerSize = bytes.littleEndian32(at: 14) else { return false }
        return [12, 16, 40, 52, 56, 64, 108, 124].contains(headerSize)
    }

    /// How far into a file its opening tag or its brands may stand.
    private static let searchLength = 1024

    /// `<svg` after nothing but a byte order mark, white space, declarations and comments.
    private static func opensSVG(_ bytes: Span<UInt8>) -> Bool {
        let end = min(bytes.count, searchLength)
        var offset = bytes.hasBytes([0xEF, 0xBB, 0xBF]) ? 3 : 0
        while offset < end {
            if isXMLSpace(bytes[offset]) {
                offset += 1
            } else if bytes.hasBytes("<svg", at: offset) {
                guard let next = bytes.byte(at: offset + 4) else { return false }
                return isXMLSpace(next) || [UInt8](">/:".utf8).contains(next)
            } else if bytes.hasBytes("<!--", at: offset) {
                guard let after = index(after: "-->", from: offset + 4, in: bytes, end: end) else {
                    return false
                }
                offset = after
            } else if bytes.hasBytes("<?", at: offset) {
                guard let after = index(after: "?>", from: offset + 2, in: bytes, end: end) else {
                    return false
                }
                offset = after
            } else if bytes.hasBytes("<!DOCTYPE", at: offset) {
                guard let after = index(after: ">", from: offset, in: bytes, end: end) else { return false }
                offset = after
            } else {
                return false
            }
        }
        return false
    }

    private static func isXMLSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    private static func index(
        after mark: MagicNumber, from start: Int, in bytes: Span<UInt8>, end: Int
    ) -> Int? {
        var offset = start
        while offset < end {
            if bytes.hasBytes(mark, at: offset) { return offset + mark.bytes.count }
            offset += 1
        }
        return nil
    }
}
