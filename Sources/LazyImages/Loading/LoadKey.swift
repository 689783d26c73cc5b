/// The key by which loads are shared: the image, its size, the cache policy and the checksum. Requests that differ only
/// in priority have equal keys: they share one load, and in a list one state.
package struct LoadKey: Hashable, Sendable {
    package let image: CacheKey
    /// The key of the file, the same for all sizes.
    let file: CacheKey
    let policy: ImageRequest.CachePolicy
    let checksum: String?
    let alternatives: [ImageRequest.Address]

    /// The key of a request.
    /// - Parameter request: the request of a load.
    package init(_ request: ImageRequest) {
        image = request.resultKey
        file = request.key
        policy = request.cachePolicy
        checksum = request.checksum
        alternatives = request.alternatives
    }

    /// Hashes only the image's key, whose hash is known. The other members hardly ever differ.
    package func hash(into hasher: inout Hasher) { hasher.combine(image) }
}
