/// The films of an XML document: of a `<catalogue>`, or of a feed.
struct XMLFilms: Sendable {
    /// The catalogue's title, if it has one.
    let name: String?
    private let elements: [XMLElement]
    /// Makes films of the elements; nil if they are films.
    private let feed: FilmFeed?

    /// - Throws: `.wrongShape` for another root, and the error in the feed's own elements.
    init(_ root: XMLElement) throws(CatalogueError) {
        if root.name == "catalogue" {
            name = root.attributes["name"]?.collapsed
            elements = root.children.filter { $0.name == "movie" }
            feed = nil
        } else {
            let feed = try FilmFeed(root)
            (name, elements) = (feed.name, feed.entries)
            self.feed = feed
        }
    }

    /// The number of films, valid or not.
    var count: Int { elements.count }

    /// The film at this index, from 0, as a `<movie>` element.
    /// - Throws: the reason why an entry of a feed is not a film.
    func film(_ index: Int) throws(CatalogueError) -> XMLElement {
        let element = elements[index]
        return try feed.map { feed throws(CatalogueError) in try feed.film(element) } ?? element
    }
}
