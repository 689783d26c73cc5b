/// The decoders a program uses, in order of preference.
public struct ImageDecoders: Sendable {
    /// The decoders, the preferred first.
    public let decoders: [any ImageDecoding]

    /// Makes a list; the first decoder that recognises a file gets it.
    /// - Parameter decoders: the decoders; the first that recognises a file decodes it.
    public init(_ decoders: [any ImageDecoding]) {
        self.decoders = decoders
    }

    /// JPEG and PNG, as decoded by this module.
    public static let standard = ImageDecoders([JPEGDecoder(), PNGDecoder()])

    /// The media types that can be decoded, such as an `Accept` header lists, sorted by the list and by name.
    public var mediaTypes: [String] {
        var types: [String] = []
        for decoder in decoders {
            for type in decoder.formats.map(\.mediaType).sorted() where !types.contains(type) {
                types.append(type)
            }
        }
        return types
    }

    /// The format of the file that begins with `bytes`: a decoder's, else one that ``ImageFormat`` names though nothing
    /// here decodes it; nil for others.
    /// - Parameter bytes: the beginning of a file.
    public func format(of bytes: Span<UInt8>) -> ImageFormat? {
        for decoder in decoders {
            if let format = decoder.format(of: bytes) { return format }
        }
        return ImageFormat(detecting: bytes)
    }

    /// What the header of a file says, without decoding: of every format that `format(of:)` tells.
    ///
    /// Throws `unrecognised` for bytes of no known format, `truncated` when they end before the size, and `corrupt`.
    /// - Parameter bytes: the file, or its beginning.
    public func header(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader {
        guard let decoder = decoder(of: bytes) else { return try ImageHeader(parsing: bytes) }
        return try decoder.header(of: bytes)
    }

    /// Checks that a file is all there, without decoding it: as far as its decoder, else `ImageHeader.checkComplete(_:)`,
    /// can tell.
    ///
    /// Throws `truncated` when something is missing, and `corrupt`.
    /// - Parameter bytes: the whole file.
    public func checkComplete(_ bytes: Span<UInt8>) throws(ImageDecodingError) {
        guard let decoder = decoder(of: bytes) else { return try ImageHeader.checkComplete(bytes) }
        try decoder.checkComplete(bytes)
    }

    /// What the header of a file says that is all there: `header(of:)` and `checkComplete(_:)` in one look.
    package func wholeHeader(of bytes: Span<UInt8>) throws(ImageDecodingError) -> ImageHeader {
        guard let decoder = decoder(of: bytes) else {
            let header = try ImageHeader(parsing: bytes)
            try ImageHeader.checkComplete(bytes)
            return header
        }
        let header = try decoder.header(of: bytes)
        try decoder.checkComplete(bytes)
        return header
    }

    func decoder(of bytes: Span<UInt8>) -> (any ImageDecoding)? {
        for decoder in decoders where decoder.format(of: bytes) != nil { return decoder }
        return nil
    }

    /// Decodes a file by its first bytes. With a `target` the picture is made to fit into it, never enlarged. Throws as
    /// `decode(_:sizing:limits:)`.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - target: the box that the picture is to fit into; nil for its own size.
    ///   - limits: how much the file may ask for.
    public func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize? = nil, limits: DecodingLimits = .standard
    ) throws(ImageDecodingError) -> Bitmap {
        try decode(bytes, sizing: target.map { ImageSizing($0) }, limits: limits)
    }

    /// Decodes a file by its first bytes, as `sizing` wants it; at its own size without one.
    ///
    /// Throws `unrecognised` for bytes of no known format, `unsupported` with the format's name when no decoder
    /// reads it, and what the decoder throws. Runs for milliseconds on the caller's thread.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode wanted; nil for its own size.
    ///   - limits: how much the file may ask for.
    public func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits = .standard
    ) throws(ImageDecodingError) -> Bitmap {
        if let decoder = decoder(of: bytes) {
            return try decoder.decode(bytes, sizing: sizing, limits: limits)
        }
        guard let format = ImageFormat(detecting: bytes) else { throw .unrecognised }
        throw .unsupported(feature: format.displayName)
    }

    /// Decodes a file that several sizes are to be made of: a JPEG at 1/2, 1/4 or 1/8, the smallest that is not below `least`;
    /// others, and without one, at their own size. Throws as `decode(_:sizing:limits:)`.
    package func decode(
        _ bytes: Span<UInt8>, notBelow least: ImageSize?, limits: DecodingLimits = .standard
    ) throws(ImageDecodingError) -> Bitmap {
        guard let jpeg = decoder(of: bytes) as? JPEGDecoder else {
            return try decode(bytes, sizing: nil, limits: limits)
        }
        return try jpeg.decode(bytes, notBelow: least, limits: limits)
    }

    /// As `decode(_:notBelow:limits:)`, but to planes: of files whose plan has `planes`. Throws `unsupported` for others.
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
    /// The format of a file given as an array; as `format(of:)` with a span.
    /// - Parameter bytes: the beginning of a file.
    public func format(of bytes: [UInt8]) -> ImageFormat? { format(of: bytes.span) }

    /// Reads the header of a file given as an array; as `header(of:)` with a span.
    /// - Parameter bytes: the file, or its beginning.
    public func header(of bytes: [UInt8]) throws(ImageDecodingError) -> ImageHeader {
        try header(of: bytes.span)
    }

    /// Checks a file given as an array; as `checkComplete(_:)` with a span.
    /// - Parameter bytes: the whole file.
    public func checkComplete(_ bytes: [UInt8]) throws(ImageDecodingError) {
        try checkComplete(bytes.span)
    }

    /// Decodes a file given as an array; as `decode(_:fitting:limits:)` with a span.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - target: the box that the picture is to fit into; nil for its own size.
    ///   - limits: how much the file may ask for.
    public func decode(
        _ bytes: [UInt8], fitting target: ImageSize? = nil, limits: DecodingLimits = .standard
    ) throws(ImageDecodingError) -> Bitmap {
        try decode(bytes.span, fitting: target, limits: limits)
    }

    /// Decodes a file given as an array; as `decode(_:sizing:limits:)` with a span.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode wanted; nil for its own size.
    ///   - limits: how much the file may ask for.
    public func decode(
        _ bytes: [UInt8], sizing: ImageSizing?, limits: DecodingLimits = .standard
    ) throws(ImageDecodingError) -> Bitmap {
        try decode(bytes.span, sizing: sizing, limits: limits)
    }
}
