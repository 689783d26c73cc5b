/// Why the bytes of an image were refused. Offsets count bytes from the beginning of the file.
public enum ImageDecodingError: Error, Sendable, Hashable {
    /// The file ends at `offset` although its format promises more.
    case truncated(offset: Int)
    /// The part of the file named `segment`, at `offset`, breaks its format's rules.
    case corrupt(segment: String, offset: Int)
    /// The file may be sound, but uses something that is not decoded here, by name ("WebP", "CMYK JPEG").
    case unsupported(feature: String)
    /// The header promises `value` of what `limit` counts; at most `maximum` is allowed.
    case tooLarge(Limit, value: Int, maximum: Int)
    /// The first bytes are those of no image format known here.
    case unrecognised

    /// What is limited before anything is allocated.
    public enum Limit: String, Sendable, Hashable, CaseIterable {
        /// Bytes of the file.
        case inputBytes = "bytes"
        /// Pixels along the longer side.
        case side = "pixels a side"
        /// Pixels in all.
        case pixels = "pixels"
        /// Scans of a progressive JPEG.
        case scans = "scans"
    }
}

extension ImageDecodingError: CustomStringConvertible {
    /// One lower-case phrase, fit to follow the file's name and a colon.
    public var description: String {
        switch self {
        case .truncated(let offset): "cut off after \(offset) bytes"
        case .corrupt(let segment, let offset): "corrupt at byte \(offset): \(segment)"
        case .unsupported(let feature): "decoding of \(feature) is not supported"
        case .tooLarge(let limit, let value, let maximum):
            "too large: \(value) \(limit.rawValue), at most \(maximum) allowed"
        case .unrecognised: "not an image of a known format"
        }
    }
}
