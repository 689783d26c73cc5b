/// What callers, or rows of a list, have in common when one load serves them: the image, its size, the policy and the
/// expected bytes. Their priorities may differ.
struct LoadKey: Hashable, Sendable {
    let image: CacheKey
    /// The key of its file, which is the same for all sizes.
    let file: CacheKey
    let policy: ImageRequest.CachePolicy
    let checksum: String?

    init(_ request: ImageRequest) {
        image = request.imageKey
        file = request.key
        policy = request.cachePolicy
        checksum = request.checksum
    }

    /// Feeds the hash that is ready made: the rest hardly ever tells two loads apart.
    func hash(into hasher: inout Hasher) { hasher.combine(image) }
}
