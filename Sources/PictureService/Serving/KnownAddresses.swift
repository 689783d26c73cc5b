import LazyImages
import SystemSupport

/// A request's target that the rules allow, and the memory key of its picture: parsed, verified and hashed once.
final class KnownAddress: Sendable {
    let recipe: PictureRecipe
    let original: PictureOriginal
    let recordKey: CacheKey
    /// The key of the picture, and the content it is for.
    private let picture = Lock<(content: String, key: CacheKey)?>(nil)

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
}

/// The most recent targets, so that frequent ones are not parsed again. Keeps the most recently used, between one and
/// two times the limit. Expiry is checked elsewhere.
final class KnownAddresses: Sendable {
    private struct State {
        /// The targets used since the older generation was filled.
        var young: [String: KnownAddress] = [:]
        var old: [String: KnownAddress] = [:]

        mutating func note(_ address: KnownAddress, _ target: String) {
            if young.count >= KnownAddresses.limit {
                old = young
                young = [:]
            }
            young[target] = address
        }
    }

    private let state = Lock(State())

    /// The most entries of one generation. Each takes at most some 4 KiB: longer targets are rare and not kept.
    private static let limit = 4096
    private static let longestTarget = 1024

    subscript(target: String) -> KnownAddress? {
        state.withLock { state in
            if let address = state.young[target] { return address }
            guard let address = state.old[target] else { return nil }
            state.note(address, target)
            return address
        }
    }

    func note(_ address: KnownAddress, _ target: String) {
        guard target.utf8.count <= Self.longestTarget else { return }
        state.withLock { $0.note(address, target) }
    }
}
