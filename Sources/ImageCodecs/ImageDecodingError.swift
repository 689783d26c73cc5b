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
    }
}

extension ImageDecodingError: CustomStringConvertible {
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
