/// The decoders a program uses, in order of preference.
public struct ImageDecoders: Sendable {
    /// The decoders, the preferred first.
    public let decoders: [any ImageDecoding]

    /// Makes a list; the first decoder that reads a format gets it.
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

    /// Decodes a file by its first bytes. With a `target` the picture is made to fit into it, never enlarged.
    ///
    /// Throws `unrecognised` for bytes of no known format, `unsupported` with the format's name when no decoder
    /// reads it, and what the decoder throws. Runs for milliseconds on the caller's thread.
    public func decode(
        _ bytes: Span<UInt8>, fitting target: ImageSize? = nil, limits: DecodingLimits = .standard
    ) throws(ImageDecodingError) -> Bitmap {
        guard let format = ImageFormat(detecting: bytes) else { throw .unrecognised }
        guard let decoder = decoders.first(where: { $0.formats.contains(format) }) else {
            throw .unsupported(feature: format.displayName)
        }
        return try decoder.decode(bytes, fitting: target, limits: limits)
    }

    /// Decodes a file given as an array; as `decode(_:fitting:limits:)` with a span.
    public func decode(
        _ bytes: [UInt8], fitting target: ImageSize? = nil, limits: DecodingLimits = .standard
    ) throws(ImageDecodingError) -> Bitmap {
        try decode(bytes.span, fitting: target, limits: limits)
    }
}
