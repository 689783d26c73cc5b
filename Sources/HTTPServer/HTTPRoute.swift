/// The resource that an answer is about, for the metrics. The list is closed, so no client can create a time series.
/// The server only counts by it; the handlers choose it.
package enum HTTPRoute: UInt8, Sendable, CaseIterable {
    /// No other route: mostly a request that was refused before its path was read, or a path where nothing is served.
    case other
    /// A list of films, or the wall of posters.
    case films
    /// The best films.
    case top
    case film
    /// A poster as it is stored.
    case poster
    /// A picture of the picture service.
    case picture
    case rating
    /// A page with a form, and what it sends.
    case form
    case soap
    /// The stylesheet and the icon of the pages.
    case style
    /// A file of a served folder.
    case file

    /// The value of the label in the metrics.
    package var name: String { "\(self)" }
}
