import LazyImages
import MovieCatalogue
import SystemSupport
import TerminalGraphics

/// Reads the catalogue for the browser, and reports the films as they arrive.
struct CatalogueReader: Sendable {
    private let session: Session
    private let clock = WallClock.system

    /// - Parameter session: a session that does not write to the screen.
    init(_ session: Session) { self.session = session }

    /// Reads the whole catalogue.
    /// - Parameters:
    ///   - shown: the films of a refresh. The new films are compared with them, and they stay if the refresh fails. Nil
    ///     for the first reading, which gives the cached films if the server does not answer.
    ///   - tell: takes the news. The last is `whole` or `failed`.
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
                tell(.part(FilmSet(Self.shown(parts.open))))
            }
            tell(
                .whole(
                    FilmSet(Self.shown(open), replacing: shown), confirmed: open.confirmed ?? clock.seconds,
                    outage: open.outage.map { ImageLoadingError.withoutAddress("\($0)") }))
        } catch {
            // The first reading shows the films it has, even if it fails.
            if shown == nil, let parts = heard.withLock({ $0 }) {
                tell(.part(FilmSet(Self.shown(parts.open))))
            }
            tell(.failed(error))
        }
    }

    /// Whether a part with this many films is worth the work of a new list: the first part, and each part with twice
    /// the films of the one before. So all parts together cost as much as the whole, however many pages there are.
    private static func publishes(_ films: Int, after last: inout Int) -> Bool {
        guard films > 0, films >= 2 * last else { return false }
        last = films
        return true
    }

    /// The films with the texts that the terminal can show: a cell of tmux holds no long emoji sequence.
    private static func shown(_ open: OpenCatalogue) -> OpenCatalogue {
        guard Terminal.isInTmux else { return open }
        let catalogue = open.catalogue.mapTexts {
            TerminalText.separated($0, clustersLongerThan: TerminalText.longestClusterInTmux)
        }
        return OpenCatalogue(
            catalogue: catalogue, base: open.base, confirmed: open.confirmed, outage: open.outage)
    }
}
