import Films
import HTTPSemantics

/// The frame of all pages: head, masthead with search and links, and foot.
struct Page {
    /// The library's own name.
    var name = "Films"
    /// The page's own title; nil for the wall.
    var title: String?
    /// The relative path from the page's folder to the root.
    var toRoot = ""
    /// What the page offers the person who looks at it.
    var access = PageAccess()
    /// The words of the search.
    var search = ""
    /// The same content in other formats: an address without an ending; nil for a page that has none.
    var alternate: String?

    /// `Cache-Control` of a page for one person.
    static let ownCacheControl = "private, no-store"

    /// Header fields of all pages. Pages run no scripts, load nothing from other sites and cannot be framed. With a
    /// stricter Referrer-Policy, browsers would send `Origin: null` with the forms.
    static let protection: HeaderFields = [
        "Content-Security-Policy":
            "default-src 'none'; img-src 'self'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "same-origin",
    ]

    var home: String { toRoot.isEmpty ? "./" : toRoot }
    var films: String { toRoot + "films" }

    func address(of id: String) -> String { "\(films)/\(PercentEncoding.encoded(id))" }

    /// The page with this content.
    func html(_ content: (inout HTML) -> Void) -> [UInt8] {
        HTML.page { html in
            html.element("head") { head(&$0) }
            html.element("body") { html in
                html.link("#main", "Skip to the films", class: "skip")
                masthead(&html)
                html.element("main", ["id": "main"], content)
                foot(&html)
            }
        }
    }

    /// The page of a form: its heading, what is wrong, and the content.
    func sheet(_ fault: String?, _ content: (inout HTML) -> Void) -> [UInt8] {
        html { html in
            html.element("div", ["class": "sheet"]) { html in
                html.element("h1", ["dir": "auto"], text: title ?? "")
                if let fault {
                    html.element("p", ["class": "alert", "role": "alert", "dir": "auto"], text: fault)
                }
                content(&html)
            }
        }
    }

    private func head(_ html: inout HTML) {
        html.void("meta", ["charset": "utf-8"])
        let title = [title, name].compactMap { $0.map(HTML.undirected) }.joined(separator: " · ")
        html.element("title", text: title)
        html.void("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
        html.void("meta", ["name": "color-scheme", "content": "light dark"])
        html.void("link", ["rel": "stylesheet", "href": "\(films)/style/\(Stylesheet.name)"])
        html.void("link", ["rel": "icon", "type": "image/svg+xml", "href": "\(films)/style/\(Icon.name)"])
        guard let alternate else { return }
        for format in [FilmFormat.json, .xml] {
            html.void(
                "link",
                ["rel": "alternate", "type": format.mediaType, "href": "\(alternate).\(format.rawValue)"])
        }
    }

    private func masthead(_ html: inout HTML) {
        html.element("header", ["class": "masthead"]) { html in
            html.element(title == nil ? "h1" : "p", ["class": "name"]) { html in
                html.link(home, name, ["dir": "auto"])
            }
            html.element("nav", ["aria-label": "Pages"]) { html in
                html.link(films, "All films")
                html.link("\(films)/top3", "Top 3")
                if access.asksForLogin { html.link("\(toRoot)login", "Sign in") }
                if access.allows(.write) { html.link("\(toRoot)add", "Add a film") }
            }
            html.element("form", ["class": "search", "role": "search", "action": films]) { html in
                html.element("label", ["class": "unseen", "for": "q"], text: "Search films")
                html.void(
                    "input",
                    [
                        "type": "search", "id": "q", "name": "q", "value": search,
                        "placeholder": "Title, director, genre, year", "autocomplete": "off",
                    ])
                html.element("button", text: "Search")
            }
        }
    }

    private func foot(_ html: inout HTML) {
        html.element("footer") { html in
            if let alternate {
                html.text("For programs: ")
                for format in [FilmFormat.json, .xml] {
                    html.link("\(alternate).\(format.rawValue)", format.rawValue.uppercased())
                    html.text(" ")
                }
            } else {
                html.link(home, "All films")
            }
            if access.isSignedIn { signOut(&html) }
        }
    }

    private func signOut(_ html: inout HTML) {
        html.element("form", ["class": "leave", "method": "post", "action": "\(toRoot)login"]) { html in
            html.void("input", ["type": "hidden", "name": "out", "value": "1"])
            html.element("button", ["class": "quiet"], text: "Sign out")
        }
    }
}

extension Page {
    /// A page for a request with an unreadable target: only its path as written is known.
    init(path: String) {
        let depth = path.utf8.count { $0 == UInt8(ascii: "/") }
        self.init(toRoot: String(repeating: "../", count: max(0, depth - 1)))
    }
}

/// A film and the parts of it that pages show.
struct ShownFilm {
    let id: String
    let movie: Movie?
    let poster: ShownPoster?

    var title: String { movie?.title ?? id }

    /// Year, director and so on, as one line.
    func facts(_ facts: [String?]) -> String { facts.compactMap(\.self).joined(separator: " · ") }

    /// A number from 0 to 10 with one decimal.
    static func score(_ score: Double) -> String { "\((score * 10).rounded() / 10)" }

    static func votes(_ number: Int) -> String { "\(count(number)) \(number == 1 ? "vote" : "votes")" }

    /// A count with a comma every three digits.
    static func count(_ number: Int) -> String {
        var text = ""
        for (index, digit) in "\(number)".reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}

/// The page that says why a request failed, and what to do.
struct ProblemPage {
    let problem: ProblemDetails
    let page: Page

    var html: [UInt8] {
        var page = page
        page.title = problem.status.reason
        return page.html { html in
            html.element("div", ["class": "problem"]) { html in
                html.element(
                    "p", ["class": "numeral", "aria-hidden": "true"], text: "\(problem.status.rawValue)")
                html.element("h1", text: problem.status.reason)
                html.element("p", ["class": "reason", "dir": "auto"], text: problem.detail)
                if !problem.errors.isEmpty {
                    html.element("ul") { html in
                        for error in problem.errors {
                            html.element("li", ["dir": "auto"], text: error.detail)
                        }
                    }
                }
                html.element("p", text: advice)
                if problem.status == .unauthorized, page.access.asksForLogin {
                    html.link("\(page.toRoot)login", "Sign in", class: "button")
                }
                html.link(page.home, "All films", class: "button")
            }
        }
    }

    private var advice: String {
        switch problem.status {
        case .notFound, .gone: "It may have been removed or renamed. Search for it, or look at all films."
        case .unauthorized: "Sign in with a token, and repeat the change."
        case .forbidden, .methodNotAllowed:
            "You can still look at the films. The operator of this service can change what is allowed."
        case .preconditionFailed, .conflict: "Go back, load the page again, and repeat the change."
        case .badRequest: "Check the address, or begin again with all films."
        case .tooManyRequests, .serviceUnavailable: "Wait a moment, then load the page again."
        case .internalServerError, .insufficientStorage:
            "Nothing was changed. Try again later; the operator of this service has been told."
        default: "Go back and try again, or begin again with all films."
        }
    }
}
