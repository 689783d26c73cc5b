import FilmSources
import Films
import HTTPSemantics
import HTTPServer

/// Films as HTML pages.
extension FilmService {
    /// A page of the list, of search results, or of the best films, numbered.
    /// - Parameter best: how many best films are asked for; nil for the list.
    func wall(
        _ films: FilmQuery.Page, _ query: FilmQuery, best: Int? = nil, _ call: ServiceCall, _ revision: Int
    ) throws -> HTTPResponse {
        let isSearch = !query.search.isEmpty
        let title = best.map { "Top \($0)" } ?? (isSearch ? "Search: \(query.search)" : nil)
        let address = best.map { $0 == 3 ? "films/top3" : "films/top/\($0)" } ?? "films"
        let page = try page(call, title: title, search: query.search, alternate: address)
        let wall = WallPage(
            page: page, films: films.films.map { shown($0, page) }, query: query,
            next: best == nil ? films.next : nil, previous: films.previous,
            count: isSearch || best != nil ? 0 : try library.count, best: best)
        return call.response(wall.html, fields: ["ETag": call.entityTag(revision)])
    }

    func page(_ film: StoredFilm, _ call: ServiceCall, _ revision: Int) throws -> HTTPResponse {
        call.response(
            try detail(film, call, SentForm()).html, fields: ["ETag": call.entityTag(revision)])
    }

    /// A file that the pages need: the icon or the stylesheet. A stylesheet with another name belongs to another
    /// version of the program.
    func style(_ name: String, _ call: ServiceCall) -> HTTPResponse {
        let (type, text, control) =
            switch name {
            case Icon.name: ("image/svg+xml", Icon.text, "public, max-age=86400")
            case Stylesheet.name:
                ("text/css; charset=utf-8", Stylesheet.text, "public, max-age=31536000, immutable")
            default: ("text/css; charset=utf-8", Stylesheet.text, "no-cache")
            }
        return call.coding.applied(
            to: HTTPResponse(
                status: .ok, fields: ["Content-Type": type, "Cache-Control": control],
                body: .bytes(Array(text.utf8))))
    }

    /// A page with a form.
    func page(_ form: PageForm, _ call: ServiceCall) throws -> HTTPResponse {
        if call.access.asksForLogin {
            return seeOther("login?to=\(PercentEncoding.encoded(form.path))", call)
        }
        try checkForms(call)
        return try show(form, nil, call)
    }

    /// Processes a form, and redirects to the page of the result. If a field is invalid, the form comes back with the
    /// typed values.
    func post(_ form: PageForm, _ call: ServiceCall, _ body: [UInt8]) throws -> HTTPResponse {
        try checkForms(call)
        let sent = try Self.form(body, call)
        var fields = SentForm(sent)
        do {
            return seeOther(try process(form, sent, fields, call), call)
        } catch {
            let refusal = refusal(of: error, call)
            guard Self.canMend(refusal) else { throw refusal }
            fields.addFaults(refusal)
            return try show(form, fields, call, refusal.problem.status)
        }
    }

    /// The page of a form.
    /// - Parameter sent: the form as sent, if it comes back; nil at first.
    private func show(
        _ form: PageForm, _ sent: SentForm?, _ call: ServiceCall, _ status: HTTPStatus = .ok
    ) throws -> HTTPResponse {
        guard case .change(let change, let id) = form else {
            return try sheet(nil, sent ?? SentForm(), call, status)
        }
        let film = try library.existingFilm(id)
        var fields = sent ?? SentForm(film)
        fields.revision = "\(film.revision)"
        switch change {
        case .edit: return try sheet(film, fields, call, status)
        case .rate: return answer(try detail(film, call, sent ?? SentForm()).html, status, call)
        case .remove: return try removal(film, fields, call, status)
        }
    }

    // MARK: Writing

    /// Does what a form asks for.
    /// - Returns: the path of the page that shows the result.
    private func process(
        _ form: PageForm, _ sent: FilmForm, _ fields: SentForm, _ call: ServiceCall
    ) throws -> String {
        guard case .change(let change, let id) = form else {
            let film = try add(try Self.film(sent, isChange: false), toRoot: call.toRoot)
            return "films/\(PercentEncoding.encoded(film.id))"
        }
        switch change {
        case .edit: try edit(id, sent, fields)
        case .rate: try rate(id, fields)
        case .remove:
            try operations.remove(id) { film throws(FilmError) in try Self.check(fields.revision, film) }
            return ""
        }
        return "films/\(PercentEncoding.encoded(id))"
    }

    /// Changes only the members that the person has edited.
    private func edit(_ id: String, _ sent: FilmForm, _ fields: SentForm) throws {
        let shown = SentForm(try library.existingFilm(id))
        var incoming = try Self.film(sent, isChange: true)
        for member in FilmMember.form where fields.values[member.name] == shown.values[member.name] {
            incoming.document[member.name] = nil
        }
        _ = try operations.change(id, incoming.document, poster: incoming.upload) {
            film throws(FilmError) in
            try Self.check(fields.revision, film)
        }
    }

    private func rate(_ id: String, _ fields: SentForm) throws {
        let rater = fields.values["rater"] ?? ""
        // A text that is not a number is a wrong value like any other.
        _ = try operations.rate(id, by: rater, Double(fields.values["value"] ?? "") ?? .nan)
    }

