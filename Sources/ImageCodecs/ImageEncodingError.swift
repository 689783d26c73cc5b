/// Why a bitmap cannot be written as a file of a format.
public enum ImageEncodingError: Error, Sendable, Hashable {
    /// Some pixels are not opaque, and the format has no transparency.
    case transparent
    /// The longer side of the bitmap has `side` pixels; the format has at most `maximum`.
    case tooLarge(side: Int, maximum: Int)
}

extension ImageEncodingError: CustomStringConvertible {
    /// One lower-case phrase that says what to do.
    public var description: String {
        switch self {
        case .transparent: "the picture has transparency, which JPEG has not: write it as PNG"
        case .tooLarge(let side, let maximum):
            "the picture has a side of \(side) pixels, JPEG at most \(maximum): make it smaller"
        }
    }
}
