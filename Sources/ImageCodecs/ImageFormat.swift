/// A format of image files. It is detected from the first bytes, never from a file's name or media type.
///
/// A program adds a format with its own ``ImageDecoding`` that recognises it:
///
///     extension ImageFormat {
///         static let ppm = ImageFormat("ppm", mediaType: "image/x-portable-pixmap")
///     }
public struct ImageFormat: Sendable, Hashable, CustomStringConvertible {
    /// The format's name in lower case, such as `jpeg`.
    public let name: String
    /// The media type, such as `image/jpeg`. Requests accept it if a decoder supports the format.
    public let mediaType: String
    /// The usual filename extension, without the dot, such as `jpg`.
    public let fileExtension: String

    /// Creates a format.
    /// - Parameters:
    ///   - name: the format's name in lower case.
    ///   - mediaType: the media type that servers announce.
    ///   - fileExtension: the filename extension without the dot. Default: the name.
    public init(_ name: String, mediaType: String, fileExtension: String? = nil) {
        self.name = name
        self.mediaType = mediaType
        self.fileExtension = fileExtension ?? name
    }

    /// Hashes only the name, which nearly always suffices.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// ISO 10918-1, as JFIF, Exif or neither.
    public static let jpeg = ImageFormat("jpeg", mediaType: "image/jpeg", fileExtension: "jpg")
    /// Portable Network Graphics, ISO 15948.
    public static let png = ImageFormat("png", mediaType: "image/png")
    /// GIF87a and GIF89a.
    public static let gif = ImageFormat("gif", mediaType: "image/gif")
    /// WebP, lossy or lossless, in its RIFF container.
    public static let webp = ImageFormat("webp", mediaType: "image/webp")
    /// AV1 still pictures and sequences.
    public static let avif = ImageFormat("avif", mediaType: "image/avif")
    /// Windows bitmaps, with OS/2 headers or later ones.
    public static let bmp = ImageFormat("bmp", mediaType: "image/bmp")
    /// Scalable Vector Graphics as plain XML.
    public static let svg = ImageFormat("svg", mediaType: "image/svg+xml")
    /// TIFF 6.0 and BigTIFF. Many raw files of cameras begin as TIFF too.
    public static let tiff = ImageFormat("tiff", mediaType: "image/tiff", fileExtension: "tif")
    /// HEIF, ISO 23008-12, most often with HEVC in it.
    public static let heic = ImageFormat("heic", mediaType: "image/heic")
    /// JPEG XL, ISO 18181, bare or in its container.
    public static let jxl = ImageFormat("jxl", mediaType: "image/jxl")

    /// The format's name.
    public var description: String { name }

    /// The format's name in its usual spelling, for messages.
    package var displayName: String {
        switch self {
        case .webp: "WebP"
        case .jxl: "JPEG XL"
        default: name.uppercased()
        }
    }
}

extension ImageFormat {
    /// Detects a format among those that this type names; nil for others. The first 1 KiB of a file suffices.
    /// `ImageDecoders.format(of:)` also detects a program's own formats.
    /// - Parameter bytes: the beginning of a file.
    public init?(detecting bytes: Span<UInt8>) {
        if bytes.hasBytes([0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.hasBytes(PNGSignature.magic) {
            self = .png
        } else if bytes.hasBytes("GIF87a") || bytes.hasBytes("GIF89a") {
            self = .gif
        } else if bytes.hasBytes("RIFF"), bytes.hasBytes("WEBP", at: 8) {
            self = .webp
        } else if Self.hasBrand(bytes, ["avif", "avis"]) {
            self = .avif
        } else if Self.hasBrand(bytes, ["heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"]) {
            self = .heic
        } else if Self.isJPEGXL(bytes) {
            self = .jxl
        } else if Self.isTIFF(bytes) {
            self = .tiff
        } else if Self.isBitmapFile(bytes) {
            self = .bmp
        } else if Self.opensSVG(bytes) {
            self = .svg
        } else {
            return nil
        }
    }
}

enum PNGSignature {
    static let magic: MagicNumber = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
}

extension ImageFormat {
    /// ISO 14496-12, 4.3: a `ftyp` box (size, "ftyp", major brand, version, compatible brands).
    private static func hasBrand(_ bytes: Span<UInt8>, _ brands: [MagicNumber]) -> Bool {
        guard bytes.hasBytes("ftyp", at: 4), let boxSize = bytes.bigEndian32(at: 0) else { return false }
        if brands.contains(where: { bytes.hasBytes($0, at: 8) }) { return true }
        var offset = 16
        let end = min(boxSize, bytes.count, searchLength)
        while offset + 4 <= end {
            if brands.contains(where: { bytes.hasBytes($0, at: offset) }) { return true }
            offset += 4
        }
        return false
    }

    /// ISO 18181-2: the signature box of the container, or the marker of a bare codestream.
    private static func isJPEGXL(_ bytes: Span<UInt8>) -> Bool {
        if bytes.hasBytes([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]) { return true }
        return bytes.hasBytes([0xFF, 0x0A])
    }

    /// TIFF 6.0, section 2: the byte order and the number 42; in BigTIFF 43.
    private static func isTIFF(_ bytes: Span<UInt8>) -> Bool {
        bytes.hasBytes([0x49, 0x49, 0x2A, 0]) || bytes.hasBytes([0x4D, 0x4D, 0, 0x2A])
            || bytes.hasBytes([0x49, 0x49, 0x2B, 0]) || bytes.hasBytes([0x4D, 0x4D, 0, 0x2B])
    }

    /// Many text files begin with "BM", so the size of the second header must be a known one.
    private static func isBitmapFile(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.hasBytes("BM"), let headerSize = bytes.littleEndian32(at: 14) else { return false }
        return [12, 16, 40, 52, 56, 64, 108, 124].contains(headerSize)
    }

    /// How far to search for the opening tag or the brands, in bytes.
    private static let searchLength = 1024

    /// Whether `<svg` follows after only a byte order mark, white space, declarations and comments.
    private static func opensSVG(_ bytes: Span<UInt8>) -> Bool {
        let end = min(bytes.count, searchLength)
        var offset = bytes.hasBytes([0xEF, 0xBB, 0xBF]) ? 3 : 0
        while offset < end {
            if isXMLSpace(bytes[offset]) {
                offset += 1
            } else if bytes.hasBytes("<svg", at: offset) {
                guard let next = bytes.byte(at: offset + 4) else { return false }
                return isXMLSpace(next) || [UInt8](">/:".utf8).contains(next)
            } else {
                guard let (start, mark) = prologue.first(where: { bytes.hasBytes($0.start, at: offset) }),
                    let after = index(after: mark, from: offset + start.count, in: bytes, end: end)
                else { return false }
                offset = after
            }
        }
        return false
    }

    /// The beginnings and ends of comments, declarations, and the document type.
    private static let prologue: [(start: MagicNumber, end: MagicNumber)] = [
        ("<!--", "-->"), ("<?", "?>"), ("<!DOCTYPE", ">"),
    ]

    private static func isXMLSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    private static func index(
        after mark: MagicNumber, from start: Int, in bytes: Span<UInt8>, end: Int
    ) -> Int? {
        var offset = start
        while offset < end {
            if bytes.hasBytes(mark, at: offset) { return offset + mark.count }
            offset += 1
        }
        return nil
    }
}
