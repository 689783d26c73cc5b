import ImageCodecs

/// What callers, or rows of a list, have in common when one load serves them: image, size, policy and expected bytes. Their
/// priorities may differ.
struct LoadKey: Hashable, RequestKey {
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

    /// Feeds the hash that is ready made: the rest hardly ever tells two loads apart.
    func hash(into hasher: inout Hasher) { hasher.combine(image) }
}
