import FilmSources
import HTTPSemantics

/// The wall: a page of posters with the available orders and links to more pages. Also the numbered list of the best
/// films.
struct WallPage {
    /// The default number of films on a page: whole rows of two to six posters.
    static let films = 120

    let page: Page
    let films: [ShownFilm]
    let query: FilmQuery
    var next: String?
    var previous: String?
    /// All films of the library.
    var count: Int
    /// The number of best films, on their page.
    var best: Int?

    /// The displayed width of a poster on the wall, from which a browser chooses a size.
    private var sizes: String {
        best == nil ? "(min-width: 44rem) 12rem, 46vw" : "(min-width: 44rem) 26rem, 20rem"
    }
    /// The films that a browser is likely to show first. Their posters are not lazy.
    private static let firstFilms = 6

    var html: [UInt8] {
        page.html { html in
            html.element("div", ["class": "bar"]) { html in
                if let title = page.title { html.element("h1", text: title) }
                html.element("p", ["class": "count"], text: summary)
                if best == nil, films.count > 1 || query.after != nil || query.before != nil { orders(&html) }
            }
            if query.search.isEmpty, next != nil || previous != nil { letters(&html) }
            if films.isEmpty { nothing(&html) } else { wall(&html) }
            pages(&html)
        }
    }

    private var summary: String {
        let films = self.films.count
        if best != nil { return "By votes, or by the catalogue's score if there are none" }
        if !query.search.isEmpty {
            let isAll = next == nil && previous == nil
            return isAll ? "\(films) found" : "\(films) of those found"
        }
        let all = "\(ShownFilm.count(count)) \(count == 1 ? "film" : "films")"
        return next == nil && previous == nil ? all : "\(films) of \(all)"
    }

    private func orders(_ html: inout HTML) {
        html.element("nav", ["class": "orders", "aria-label": "Order"]) { html in
            for sort in FilmQuery.Sort.allCases {
                let isThis = sort == query.sort
                html.link(address(sort: sort), Self.name(sort), ["aria-current": isThis ? "true" : nil])
            }
        }
    }

    private static func name(_ sort: FilmQuery.Sort) -> String {
        switch sort {
        case .catalogue: "Programme"
        case .score: "Best"
        case .year: "Year"
        case .title: "Title"
        }
    }

    private func letters(_ html: inout HTML) {
        html.element("nav", ["class": "letters", "aria-label": "Titles by letter"]) { html in
            for letter in "abcdefghijklmnopqrstuvwxyz" {
                let start = FilmQuery.start(ofTitles: String(letter))
                html.link(address(sort: .title, place: ("after", start)), letter.uppercased())
            }
        }
    }

    private func wall(_ html: inout HTML) {
        html.element(best == nil ? "ul" : "ol", ["class": best == nil ? "wall" : "wall best"]) { html in
            for (index, film) in films.enumerated() {
                html.element("li") { html in
                    html.element("a", ["class": "film", "href": page.address(of: film.id)]) { html in
                        film.frame(&html, sizes: sizes, isLazy: index >= Self.firstFilms)
                        html.element("strong", ["dir": "auto"], text: film.title)
                        caption(film, &html)
                    }
                }
            }
        }
    }

    private func caption(_ film: ShownFilm, _ html: inout HTML) {
        guard let movie = film.movie else { return }
        html.element("small") { html in
            if let standing = movie.rankingScore {
                html.element("span", ["class": "score"], text: "★ \(ShownFilm.score(standing))")
                html.text(" ")
            }
            html.element("bdi", text: film.facts([movie.year.map { "\($0)" }, movie.director]))
        }
    }

    private func nothing(_ html: inout HTML) {
        html.element("div", ["class": "empty"]) { html in
            if query.search.isEmpty {
                html.element("p", text: "There are no films here.")
            } else {
                html.element("p") { html in
                    html.text("No film has all of these words: ")
                    html.element("bdi", text: query.search)
                }
            }
            html.link(page.films, "Show all films", class: "button")
        }
    }

    private func pages(_ html: inout HTML) {
        guard next != nil || previous != nil else { return }
        html.element("nav", ["class": "pages", "aria-label": "More films"]) { html in
            if let previous {
                html.link(address(sort: query.sort), "First")
                html.link(
                    address(sort: query.sort, place: ("before", previous)), "← Previous", ["rel": "prev"])
            }
            if let next {
                html.link(address(sort: query.sort, place: ("after", next)), "Next →", ["rel": "next"])
            }
        }
    }

    private func address(sort: FilmQuery.Sort, place: (String, String)? = nil) -> String {
        var fields: [String] = []
        if sort != .catalogue { fields.append("sort=\(sort.rawValue)") }
        if !query.search.isEmpty { fields.append("q=\(PercentEncoding.encoded(query.search))") }
        if query.limit != Self.films { fields.append("limit=\(query.limit)") }
        if let place { fields.append("\(place.0)=\(PercentEncoding.encoded(place.1))") }
        return page.films + (fields.isEmpty ? "" : "?" + fields.joined(separator: "&"))
    }
}
