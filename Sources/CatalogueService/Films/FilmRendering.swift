import FilmLibrary
import HTTPSemantics
import MovieCatalogue

/// Films as they are given: the document's members in their order with `id` first, then what the library knows.
///
///     {"id":"nosferatu","title":"Nosferatu","year":1922,"poster":"nosferatu/poster","rating":8.5,"votes":2,
///      "created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"}
struct FilmRendering: Sendable {
    let format: FilmFormat
    /// Leads from the folder of the request's path to the root.
    let toRoot: String

    init(_ call: FilmCall) {
        format = call.format
        toRoot = call.target.toRoot
    }

    /// One film as a whole answer.
    func document(_ film: StoredFilm) -> [UInt8] {
        switch format {
        case .json: Array((json(film) + "\n").utf8)
        case .xml: Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(whole(film).xml())\n".utf8)
        }
    }

    /// Films as a catalogue, in the shape of today's files.
    func list(_ films: [StoredFilm], name: String?) -> [UInt8] {
        var writer = CatalogueWriter(format: format == .json ? .json : .xml, name: name)
        var text = writer.start
        text.reserveCapacity(films.count * 1024)
        for (index, film) in films.enumerated() {
            switch format {
            case .json:
                text += index == 0 ? "\n" : ",\n"
                append(film, to: &text)
            case .xml: text += writer.film(whole(film))
            }
        }
        text += writer.end
        return Array(text.utf8)
    }

    private func json(_ film: StoredFilm) -> String {
        var text = ""
        append(film, to: &text)
        return text
    }

    /// Joins texts that are there already: a page of films is made without reading any JSON.
    private func append(_ film: StoredFilm, to text: inout String) {
        text += "{\"id\":\(JSONText(film.id).text)"
        let poster = posterAddress(of: film)
        for member in film.document.members
        where member.name != "id" && !(member.name == "poster" && poster != nil) {
            text += ",\(JSONText(member.name).text):\(member.value.text)"
        }
        for (name, value) in additions(film, poster) { text += ",\"\(name)\":\(value.text)" }
        text += "}"
    }

    private func whole(_ film: StoredFilm) -> FilmDocument {
        let address = posterAddress(of: film)
        var document = film.whole(poster: address)
        if let address { document["poster"] = JSONText(address) }
        return document
    }

    private func additions(_ film: StoredFilm, _ poster: String?) -> [(name: String, value: JSONText)] {
        var additions: [(name: String, value: JSONText)] = []
        if let poster { additions.append(("poster", JSONText(poster))) }
        if let rating = film.rating, film.votes > 0 {
            additions += [("rating", JSONText(rating)), ("votes", JSONText(film.votes))]
        }
        additions.append(("created_at", JSONText(film.createdAt)))
        additions.append(("updated_at", JSONText(film.updatedAt)))
        return additions
    }

    /// The poster's address where it is not the document's own: of a stored poster, and of one that is relative to the root.
    private func posterAddress(of film: StoredFilm) -> String? {
        switch film.poster {
        case .none: return nil
        case .stored: return storedPosterAddress(of: film.id)
        case .address(let address):
            return Self.isRelative(address) && !toRoot.isEmpty ? toRoot + address : nil
        }
    }

    /// The address of the poster that the library stores for a film.
    func storedPosterAddress(of id: String) -> String {
        (toRoot.isEmpty ? "films/" : toRoot.dropLast(3)) + "\(PercentEncoding.encoded(id))/poster"
    }

    /// Whether an address is relative to a folder: without a scheme, and without a slash before it (RFC 3986 section 4.2).
    static func isRelative(_ address: String) -> Bool {
        guard let first = address.utf8.first, first != UInt8(ascii: "/"), first != UInt8(ascii: "\\") else {
            return false
        }
        let segment = address.utf8.prefix { !"/?#".utf8.contains($0) }
        return !segment.contains(UInt8(ascii: ":"))
    }
}
