/// What one load serves: the image, its size, the cache policy and the expected checksum. Requests that differ in nothing
/// but their priority have equal keys. They share one load, and in a list one state.
public struct LoadKey: Hashable, Sendable {
    let image: CacheKey
    /// The key of its file, which is the same for all sizes.
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

    /// Feeds the cache key's hash, which was computed with the request. The other members hardly ever differ.
    public func hash(into hasher: inout Hasher) { hasher.combine(image) }
}
