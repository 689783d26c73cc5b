package import FoundationEssentials
package import HTTPSemantics
import LazyImages
package import PictureService
import SystemSupport

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

    /// An address signed with the first key; unsigned without keys.
    package init(_ recipe: PictureRecipe, of source: PictureSource, signedBy keys: SigningKeys? = nil) {
        signature = keys?.signature(of: Self.message(recipe, source))
        (self.recipe, self.source) = (recipe, source)
    }

    /// Reads the segments of a path, `image` first.
    /// - Throws: `.malformedAddress` or `.malformedRecipe`. `PictureRules` decides whether the address may be answered.
    package init(segments: [String]) throws(PictureFailure) {
        guard segments.count == 4, segments[0] == Self.folder, !segments[1].isEmpty,
            let bytes = Base64URL.decode(segments[3]), let text = String(validating: bytes, as: UTF8.self)
        else { throw .malformedAddress }
        recipe = try PictureFailure.recipe(segments[2])
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

    /// The segment in place of a signature.
    package static let unsigned = "-"

    /// The signed text. Recipe and source have only one spelling, so this is the client's text.
    private static func message(_ recipe: PictureRecipe, _ source: PictureSource) -> String {
        "/\(recipe)/" + Base64URL.encode(source.text.utf8)
    }
}

/// The absolute address of a picture's source.
package struct PictureSource: Hashable, Sendable {
    /// The text as written, since this text is signed.
    package let text: String
    package let url: URL
    /// The host and port to connect to; nil for another scheme, or for an address with user information.
    package let origin: WebOrigin?

    /// Reads an address as a person types it: blanks and accents may stand as they are. `PictureRules` decides whether it
    /// may be fetched.
    /// - Throws: `.malformedAddress` if the text is not an absolute address, or has control characters.
    package init(_ text: String) throws(PictureFailure) {
        let encoded = URL.percentEncoded(text)
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), let url = URL(string: encoded),
            url.scheme != nil
        else { throw .malformedAddress }
        (self.text, self.url, origin) = (text, url, WebOrigin(encoded))
    }
}

/// The source of a picture: one at an address, or one of the service itself, such as an uploaded poster.
package struct PictureOriginal: Sendable {
    /// Loads its file.
    let request: ImageRequest
    /// The address, or the picture's name, for messages.
    let name: String
    /// Nil for a picture of the service itself.
    package let source: PictureSource?
    /// Whether only a signature allows fetching it.
    let isSigned: Bool
    /// The tag of the service's own picture, which changes with its bytes, and the Cache-Control of pictures of it.
    let own: (tag: String, cacheControl: String)?
    /// What the picture shows, for the name of a saved file; nil for none.
    package var title: String?

    /// Whether the shared tier may have it. The names of this machine's own pictures mean other pictures elsewhere.
    var isShared: Bool { source != nil }

    /// The host and port that count its transfers, as in a downloader. Empty for the service's own, which has none.
    var host: String { source?.origin?.hostAndPort ?? "" }

    private static let readers = BlockingThreads(count: 2, name: "marquee-poster")

    /// The picture at an address.
    package init(_ source: PictureSource, isSigned: Bool = false) {
        request = ImageRequest(source.url)
        name = source.url.displayText
        (self.source, self.isSigned, own) = (source, isSigned, nil)
    }

    /// A picture of the service itself.
    /// - Parameters:
    ///   - name: unique in the service.
    ///   - tag: changes with the bytes.
    ///   - cacheControl: the Cache-Control of pictures of it.
    ///   - read: reads the bytes. May block.
    package init(
        name: String, tag: String, cacheControl: String, read: @escaping @Sendable () throws -> [UInt8]
    ) {
        request = ImageRequest(id: "\(name) \(tag)") {
            try await Self.readers.run { Result { try read() } }.get()
        }
        self.name = name
        (source, isSigned, own) = (nil, false, (tag, cacheControl))
    }
}

/// A request's target that the rules allow, and the memory key of its picture: parsed and verified once. Expiry is
/// checked elsewhere.
final class KnownAddress: Sendable {
    /// The most recent targets, so that frequent ones are not parsed again.
    typealias Memory = MemoryCache<KnownAddress>

    /// How the picture of one content is stored and tagged. Source, recipe and encoder decide its bytes, so the entity
    /// tag is the same on every machine.
    struct Name: Sendable {
        let key: CacheKey
        let entityTag: String

        /// Whether no cache may ever use it stale.
        let mustRevalidate: Bool

        fileprivate init(_ recipe: PictureRecipe, of record: LoadedFile) {
            let control = CacheKind.shared.control(record.fields ?? HeaderFields())
            mustRevalidate = control.mustRevalidate || control.noCache
            let digest = Picture.key(recipe, ofContent: record.content).hexadecimal
            key = CacheKey(id: "picture \(digest)")
            // Half of it is enough to distinguish pictures.
            entityTag = "\"\(digest.prefix(32))\""
        }
    }

    let recipe: PictureRecipe
    let original: PictureOriginal
    /// Whether somebody vouches that the picture at this address never changes: the signer, or the service for a stored
    /// picture whose present tag the recipe has. A stranger may write any tag.
    let isImmutable: Bool
    /// The name of the picture, and the record it is for.
    private let named = Lock<(record: LoadedFile, name: Name)?>(nil)

    /// The most bytes of a memory. A long target is rare and not kept.
    private static let limit = 16 << 20
    private static let longest = 4 << 10

    /// - Parameter isSigned: whether the address has a signature that was verified.
    init(_ recipe: PictureRecipe, of original: PictureOriginal, isSigned: Bool = false) {
        self.recipe = recipe
        self.original = original
        isImmutable = recipe.tag != nil && (isSigned || recipe.tag == original.own?.tag)
    }

    /// The name of the picture of a record's content.
    func name(of record: LoadedFile) -> Name {
        named.withLock { named in
            if let named, named.record === record { return named.name }
            let name = Name(recipe, of: record)
            named = (record, name)
            return name
        }
    }

    static func makeMemory() -> Memory { MemoryCache(limit: limit, entryLimit: longest) }

    static func key(_ target: String) -> CacheKey { CacheKey(inMemory: [target]) }

    /// Remembers the address. Its text is in memory about three times.
    func keep(in memory: Memory, as target: String) {
        memory.store(self, for: Self.key(target), cost: 1024 + 3 * target.utf8.count)
    }
}
