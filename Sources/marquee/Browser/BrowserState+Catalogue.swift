import BackgroundTransfers
import LazyImages

/// The results of reading the catalogue.
extension BrowserState {
    /// Takes news of the catalogue.
    mutating func take(_ news: CatalogueNews) -> [Effect] {
        switch news {
        case .came(let films):
            catalogue.count(films)
            return []
        case .part(let films): return show(films)
        case .whole(let films, let confirmed, let outage):
            let before = catalogue
            if let outage {
                catalogue = .outOfDate(confirmed: confirmed, why: outage)
            } else {
                catalogue = .complete(confirmed: confirmed)
            }
            guard case .refreshing(let old, _) = before else {
                // What was said at the start stays until a key.
                notice = catalogue.explanation ?? notice
                return show(films)
            }
            notice = old == nil ? "All films are here" : films.summary
            return show(old == nil ? films.unmarked : films)
        case .failed(let error):
            catalogue.fail(ImageLoadingError.withoutAddress("\(error)"))
            notice = catalogue.explanation
            return []
        }
    }

    /// Takes the network's new reach. If it has grown, failed posters are loaded again.
    mutating func take(_ path: NetworkPath) -> [Effect] {
        defer { reach = path.reach }
        let farther: [NetworkPath.Reach] =
            switch reach {
            case .some(.none): [.local, .internet]
            case .some(.local): [.internet]
            case .some(.internet), nil: []
            }
        guard farther.contains(path.reach) else { return [] }
        switch catalogue {
        case .outOfDate, .incomplete: return catalogue.refresh() ? [.retry, .refresh] : [.retry]
        case .opening, .loading, .refreshing, .complete: return [.retry]
        }
    }

    /// Replaces the films.
    private mutating func show(_ films: FilmSet) -> [Effect] {
        // The film's page closes: another film on it could be mistaken for the one that is gone.
        if !list.replace(by: films), page == .film { page = .films }
        return [.rowsChanged] + showSelection()
    }
}
