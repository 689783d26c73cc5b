/// The key by which loads are shared: the image, its size, the cache policy and the checksum. Requests that differ only
/// in priority have equal keys: they share one load, and in a list one state.
public struct LoadKey: Hashable, Sendable {
    package let image: CacheKey
    /// The key of the file, the same for all sizes.
    let file: CacheKey
    let policy: ImageRequest.CachePolicy
    let checksum: String?

    /// The key of a request.
    /// - Parameter request: the request of a load.
    public init(_ request: ImageRequest) {
        image = request.imageKey
        file = request.key
        policy = request.cachePolicy
        checksum = request.checksum
    }

    /// Hashes only the image's key, whose hash is known. The other members hardly ever differ.
    public func hash(into hasher: inout Hasher) { hasher.combine(image) }
}
