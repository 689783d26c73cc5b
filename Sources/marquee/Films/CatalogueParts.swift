import FoundationEssentials
import LazyImages
import MovieCatalogue

/// The films of the pages that have arrived. Each page is parsed once.
struct CatalogueParts: Sendable {
    private var first: OpenCatalogue
    private var rest: [Catalogue] = []
    /// The number of films so far. A film on two pages counts twice.
    private(set) var films: Int
    /// Whether all pages are here.
    private(set) var isWhole: Bool

    /// The films of the first page.
    init(_ page: CataloguePages.Page) throws(CatalogueError) {
        first = OpenCatalogue(
            catalogue: try Self.catalogue(page), base: page.base, confirmed: page.confirmed)
        films = first.catalogue.movies.count
        isWhole = page.isLast
    }

    /// Adds the films of the next page.
    mutating func append(_ page: CataloguePages.Page) throws(CatalogueError) {
        let catalogue = try Self.catalogue(page)
        // Addresses are relative to their own page.
        let isBeside =
            page.base.url.deletingLastPathComponent() == first.base.url.deletingLastPathComponent()
        rest.append(isBeside ? catalogue : catalogue.resolvingAddresses(against: page.base.url))
        films += catalogue.movies.count
        isWhole = page.isLast
        // The catalogue is as old as its oldest page.
        first.confirmed = [first.confirmed, page.confirmed].compactMap(\.self).min()
    }

    /// The films of a page. Their web pages are shown as they are, so a relative address would lead nowhere.
    private static func catalogue(_ page: CataloguePages.Page) throws(CatalogueError) -> Catalogue {
        let catalogue = try Catalogue(parsing: page.bytes)
        guard page.base.url.scheme?.lowercased().hasPrefix("http") == true,
            let base = URL(string: page.base.url.displayText)
        else { return catalogue }
        return catalogue.resolvingPages(against: base)
    }

    /// The films so far as one catalogue.
    var open: OpenCatalogue {
        OpenCatalogue(
            catalogue: first.catalogue.appending(rest), base: first.base, confirmed: first.confirmed)
    }
}
