import FoundationEssentials
import HTTPSemantics
import LazyImages
package import PictureService

/// The address of a picture: its signature, its recipe and its source.
///
///     /image/-/w342/aHR0cHM6Ly9leGFtcGxlLm9yZy9hLmpwZw
///     /image/2026a.8pXq…43 characters/342x513.fill.q60/aHR0cHM6Ly9leGFtcGxlLm9yZy9hLmpwZw
///
/// The source is an absolute address in base64url, and the last segment. So a load balancer finds it with one
/// expression and sends all sizes of a picture to one instance. The signature is `-` for none, or `SigningKeys` made it
/// over `/recipe/source`.
package struct PictureAddress: Hashable, Sendable {
    /// As the client sent it, not yet verified; nil for none.
    package let signature: String?
    package let recipe: PictureRecipe
    package let source: PictureSource

    /// The first segment of the path.
    package static let folder = "image"

    /// An unsigned address.
    package init(_ recipe: PictureRecipe, of source: PictureSource) {
        (signature, self.recipe, self.source) = (nil, recipe, source)
    }

    /// An address signed with the first key.
    package init(_ recipe: PictureRecipe, of source: PictureSource, signedBy keys: SigningKeys) {
        signature = keys.signature(of: Self.message(recipe, source))
        (self.recipe, self.source) = (recipe, source)
    }

    /// Reads the segments of a path, `image` first.
    /// - Throws: `.malformedAddress` or `.malformedRecipe`. `PictureRules` decides whether the address may be answered.
    package init(segments: [String]) throws(PictureRefusal) {
        guard segments.count == 4, segments[0] == Self.folder, !segments[1].isEmpty,
            let bytes = Base64URL.decode(segments[3]), let text = String(validating: bytes, as: UTF8.self)
        else { throw .malformedAddress }
        recipe = try PictureRefusal.recipe(segments[2])
        source = try PictureSource(text)
        signature = segments[1] == Self.unsigned ? nil : segments[1]
    }

    /// The path, with its leading slash.
    package var path: String {
        "/\(Self.folder)/\(signature ?? Self.unsigned)" + Self.message(recipe, source)
    }

    /// Whether one of the keys made the signature for this recipe and source.
    package func isSigned(by keys: SigningKeys?) -> Bool {
        guard let signature, let keys else { return false }
        return keys.accept(signature, of: Self.message(recipe, source))
    }

    private static let unsigned = "-"

    /// The signed text. Recipe and source have only one spelling, so this is the client's text.
    private static func message(_ recipe: PictureRecipe, _ source: PictureSource) -> String {
        "/\(recipe)/" + Base64URL.encode(source.text.utf8)
    }
}
