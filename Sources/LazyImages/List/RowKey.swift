import ImageCodecs

/// What two rows have in common when one load serves both: image, size, policy and expected bytes. Their priorities may
/// differ.
struct RowKey: Hashable {
    let image: CacheKey
    let size: ImageSize?
    let policy: ImageRequest.CachePolicy
    let checksum: String?

    init(_ request: ImageRequest) {
        image = request.key
        size = request.targetSize
        policy = request.cachePolicy
        checksum = request.checksum
    }

    /// Feeds the hash that is ready made: the rest hardly ever tells two rows apart.
    func hash(into hasher: inout Hasher) { hasher.combine(image) }
}
