/// The decoders of a program, in order of preference.
///
/// Lists with decoders of the same types, in the same order, are equal.
public struct ImageDecoders: Sendable, Hashable {
    /// The decoders, most preferred first.
    public let decoders: [any ImageDecoding]

    /// Creates a list of decoders.
    /// - Parameter decoders: the decoders; the first that recognises a file decodes it.
    public init(_ decoders: [any ImageDecoding]) {
        self.decoders = decoders
    }

    /// The types of the decoders, as a part of a cache key.
    package var name: String { decoders.map { String(reflecting: type(of: $0)) }.joined(separator: ",") }

    /// Whether the decoders have the same types, in the same order.
    public static func == (one: Self, other: Self) -> Bool { one.name == other.name }

    /// Hashes the types.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The decoders of this module: JPEG, PNG, WebP, GIF and BMP.
    public static let standard = ImageDecoders([
        JPEGDecoder(), PNGDecoder(), WebPDecoder(), GIFDecoder(), BMPDecoder(),
    ])

    /// The media types that can be decoded, for an `Accept` header, in order of preference and then by name.
    public var mediaTypes: [String] {
        var types: [String] = []
        for decoder in decoders {
            for type in decoder.formats.map(\.mediaType).sorted() where !types.contains(type) {
                types.append(type)
            }
        }
        return types
    }

    /// The format with a name, if a decoder reads it.
    package func format(named name: String) -> ImageFormat? {
        decoders.lazy.flatMap(\.formats).first { $0.name == name }
    }

    /// The format of the file that begins with `bytes`, if a decoder or ``ImageFormat`` recognises it; otherwise nil.
    /// - Parameter bytes: the beginning of a file.
    public func format(of bytes: Span<UInt8>) -> ImageFormat? {
        for decoder in decoders {
            if let format = decoder.format(of: bytes) { return format }
        }
        return ImageFormat(detecting: bytes)
    }

    /// Reads the header of a file without decoding it, for every format that `format(of:)` recognises.
    ///
    /// Throws `unrecognized` for an unknown format, `.truncated(offset:)` if the bytes end before the size, and
    /// `corrupt`.
    /// - Parameter bytes: the file, or its beginning.
    public func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader {
        guard let decoder = decoder(of: bytes) else { return try ImageHeader(parsing: bytes) }
        return try decoder.header(of: bytes)
    }

