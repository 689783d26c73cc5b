import FilmBrowser
import FilmSources
import Films
import LazyImages
import SystemSupport
import TerminalGraphics

/// What the browser wants to be read.
enum CatalogueOrder: Sendable {
    /// All films; of an endless source the first pages. A refresh compares them with the films on the screen, which stay
    /// if it fails.
    case all(replacing: Catalogue?)
    /// The next pages of an endless source.
    case more
    /// The films that the server finds; nil for those of before the search.
    case search(String?)
}

/// Reads the catalogue for the browser, and reports the films as they arrive.
final class CatalogueReader: Sendable {
    private let session: Session
    private let clock = WallClock.system
    private let state = Lock(State())

    private struct State {
        /// The films that were read last, and how many pages of an endless source they are.
        var open: OpenCatalogue?
        var pages = 0
        /// The words of a search at the server; nil for all films.
        var words: String?
    }

    /// The pages of an endless source that are read first.
    private static let firstPages = 2
    /// The most pages that are read at once. The more there are, the more are read: each reading makes a new list.
    private static let mostPages = 10

    /// - Parameter session: a session that does not write to the screen.
    init(_ session: Session) { self.session = session }

    /// Reads films.
    /// - Parameter onNews: receives the news. The last is `whole` or `failed`.
    func read(_ order: CatalogueOrder, onNews: @escaping @Sendable (CatalogueNews) -> Void) async {
        switch order {
        case .all(let shown): _ = await readAll(replacing: shown, onNews)
        case .more: await readMore(onNews)
        case .search(let words):
            let before = state.withLock { state in
                let before = state
                state = State(words: words)
                return before
            }
            // The films of before stay if it fails.
            if await !readAll(replacing: nil, showsParts: false, onNews) { state.withLock { $0 = before } }
        }
    }

    /// These pages of the present films.
    private func selection(_ pages: Range<Int>) -> FilmSelection {
        var selection = FilmSelection()
        (selection.pages, selection.words) = (pages, state.withLock { $0.words })
        return selection
    }

    /// Reads the whole catalogue. The first reading gives the cached films if the server does not answer.
    /// - Parameter showsParts: whether the first reading shows films before all have come. Default: yes.
    /// - Returns: whether all films were read.
    private func readAll(
        replacing shown: Catalogue?, showsParts: Bool = true,
        _ onNews: @escaping @Sendable (CatalogueNews) -> Void
    ) async -> Bool {
        let showsParts = showsParts && shown == nil
        let began = clock.seconds
        let published = Lock(0)
        let newest = Lock<ArrivedFilms?>(nil)
        let pages = max(Self.firstPages, shown == nil ? 0 : state.withLock { $0.pages })
        do {
            let open = try await session.catalogue(selection(0..<pages), orCached: shown == nil) { films in
                guard !films.isWhole else { return }
                let count = films.count
                onNews(.came(films: count))
                newest.withLock { $0 = films }
                guard showsParts, published.withLock({ Self.publishes(count, after: &$0) }),
                    let open = films.open
                else { return }
                onNews(.part(FilmSet(Self.shown(open, began: began))))
            }
            state.withLock { ($0.open, $0.pages) = (open, pages) }
            onNews(whole(open, replacing: shown, began: began))
            return true
        } catch {
            // The first reading shows the films it has, even if it fails.
            if showsParts, let open = newest.withLock({ $0 })?.open {
                onNews(.part(FilmSet(Self.shown(open, began: began))))
            }
            onNews(.failed(error))
            return false
        }
    }

    /// Reads the next pages behind those that were read.
    private func readMore(_ onNews: @escaping @Sendable (CatalogueNews) -> Void) async {
        let (before, pages) = state.withLock { ($0.open, $0.pages) }
        guard let before, before.hasMore else {
            return onNews(.failed(Failure("there are no more films")))
        }
        let began = clock.seconds
        let came = Lock<(films: ArrivedFilms?, pages: Int)>((nil, 0))
        var end = pages + min(max(Self.firstPages, pages / 4), Self.mostPages)
        var open: OpenCatalogue
        do {
            open = try await session.catalogue(selection(pages..<end), after: before, orCached: true) {
                films in came.withLock { $0 = (films, $0.pages + 1) }
            }
            // A server that repeats its films would be asked for ever.
            if open.catalogue.movies.count == before.catalogue.movies.count { open.hasMore = false }
        } catch {
            // The pages before the one that failed are kept. The next reading asks for that one again.
            let came = came.withLock { $0 }
            guard let films = came.films?.open else { return onNews(.failed(error)) }
            open = films
            open.hasMore = true
            end = pages + came.pages
        }
        state.withLock { [open] in ($0.open, $0.pages) = (open, end) }
        onNews(whole(open, replacing: nil, began: began))
    }

    private func whole(_ open: OpenCatalogue, replacing shown: Catalogue?, began: Int) -> CatalogueNews {
        .whole(
            FilmSet(Self.shown(open, began: began), replacing: shown),
            confirmed: open.confirmed ?? clock.seconds,
            outage: open.outage.map { ImageLoadingError.withoutAddress("\($0)") })
    }

    /// Whether a part with this many films is worth the work of a new list: the first part, and each part with twice
    /// the films of the one before. So all parts together cost as much as the whole, however many pages there are.
    private static func publishes(_ films: Int, after last: inout Int) -> Bool {
        guard films > 0, films >= 2 * last else { return false }
        last = films
        return true
    }

    /// The films with the texts that the terminal can show: a cell of tmux holds no long emoji sequence.
    /// - Parameter began: when they were asked for, in seconds since 1970. A mark that was set since then is newer, although
    ///   the answer came later.
    private static func shown(_ open: OpenCatalogue, began: Int) -> OpenCatalogue {
        var open = open
        open.confirmed = min(open.confirmed ?? began, began)
        guard Terminal.isInTmux else { return open }
        open.catalogue = open.catalogue.mapTexts {
            TerminalText.separated($0, clustersLongerThan: TerminalText.longestClusterInTmux)
        }
        return open
    }
}

extension FilmSet {
    /// - Parameter shown: the films that a refresh replaces; nil for the first reading.
    init(_ open: OpenCatalogue, replacing shown: Catalogue? = nil) {
        self.init(
            open.catalogue, base: open.base, served: open.served, ids: open.ids, confirmed: open.confirmed,
            hasMore: open.hasMore, replacing: shown)
    }
}
