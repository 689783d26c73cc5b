import HTTPSemantics
import MovieCatalogue

/// The page of a film. If the library is writable, it has the form to rate the film.
struct DetailPage {
    let page: Page
    let film: ShownFilm
    /// The vote as typed, and its faults.
    var vote = SentForm()

    private static let sizes = "(min-width: 60rem) 26rem, (min-width: 44rem) 40vw, 90vw"

    var html: [UInt8] {
        page.html { html in
            html.element("article", ["class": "detail"]) { html in
                html.element("div", ["class": "picture"]) { html in
                    film.frame(&html, sizes: Self.sizes, isLazy: false)
                }
                html.element("div", ["class": "facts"]) { html in
                    facts(&html)
                    if page.access.showsForms { forms(&html) }
                }
            }
        }
    }

    private func facts(_ html: inout HTML) {
        let movie = film.movie
        if let genres = movie?.genres, !genres.isEmpty {
            html.element("p", ["class": "genres"]) { html in
                for genre in genres {
                    html.element(
                        "a", ["href": "\(page.films)?q=\(PercentEncoding.encoded(genre))", "dir": "auto"],
                        text: genre)
                    html.text(" ")
                }
            }
        }
        html.element("h1", ["dir": "auto"], text: film.title)
        if let original = movie?.originalTitle {
            html.element("p", ["class": "original", "dir": "auto"], text: original)
        }
        let line = film.facts([
            movie?.year.map { "\($0)" }, movie?.director, movie?.country, movie?.minutes.map { "\($0) min" },
        ])
        if !line.isEmpty { html.element("p", ["class": "line", "dir": "auto"], text: line) }
        if let movie, let standing = movie.rankingScore {
            html.element("p", ["class": "standing"]) { html in
                html.element("strong", text: ShownFilm.score(standing))
                html.text(" of 10")
                html.element("small", text: Self.origin(movie))
            }
        }
        if let overview = movie?.overview {
            html.element("p", ["class": "overview", "dir": "auto"], text: overview)
        }
    }

    /// What the score is based on.
    private static func origin(_ movie: Movie) -> String {
        movie.votes > 0 ? ShownFilm.votes(movie.votes) : "the catalogue's score"
    }

    private func forms(_ html: inout HTML) {
        let address = page.address(of: film.id)
        html.element("form", ["class": "vote", "method": "post", "action": "\(address)/rate"]) { html in
            html.element("h2", text: "Your vote")
            vote.input(
                "rater", "Name", ["maxlength": "200", "required": "", "autocomplete": "nickname"], &html)
            vote.number(
                "value", "0 to 10",
                ["min": "0", "max": "10", "step": "any", "required": ""], &html)
            html.element("button", text: "Rate")
        }
        html.element("p", ["class": "actions"]) { html in
            html.element("a", ["class": "button", "href": "\(address)/edit"], text: "Edit")
            html.element("a", ["class": "button", "href": "\(address)/remove"], text: "Remove")
        }
    }
}
