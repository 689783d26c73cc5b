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
            let before = catalogue
            if let outage {
                catalogue = .outOfDate(confirmed: confirmed, why: outage)
            } else {
                catalogue = .complete(confirmed: confirmed)
            }
            guard case .refreshing(let old, _) = before else {
                notice = catalogue.explanation
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

    /// Shows other films in the place of those there are.
    private mutating func show(_ films: FilmSet) -> [Effect] {
        // Another film on the page would be taken for the one that is gone.
        if !list.replace(by: films), page == .film { page = .films }
        return [.rowsChanged] + showSelection()
    }
}
