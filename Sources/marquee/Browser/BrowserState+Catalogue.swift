import LazyImages

/// What comes of a reading of the catalogue.
extension BrowserState {
    /// Takes news of the catalogue.
    mutating func take(_ news: CatalogueNews) -> [Effect] {
        switch news {
        case .came(let films):
            catalogue.count(films)
            return []
        case .part(let films): return show(films)
        case .whole(let films, let confirmed, let outage):
            let isRefresh = if case .refreshing = catalogue { true } else { false }
            if let outage {
                catalogue = .outOfDate(confirmed: confirmed, why: outage)
            } else {
                catalogue = .complete(confirmed: confirmed)
            }
            notice = isRefresh ? films.summary : catalogue.explanation
            return show(films)
        case .failed(let error):
            catalogue.fail((error as? ImageLoadingError)?.advisedWithoutAddress ?? "\(error)")
            notice = catalogue.explanation
            return []
        }
    }

    /// Shows other films in the place of those there are.
    private mutating func show(_ films: FilmSet) -> [Effect] {
        // Another film on the page would be taken for the one that is gone.
        if !list.replace(by: films), page == .film { page = .films }
        return [.rowsChanged] + showSelection()
    }
}
