import LazyImages
import MovieCatalogue
import SystemSupport

/// Reads the catalogue for the browser, and tells of the films as they come.
struct CatalogueReader: Sendable {
    private let session: Session
    private let clock = WallClock.system

    /// - Parameter session: one that leaves the screen alone.
    init(_ session: Session) { self.session = session }

    /// Reads all of it.
    /// - Parameters:
    ///   - shown: the films of a refresh, which the new ones are compared with and which stay where they cannot be had. Nil for
    ///     the first reading, which gives the cached films where the server does not answer.
    ///   - tell: hears of it. The last is `whole` or `failed`.
    func read(replacing shown: Catalogue?, tell: @escaping @Sendable (CatalogueNews) -> Void) async {
        let published = Lock(0)
        let heard = Lock<CatalogueParts?>(nil)
        do {
            let open = try await session.catalogue(orCached: shown == nil) { parts in
                guard !parts.isWhole else { return }
                tell(.came(films: parts.films))
                heard.withLock { $0 = parts }
                guard shown == nil, published.withLock({ Self.publishes(parts.films, after: &$0) }) else {
                    return
                }
                tell(.part(FilmSet(parts.open)))
            }
            tell(
                .whole(
                    FilmSet(open, replacing: shown), confirmed: open.confirmed ?? clock.seconds,
                    outage: open.outage.map { ImageLoadingError.withoutAddress("\($0)") }))
        } catch {
            // The first reading leaves what it has.
            if shown == nil, let parts = heard.withLock({ $0 }) { tell(.part(FilmSet(parts.open))) }
            tell(.failed(error))
        }
    }

    /// Whether a part with so many films is worth the work of a new list: the first, and then each that has twice as many as
    /// the one before. So the work of all parts together is that of the whole, whatever the number of pages.
    private static func publishes(_ films: Int, after last: inout Int) -> Bool {
        guard films > 0, films >= 2 * last else { return false }
        last = films
        return true
    }
}
