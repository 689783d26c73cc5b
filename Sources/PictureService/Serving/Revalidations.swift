import LazyImages
import SystemSupport

/// The sources that are being revalidated while stale pictures of them are sent.
final class Revalidations: Sendable {
    private let running = Lock<Set<CacheKey>>([])

    /// Whether nobody else revalidates the source at the moment. Who is told so does, and says when it has ended.
    func begin(_ source: CacheKey) -> Bool { running.withLock { $0.insert(source).inserted } }

    func end(_ source: CacheKey) { running.withLock { _ = $0.remove(source) } }
}
