public import ImageCodecs

/// Why a picture is not made.
public enum PictureError: Error, Hashable, Sendable {
    /// The text is not a recipe.
    case malformedRecipe(String)
    /// The source is not a picture that can be decoded within the limits.
    case notDecodable(ImageDecodingError)
    /// A step of the recipe does not fit this picture. Another recipe may.
    case notProcessable(ImageProcessingError)
    /// The picture cannot be encoded.
    case notEncodable(ImageEncodingError)
}

extension PictureError: CustomStringConvertible {
    /// One line that says what is wrong and what to do.
    public var description: String {
        switch self {
        case .malformedRecipe(let text):
            "\"\(text)\" is not a recipe; write a size such as w342, 342x513, x513 or original, then .fill, steps such as .round12, .q80 or .png, .e and .v"
        case .notDecodable(let error): "\(error)"
        case .notProcessable(let error): "the recipe does not fit the picture: \(error)"
        case .notEncodable(let error): "\(error)"
        }
    }
}