    /// Checks without decoding that a file is complete, by its decoder or by `ImageHeader.checkComplete(_:)`.
    ///
    /// Throws `.truncated(offset:)` if something is missing, and `corrupt`.
    /// - Parameter bytes: the whole file.
    public func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        guard let decoder = decoder(of: bytes) else { return try ImageHeader.checkComplete(bytes) }
        try decoder.checkComplete(bytes)
    }

    /// Reads the header, and the damage that `checkComplete(_:)` finds: `header(of:)` and that in one call.
    package func structure(
        of bytes: Span<UInt8>
    ) throws(ImageDecodingError) -> (header: ImageHeader, damage: ImageDecodingError?) {
        let decoder = decoder(of: bytes)
        let header = if let decoder { try decoder.header(of: bytes) } else { try ImageHeader(parsing: bytes) }
        do throws(ImageDecodingError) {
            if let decoder { try decoder.checkComplete(bytes) } else { try ImageHeader.checkComplete(bytes) }
            return (header, nil)
        } catch {
            if !error.isDamage { throw error }
            return (header, error)
        }
    }

    func decoder(of bytes: Span<UInt8>) -> (any ImageDecoding)? {
        decoders.first { $0.format(of: bytes) != nil }
    }

    /// Decodes a file in a format detected from its first bytes. Throws as `decode(_:sizing:limits:)`.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - target: the box to fit the image into, without enlarging; nil for its own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize? = nil, limits: DecodingLimits = .standard
    ) throws(ImageDecodingError) -> Bitmap {
        try decode(bytes, sizing: target.map { ImageSizing($0) }, limits: limits)
    }

    /// Decodes a file in a format detected from its first bytes, resized and cropped as `sizing` says.
    ///
    /// Throws `unrecognized` for an unknown format, `unsupported` with the format's name if no decoder reads it, and
    /// the decoder's errors. Takes milliseconds on the caller's thread.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode; nil for the image's own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits = .standard
    ) throws(ImageDecodingError) -> Bitmap {
        if let decoder = decoder(of: bytes) {
            // Ignored: the decoder reports the reason.
            if let size = try? decoder.header(of: bytes).size {
                try limits.check(size)
                if let memory = try? memory(toDecode: bytes, of: size, sizing: sizing) {
                    try limits.check(memory: memory)
                }
            }
            return try decoder.decode(bytes, sizing: sizing, limits: limits)
        }
        guard let format = ImageFormat(detecting: bytes) else { throw .unrecognized }
        throw .unsupported(feature: format.displayName)
    }

    /// Decodes a file to make several sizes from: a JPEG, a WebP or a large PNG at the smallest of 1/2, 1/4 and 1/8 that
    /// is not below `least`, anything else at its own size. Throws as `decode(_:sizing:limits:)`.
    package func decode(
        _ bytes: Span<UInt8>, notBelow least: ImageSize?, limits: DecodingLimits = .standard
    ) throws(ImageDecodingError) -> Bitmap {
        switch decoder(of: bytes) {
        case let jpeg as JPEGDecoder: return try jpeg.decode(bytes, notBelow: least, limits: limits)
        case let webp as WebPDecoder: return try webp.decode(bytes, notBelow: least, limits: limits)
        case let png as PNGDecoder:
            if let size = try png.header(of: bytes).size { try limits.check(size) }
            let size = try PNGDecoder.plan(for: bytes, notBelow: least).size
            return try decode(bytes, sizing: ImageSizing(size), limits: limits)
        default: return try decode(bytes, sizing: nil, limits: limits)
        }
    }

    /// Like `decode(_:notBelow:limits:)`, but to planes, for files whose plan has `planes`. Throws `unsupported` for
    /// others.
    package func decodePlanes(
        _ bytes: Span<UInt8>, notBelow least: ImageSize?, limits: DecodingLimits = .standard
    ) throws(ImageDecodingError) -> PlanarPicture {
        guard let jpeg = decoder(of: bytes) as? JPEGDecoder,
            try JPEGDecoder.plan(for: bytes, notBelow: least).planes != nil
        else { throw .unsupported(feature: "planes of this format") }
        return try jpeg.decodePlanes(bytes, notBelow: least, limits: limits)
    }
}

extension ImageDecoders {
    /// The format of a file in an array; see `format(of:)`.
    /// - Parameter bytes: the beginning of a file.
    public func format(of bytes: [UInt8]) -> ImageFormat? { format(of: bytes.span) }

    /// Reads the header of a file in an array; see `header(of:)`.
    /// - Parameter bytes: the file, or its beginning.
    public func header(of bytes: [UInt8]) throws(ImageDecodingError) -> ImageHeader {
        try header(of: bytes.span)
    }

    /// Checks a file in an array; see `checkComplete(_:)`.
    /// - Parameter bytes: the whole file.
    public func checkComplete(_ bytes: [UInt8]) throws(ImageDecodingError) {
        try checkComplete(bytes.span)
    }

    /// Decodes a file in memory; see `decode(_:fitting:limits:)`.
    /// - Parameters:
    ///   - bytes: the whole file, as `[UInt8]` or `Data`.
    ///   - target: the box to fit the image into, without enlarging; nil for its own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: some Sequence<UInt8>, fitting target: ImageSize? = nil, limits: DecodingLimits = .standard
    ) throws(ImageDecodingError) -> Bitmap {
        try decode([UInt8](bytes).span, fitting: target, limits: limits)
    }

    /// Decodes a file in memory; see `decode(_:sizing:limits:)`.
    /// - Parameters:
    ///   - bytes: the whole file, as `[UInt8]` or `Data`.
    ///   - sizing: the size and the content mode; nil for the image's own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: some Sequence<UInt8>, sizing: ImageSizing?, limits: DecodingLimits = .standard
    ) throws(ImageDecodingError) -> Bitmap {
        try decode([UInt8](bytes).span, sizing: sizing, limits: limits)
    }
}
