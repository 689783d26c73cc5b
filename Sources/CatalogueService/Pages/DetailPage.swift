import FilmSources
import Films
import HTTPSemantics

/// The page of a film. If the library is writable, it has the form to rate the film.
struct DetailPage {
    let page: Page
    let film: ShownFilm
    /// The vote as typed, and its faults.
    let vote: SentForm

    private static let sizes = "(min-width: 60rem) 26rem, (min-width: 44rem) 40vw, 90vw"

    var html: [UInt8] {
        page.html { html in
            html.element("article", ["class": "detail"]) { html in
                html.element("div", ["class": "picture"]) { html in
                    film.frame(&html, sizes: Self.sizes, isLazy: false)
                }
                html.element("div", ["class": "facts"]) { html in
                    facts(&html)
                    forms(&html)
                }
            }
        }
    }

    private func facts(_ html: inout HTML) {
        let movie = film.movie
        if let genres = movie?.genres, !genres.isEmpty {
            html.element("p", ["class": "genres"]) { html in
                for genre in genres {
                    html.link("\(page.films)?q=\(PercentEncoding.encoded(genre))", genre, ["dir": "auto"])
                    html.text(" ")
                }
            }
        }
        html.element("h1", ["dir": "auto"], text: film.title)
        if let original = movie?.originalTitle {
            html.element("p", ["class": "original", "dir": "auto"], text: original)
        }
        let line = film.facts(
            FilmMember.facts.map { member in
                movie?.text(member).map { member == .minutes ? $0 + " min" : $0 }
            })
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
        guard page.access.allows(.rate) else { return }
        html.element("form", ["class": "vote", "method": "post", "action": "\(address)/rate"]) { html in
            html.element("h2", text: "Your vote")
            vote.input(
                "rater", "Name", ["maxlength": "200", "required": "", "autocomplete": "nickname"], &html)
            vote.number(
                "value", "0 to 10",
                ["min": "0", "max": "10", "step": "any", "required": ""], &html)
            html.element("button", text: "Rate")
        }
        guard page.access.allows(.write) else { return }
        html.element("p", ["class": "actions"]) { html in
            html.link("\(address)/edit", "Edit", class: "button")
            html.link("\(address)/remove", "Remove", class: "button")
        }
    }
}

/// A film's poster in pages, in every size that the picture service has, so that a browser takes the one that fits. The
/// frame has a poster's shape before the picture loads, and shows a cut-paper cover with the title until then.
struct ShownPoster {
    /// The address of the original size.
    let address: String
    /// The end of the address after the size: a stored poster has a tag, under which a picture never changes.
    let suffix: String
    /// Whether pictures in other sizes are made.
    let hasSizes: Bool

    private static let widths = [154, 185, 342, 500, 780]
    /// The assumed width and height of a poster until it has loaded. The stylesheet sets the frame's shape.
    private static let size = (width: 342, height: 513)

    /// - Returns: nil if the film has no poster.
    init?(of film: StoredFilm, at address: String, hasSizes: Bool) {
        switch film.poster {
        case .none: return nil
        case .address: suffix = ""
        case .stored(_, _, let tag): suffix = ".v\(tag)"
        }
        self.address = "\(address)/poster"
        self.hasSizes = hasSizes
    }

    /// Attributes of a picture.
    /// - Parameters:
    ///   - sizes: the displayed width, as in the HTML attribute `sizes`.
    ///   - isLazy: whether it loads only when it comes near the screen.
    func attributes(sizes: String, isLazy: Bool) -> HTML.Attributes {
        var attributes: HTML.Attributes = [
            "src": hasSizes ? "\(address)/w342\(suffix)" : address,
            "width": "\(Self.size.width)", "height": "\(Self.size.height)",
            // The title is beside it. An empty text also keeps browsers from drawing a broken-picture icon over the
            // cover.
            "alt": "", "decoding": "async",
        ]
        if isLazy { attributes.list.append(("loading", "lazy")) }
        if hasSizes {
            let set = Self.widths.map { "\(address)/w\($0)\(suffix) \($0)w" }.joined(separator: ", ")
            attributes.list += [("srcset", set), ("sizes", sizes)]
        }
        return attributes
    }
}

extension ShownFilm {
    /// The frame with the poster.
    func frame(_ html: inout HTML, sizes: String, isLazy: Bool) {
        html.element("span", ["class": "frame cover-\(Self.cover(id))"]) { html in
            html.element("span", ["class": "cover", "aria-hidden": "true", "dir": "auto"], text: title)
            if let poster {
                html.void(
                    "img", poster.attributes(sizes: sizes, isLazy: isLazy))
            }
        }
    }

    /// One of the six covers. A film has the same cover on every page.
    private static func cover(_ id: String) -> Int {
        Int(id.utf8.reduce(UInt32(0)) { $0 &* 31 &+ UInt32($1) } % 6)
    }
}
