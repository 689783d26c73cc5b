/// Why a bitmap cannot be encoded in a format.
public enum ImageEncodingError: Error, Sendable, Hashable {
    /// The bitmap is not opaque, and the format has no transparency.
    case transparent
    /// The longer side has `side` pixels; the format allows at most `maximum`.
    case tooLarge(side: Int, maximum: Int)
}

extension ImageEncodingError: CustomStringConvertible {
    /// One lower-case phrase with a remedy.
    public var description: String {
        switch self {
        case .transparent: "the picture has transparency, but JPEG has none: write it as PNG"
        case .tooLarge(let side, let maximum):
            "the picture has a side of \(side) pixels, and JPEG allows at most \(maximum): make it smaller"
        }
    }
}
