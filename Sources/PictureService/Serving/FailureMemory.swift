import LazyImages

/// Remembers for a minute why a source gives no picture, so that asking again takes neither transfer nor decode.
package final class FailureMemory: Sendable {
    private final class Entry: Sendable {
        let failure: PictureFailure
        init(_ failure: PictureFailure) { self.failure = failure }
    }

    private let entries = MemoryCache<Entry>(
        limit: 4 << 20, timeToLive: .seconds(PictureFreshness.failureLifetime))

    /// What one is taken to need, in bytes.
    private static let cost = 512

    package init() {}

    /// Why there was no picture of a source within the last minute.
    func failure(of source: CacheKey) -> PictureFailure? { entries.value(for: source)?.failure }

    /// Notes a failure, if it is the source's own: others may pass at once.
    func note(_ failure: PictureFailure, of source: CacheKey) {
        guard failure.status == .unprocessableContent else { return }
        entries.store(Entry(failure), for: source, cost: Self.cost)
    }

    func forget(_ source: CacheKey) { entries.remove(source) }
}
