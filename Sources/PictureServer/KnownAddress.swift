import LazyImages
import SystemSupport
import PictureService

/// A request's target that the rules allow, and the memory key of its picture: parsed and verified once. Expiry is
/// checked elsewhere.
final class KnownAddress: Sendable {
    /// The most recent targets, so that frequent ones are not parsed again.
    typealias Memory = MemoryCache<KnownAddress>

    let recipe: PictureRecipe
    let original: PictureOriginal
    let recordKey: CacheKey
    /// The key of the picture, and the content it is for.
    private let picture = Lock<(content: String, key: CacheKey)?>(nil)

    /// The most bytes of a memory. A long target is rare and not kept.
    private static let limit = 16 << 20
    private static let longest = 4 << 10

    init(_ recipe: PictureRecipe, of original: PictureOriginal) {
        self.recipe = recipe
        self.original = original
        recordKey = original.recordKey
    }

    /// The memory key of the picture of this content.
    func pictureKey(_ record: SourceRecord) -> CacheKey {
        picture.withLock { picture in
            if let picture, picture.content == record.content { return picture.key }
            let key = PictureTiers.key(record.key(recipe))
            picture = (record.content, key)
            return key
        }
    }

    static func makeMemory() -> Memory { MemoryCache(limit: limit, entryLimit: longest) }

    static func key(_ target: String) -> CacheKey { CacheKey(inMemory: [target]) }

    /// Remembers the address. Its text is in memory about three times.
    func keep(in memory: Memory, as target: String) {
        memory.store(self, for: Self.key(target), cost: 1024 + 3 * target.utf8.count)
    }
}
