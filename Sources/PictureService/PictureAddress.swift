import FoundationEssentials
import HTTPSemantics
import LazyImages

/// The address of a picture: who vouches for it, how it is made, and what of.
///
///     /image/-/w342/aHR0cHM6Ly9leGFtcGxlLm9yZy9hLmpwZw
///     /image/2026a.8pXq…43 characters/342x513.fill.q60/aHR0cHM6Ly9leGFtcGxlLm9yZy9hLmpwZw
///
/// The source is the base64url of an absolute address, last and alone, so that a balancer finds it with one expression and all
/// sizes of a picture meet on one instance. The signature is `-` for none, or that of `SigningKeys` over `/recipe/source`.
package struct PictureAddress: Hashable, Sendable {
    /// As it came, not yet verified; nil for none.
    package let signature: String?
    package let recipe: PictureRecipe
    package let source: PictureSource

    /// The first segment of the path.
    package static let folder = "image"

    /// An address that nobody has signed.
    package init(_ recipe: PictureRecipe, of source: PictureSource) {
        (signature, self.recipe, self.source) = (nil, recipe, source)
    }

    /// An address, signed by the first of the keys.
    package init(_ recipe: PictureRecipe, of source: PictureSource, signedBy keys: SigningKeys) {
        signature = keys.signature(of: Self.message(recipe, source))
        (self.recipe, self.source) = (recipe, source)
    }

    /// Reads the segments of a path, `image` first.
    /// - Throws: `.malformedAddress` or `.malformedRecipe`. Whether it may be answered is for `PictureRules` to say.
    package init(segments: [String]) throws(PictureError) {
        guard segments.count == 4, segments[0] == Self.folder, !segments[1].isEmpty,
            let bytes = Base64URL.decode(segments[3]), let text = String(validating: bytes, as: UTF8.self)
        else { throw .malformedAddress }
        recipe = try PictureRecipe(segments[2])
        source = try PictureSource(text)
        signature = segments[1] == Self.unsigned ? nil : segments[1]
    }

    /// The path, from its slash on.
    package var path: String {
        "/\(Self.folder)/\(signature ?? Self.unsigned)" + Self.message(recipe, source)
    }

    /// Whether one of the keys made the signature for this recipe and source.
    package func isSigned(by keys: SigningKeys?) -> Bool {
        guard let signature, let keys else { return false }
        return keys.accept(signature, of: Self.message(recipe, source))
    }

    private static let unsigned = "-"

    /// What is signed. Both parts have one spelling, so that this is the text as it came.
    private static func message(_ recipe: PictureRecipe, _ source: PictureSource) -> String {
        "/\(recipe)/" + Base64URL.encode(source.text.utf8)
    }
}
