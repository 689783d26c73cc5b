public import FoundationEssentials

/// A decoder of one or more image formats. A program adds formats by implementing it: requests accept the media types
/// of ``formats``, and files that it recognises are cached and decoded as images.
///
/// For formats that ``ImageFormat`` names, ``formats`` and `decode` suffice. For another format a decoder must also
/// recognise files and read their header.
///
/// Decoders keep no state. Any thread may call them, a call may take milliseconds, and no input may make them trap or
/// run without bound.
public protocol ImageDecoding: Sendable {
    /// The formats of this decoder.
    var formats: Set<ImageFormat> { get }

    /// The format of the file that begins with `bytes`; nil if it is none of ``formats``. Called for every file until a
    /// decoder recognises it, so check only the first bytes.
    /// - Parameter bytes: the beginning of a file.
    func format(of bytes: Span<UInt8>) -> ImageFormat?

    /// Reads the header without decoding. Called for files that this decoder recognises.
    ///
    /// Throws `.truncated(offset:)` if the bytes end before the size, and `corrupt`.
    /// - Parameter bytes: the file, or its beginning.
    func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader

    /// Checks without decoding that a recognised file is complete. Called for each download before it is cached.
    ///
    /// Throws `.truncated(offset:)` if something is missing, and `corrupt`.
    /// - Parameter bytes: the whole file.
    func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError)

    /// Decodes a whole file and applies its Exif orientation.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - target: the box to fit the upright image into, without enlarging; nil for its own size.
    ///   - limits: the limits for the file.
    func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap

    /// Decodes a whole file, resized and cropped as `sizing` says. Loaders call this method.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode; nil for the image's own size.
    ///   - limits: the limits for the file.
    func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap
}

extension ImageDecoding {
    /// The format by ``ImageFormat/init(detecting:)``, if it is one of ``formats``.
    /// - Parameter bytes: the beginning of a file.
    public func format(of bytes: Span<UInt8>) -> ImageFormat? {
        guard let format = ImageFormat(detecting: bytes), formats.contains(format) else { return nil }
        return format
    }

    /// Reads the header with `ImageHeader(parsing:)`, for formats that ``ImageFormat`` names.
    /// - Parameter bytes: the file, or its beginning.
    public func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader {
        try ImageHeader(parsing: bytes)
    }

    /// Checks with `ImageHeader.checkComplete(_:)`, which accepts unknown formats.
    /// - Parameter bytes: the whole file.
    public func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        try ImageHeader.checkComplete(bytes)
    }

    /// Decodes to fit or fill. To fill a size, it decodes the image no larger than needed, by the size in its header,
    /// and crops it.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode; nil for the image's own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        guard let sizing, sizing.mode != .fit else {
            return try decode(bytes, fitting: sizing?.target, limits: limits)
        }
        let box = try header(of: bytes).size.map { sizing.box(for: $0) }
        return try decode(bytes, fitting: box, limits: limits).resized(to: sizing)
    }
}

/// A decoder that resizes while it decodes: it implements ``ImageDecoding/decode(_:sizing:limits:)``, and
/// ``ImageDecoding/decode(_:fitting:limits:)`` comes from that. The decoders of this module are such.
public protocol ResizingDecoder: ImageDecoding {}

extension ResizingDecoder {
    /// Decodes to fit; see ``decode(_:sizing:limits:)``.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - target: the box to fit the upright image into, without enlarging; nil for its own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        try decode(bytes, sizing: target.map { ImageSizing($0) }, limits: limits)
    }
}

/// Why a file cannot be decoded. Offsets are in bytes from the beginning of the file.
public enum ImageDecodingError: Error, Sendable, Hashable {
    /// The file ends at `offset`, before its data is complete.
    case truncated(offset: Int)
    /// The part `segment` at `offset` violates the format.
    case corrupt(segment: String, offset: Int)
    /// The file may be valid, but uses an unsupported feature ("WebP", "CMYK JPEG").
    case unsupported(feature: String)
    /// The header announces `value`, more than the `maximum` of `limit`.
    case tooLarge(Limit, value: Int, maximum: Int)
    /// The first bytes belong to no known image format.
    case unrecognized

