import LazyImages

/// Remembers for a minute why a source gives no picture. Asking again then costs neither a transfer nor a decode.
package final class FailureMemory: Sendable {
    private final class Entry: Sendable {
        let failure: PictureFailure
        init(_ failure: PictureFailure) { self.failure = failure }
    }

    private let entries = MemoryCache<Entry>(
        limit: 4 << 20, timeToLive: .seconds(PictureFreshness.failureLifetime))

    /// The assumed memory of an entry in bytes.
    private static let cost = 512

    package init() {}

    /// The failure of a source within the last minute.
    func failure(of source: CacheKey) -> PictureFailure? { entries.value(for: source)?.failure }

    /// Notes a failure of the source itself. Other failures may pass at any time.
    func record(_ failure: PictureFailure, of source: CacheKey) {
        guard failure.status == .unprocessableContent, failure != .needsMemory else { return }
        entries.store(Entry(failure), for: source, cost: Self.cost)
    }

    func remove(_ source: CacheKey) { entries.remove(source) }
}
