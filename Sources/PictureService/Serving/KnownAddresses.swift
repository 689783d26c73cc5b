import LazyImages
import SystemSupport

/// A request's target that the rules have let pass, and where memory has its picture: read, verified and hashed once.
final class KnownAddress: Sendable {
    let recipe: PictureRecipe
    let original: PictureOriginal
    let recordKey: CacheKey
    /// The key of the picture, and of which content.
    private let picture = Lock<(content: String, key: CacheKey)?>(nil)

    init(_ recipe: PictureRecipe, of original: PictureOriginal) {
        self.recipe = recipe
        self.original = original
        recordKey = original.recordKey
    }

    /// What memory has the picture of this content under.
    func pictureKey(_ record: SourceRecord) -> CacheKey {
        picture.withLock { picture in
            if let picture, picture.content == record.content { return picture.key }
            let key = PictureTiers.key(record.key(recipe))
            picture = (record.content, key)
            return key
        }
    }
}

/// The targets of late, so that what is asked for often is not read again. Whether an address has expired is no part of it.
struct KnownAddresses: ~Copyable {
    private let known = Lock<[String: KnownAddress]>([:])

    /// Some 4 KiB each, at most: longer targets are rare, and not worth it.
    private static let limit = 8192
    private static let longestTarget = 1024

    subscript(target: String) -> KnownAddress? { known.withLock { $0[target] } }

    func note(_ address: KnownAddress, _ target: String) {
        guard target.utf8.count <= Self.longestTarget else { return }
        known.withLock { known in
            // Rarely, and cheap to fill again.
            if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
            known[target] = address
        }
    }
}