    private static func check(_ revision: String, _ film: StoredFilm) throws(FilmError) {
        guard revision == "\(film.revision)" else {
            throw .conditionFailed(
                "the film has changed since this form was shown; check it, then send the form again")
        }
    }

    private static func form(_ body: [UInt8], _ call: ServiceCall) throws(FilmRefusal) -> FilmForm {
        switch try FilmContent(call) {
        case .form: return try FilmForm(urlEncoded: body)
        case .multipart(let boundary):
            return try FilmForm(multipart: body, boundary: boundary, isChange: false)
        case .json, .xml:
            throw FilmRefusal(.unsupportedMediaType, "only forms are accepted here; programs write to /films")
        }
    }

    /// The film of a form, with only the fields that forms have.
    private static func film(_ form: FilmForm, isChange: Bool) throws(FilmRefusal) -> IncomingFilm {
        var film = try IncomingFilm(form, isChange: isChange)
        for (name, value) in film.document.members.map({ ($0.name, $0.value) }) {
            let member = FilmMember(named: name).flatMap { FilmMember.form.contains($0) ? $0 : nil }
            if member == nil {
                film.document[name] = nil
            } else if let texts = value.elements?.compactMap(\.string) {
                let names = texts.flatMap { $0.split(separator: ",") }.map { String(FieldList.trimmed($0)) }
                film.document[name] = JSONText(elements: names.filter { !$0.isEmpty }.map { JSONText($0) })
            } else if case .paragraphs = member?.kind, let text = value.string {
                // Browsers send line ends as CR LF.
                film.document[name] = JSONText(text.replacing("\r\n", with: "\n"))
            }
        }
        return film
    }

    /// Whether the sender can correct the form.
    private static func canMend(_ refusal: FilmRefusal) -> Bool {
        [.unprocessableContent, .conflict, .preconditionFailed].contains(refusal.problem.status)
    }

    private func checkForms(_ call: ServiceCall) throws(FilmRefusal) {
        guard configuration.isWritable else {
            throw FilmRefusal(
                .forbidden, "this library is read-only; its operator can start it with --writable")
        }
        try gate.check(call, call.route.resource.role)
    }

    // MARK: Showing

    /// The page around a refusal; nil for other formats.
    func problemPage(_ call: ServiceCall) -> Page? {
        // Ignored: the refusal is sent without a page around it.
        call.format == .html ? try? page(call, title: nil) : nil
    }

    func page(
        _ call: ServiceCall, title: String?, search: String = "", alternate: String? = nil
    ) throws -> Page {
        Page(
            name: try library.name ?? "Films", title: title, toRoot: call.toRoot,
            access: call.access, search: search, alternate: alternate.map { call.toRoot + $0 })
    }

    private func shown(_ film: StoredFilm, _ page: Page) -> ShownFilm {
        // Ignored: an invalid film of an older library is shown by its id.
        let movie = try? film.movie()
        return ShownFilm(
            id: film.id, movie: movie,
            poster: ShownPoster(of: film, at: page.address(of: film.id), hasSizes: pictures != nil))
    }

    private func detail(_ film: StoredFilm, _ call: ServiceCall, _ vote: SentForm) throws -> DetailPage {
        var page = try page(call, title: "", alternate: "films/\(PercentEncoding.encoded(film.id))")
        let shown = shown(film, page)
        page.title = shown.title
        return DetailPage(page: page, film: shown, vote: vote)
    }

    /// The form for adding or editing a film.
    private func sheet(
        _ film: StoredFilm?, _ form: SentForm, _ call: ServiceCall, _ status: HTTPStatus
    ) throws -> HTTPResponse {
        var page = try page(call, title: "Add a film")
        var (action, back) = ("\(page.toRoot)add", page.home)
        if let film {
            page.title = "Edit \(shown(film, page).title)"
            back = page.address(of: film.id)
            action = "\(back)/edit"
        }
        return answer(FilmFormPage(page: page, form: form, action: action, back: back).html, status, call)
    }

    private func removal(
        _ film: StoredFilm, _ form: SentForm, _ call: ServiceCall, _ status: HTTPStatus
    ) throws -> HTTPResponse {
        var page = try page(call, title: nil)
        page.title = "Remove \(shown(film, page).title)?"
        let back = page.address(of: film.id)
        let votes = film.votes == 0 ? "" : " and its \(ShownFilm.votes(film.votes))"
        let form = FilmFormPage(page: page, form: form, action: "\(back)/remove", back: back)
        return answer(
            form.removal("The film with its poster\(votes) will be gone for good."), status, call)
    }

    /// A page for this request only.
    func answer(_ html: [UInt8], _ status: HTTPStatus, _ call: ServiceCall) -> HTTPResponse {
        var response = call.response(html, status: status)
        response.fields["Cache-Control"] = Page.ownCacheControl
        return response
    }

    /// Redirects with GET, so that reloading the page does not send the form again (RFC 9110 section 15.4.4).
    func seeOther(_ path: String, _ call: ServiceCall) -> HTTPResponse {
        let location = call.toRoot + path
        return HTTPResponse(
            status: .seeOther,
            fields: ["Location": location.isEmpty ? "./" : location, "Cache-Control": "no-store"])
    }
}