    /// Whether the file is damaged, and may have a picture all the same: neither refused nor unknown.
    package var isDamage: Bool {
        switch self {
        case .truncated, .corrupt: true
        case .unsupported, .tooLarge, .unrecognized: false
        }
    }

    /// The limits that are checked before any allocation.
    public enum Limit: String, Sendable, Hashable, CaseIterable {
        /// The bytes of the file.
        case inputBytes = "bytes"
        /// The pixels on the longer side.
        case side = "pixels a side"
        /// The pixels in total.
        case pixels = "pixels"
        /// The scans of a progressive JPEG.
        case scans = "scans"
        /// The memory of the decoding.
        case memory = "bytes of memory"
    }
}

extension ImageDecodingError: CustomStringConvertible, LocalizedError {
    /// As `description`.
    public var errorDescription: String? { description }

    /// One lower-case phrase, to follow the file's name and a colon.
    public var description: String {
        switch self {
        case .truncated(let offset): "cut off after \(offset) bytes"
        case .corrupt(let segment, let offset): "corrupt at byte \(offset): \(segment)"
        case .unsupported(let feature): "decoding of \(feature) is not supported"
        case .tooLarge(let limit, let value, let maximum):
            "too large: \(value) \(limit.rawValue), at most \(maximum) allowed"
        case .unrecognized: "not an image of a known format"
        }
    }
}

/// The limits for a file, checked against its header before any allocation.
public struct DecodingLimits: Sendable, Hashable {
    /// The most bytes of the file; 64 MiB by default.
    public var inputBytes: Int
    /// The most pixels on the longer side; 65,535 by default, and never more.
    public var side: Int
    /// The most pixels in total; 500 million by default.
    public var pixels: Int
    /// The most bytes that decoding takes, the bitmap included, at the wanted size; 512 MiB by default. A JPEG or WebP
    /// takes less at a smaller size. A loader decodes several files at once only within this limit.
    public var memory: Int
    /// The most scans of a JPEG; 100 by default. Encoders write 10, the most thorough optimisers about 20.
    public var scans: Int

    /// Creates limits; each default is that of its property.
    /// - Parameters:
    ///   - inputBytes: the most bytes of the file.
    ///   - side: the most pixels on the longer side.
    ///   - pixels: the most pixels in total.
    ///   - memory: the most bytes that decoding takes.
    ///   - scans: the most scans of a JPEG.
    public init(
        inputBytes: Int = 64 << 20, side: Int = 65_535, pixels: Int = 500_000_000, memory: Int = 512 << 20,
        scans: Int = 100
    ) {
        self.inputBytes = inputBytes
        self.side = side
        self.pixels = pixels
        self.memory = memory
        self.scans = scans
    }

    /// The default limits.
    public static let standard = DecodingLimits()

    /// No limits, for what allocates nothing.
    static let unlimited = DecodingLimits(
        inputBytes: .max, side: .max, pixels: .max, memory: .max, scans: .max)

    /// Throws `tooLarge` for a file of more than ``inputBytes``.
    /// - Parameter count: the length of the file, in bytes.
    public func check(inputBytes count: Int) throws(ImageDecodingError) {
        guard count <= inputBytes else { throw .tooLarge(.inputBytes, value: count, maximum: inputBytes) }
    }

    /// Throws `tooLarge` for a decoding that takes more than ``memory``.
    /// - Parameter bytes: what it takes.
    package func check(memory bytes: Int) throws(ImageDecodingError) {
        guard bytes <= memory else { throw .tooLarge(.memory, value: bytes, maximum: memory) }
    }

    /// The upper bound of `side`: the greatest side of a JPEG, for which 32-bit sums suffice when averaging.
    static let longestSide = 65_535

    /// Throws `tooLarge` for an image of more than ``side`` or ``pixels``.
    /// - Parameter size: the size in the file's header.
    public func check(_ size: ImageSize) throws(ImageDecodingError) {
        let longer = max(size.width, size.height)
        let longest = min(side, Self.longestSide)
        guard longer <= longest else { throw .tooLarge(.side, value: longer, maximum: longest) }
        let area = size.width * size.height
        guard area <= pixels else { throw .tooLarge(.pixels, value: area, maximum: pixels) }
    }
}
