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

/// The targets of late, so that what is asked for often is not read again: as many as were used last, between one and two
/// times the limit. Whether an address has expired is no part of it.
final class KnownAddresses: Sendable {
    private struct State {
        /// Those used since the older ones were full.
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

    /// Of either age. Some 4 KiB each, at most: longer targets are rare, and not worth it.
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
