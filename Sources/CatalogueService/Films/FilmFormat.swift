import FilmSources
import Films
import HTTPSemantics

/// The formats of films in answers.
enum FilmFormat: String, CaseIterable, Sendable {
    case json, xml, html

    var mediaType: String {
        switch self {
        case .json: "application/json"
        case .xml: "application/xml"
        case .html: "text/html; charset=utf-8"
        }
    }

    /// The formats for programs.
    static let ofPrograms = allCases.filter { $0 != .html }

    var problemType: String {
        switch self {
        case .json: ProblemDetails.jsonType
        case .xml: ProblemDetails.xmlType
        case .html: mediaType
        }
    }

    /// The format's media types in Accept.
    private var mediaTypes: [String] {
        switch self {
        case .json: ["application/json"]
        case .xml: ["application/xml", "text/xml"]
        case .html: ["text/html"]
        }
    }

    /// The format of an answer: the one of the path's ending, else the one that Accept prefers, JSON first among
    /// equals.
    /// - Parameter offers: the available formats. Default: all.
    /// - Returns: nil if the client accepts none of them.
    static func negotiated(
        _ ending: FilmFormat?, _ fields: HeaderFields, among offers: [FilmFormat] = allCases
    ) -> FilmFormat? {
        if let ending { return offers.contains(ending) ? ending : nil }
        return AcceptHeader(fields).preferred(offers) { $0.mediaTypes }
    }

    /// The format of an error: JSON if the client accepts none.
    static func ofProblems(_ ending: FilmFormat?, _ fields: HeaderFields) -> FilmFormat {
        ending ?? AcceptHeader(fields).preferred(allCases) { $0.mediaTypes + [$0.problemType] } ?? .json
    }

    /// A problem as an answer's body.
    /// - Parameter page: the page around it, in HTML.
    func text(of problem: ProblemDetails, on page: @autoclosure () -> Page) -> [UInt8] {
        switch self {
        case .json: Array(problem.json.utf8)
        case .xml: Array(problem.xml.utf8)
        case .html: ProblemPage(problem: problem, page: page()).html
        }
    }

    /// A name without the ending that selects a format, and that format.
    static func split(_ name: String) -> (name: String, ending: FilmFormat?) {
        for format in allCases {
            let ending = ".\(format.rawValue)"
            if name.utf8.count > ending.utf8.count, name.lowercased().hasSuffix(ending) {
                return (String(name.dropLast(ending.count)), format)
            }
        }
        return (name, nil)
    }
}

/// Films in answers: `id`, the document's members in their order, and then the library's own members.
///
///     {"id":"nosferatu","title":"Nosferatu","year":1922,"poster":"nosferatu/poster","rating":8.5,"votes":2,
///      "created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"}
struct FilmRendering: Sendable {
    /// Pages are written elsewhere; here HTML counts as JSON.
    let format: FilmFormat
    /// The relative path from the request's folder to the root.
    let toRoot: String

    /// - Parameter toRoot: the relative path from the request's folder to the root.
    init(_ format: FilmFormat = .json, toRoot: String) {
        (self.format, self.toRoot) = (format, toRoot)
    }

    init(_ call: ServiceCall) { self.init(call.format, toRoot: call.toRoot) }

    /// One film as the whole body.
    func document(_ film: StoredFilm) -> [UInt8] {
        var bytes: [UInt8] = []
        switch format {
        case .json, .html: append(film, to: &bytes)
        case .xml: bytes = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(whole(film).xml())".utf8)
        }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Films as a catalogue, in the shape of catalogue files.
    func list(_ films: [StoredFilm], name: String?) -> [UInt8] {
        var writer = CatalogueWriter(format: format == .xml ? .xml : .json, name: name)
        var bytes = Array(writer.start.utf8)
        bytes.reserveCapacity(films.count * 1024)
        for (index, film) in films.enumerated() {
            switch format {
            case .json, .html:
                bytes.append(contentsOf: (index == 0 ? "\n" : ",\n").utf8)
                append(film, to: &bytes)
            case .xml: bytes.append(contentsOf: writer.film(whole(film)).utf8)
            }
        }
        bytes.append(contentsOf: writer.end.utf8)
        return bytes
    }

    /// One vote on a film, with the film's score of all votes.
    func rating(_ value: Double, of film: StoredFilm) -> [UInt8] {
        var members = [JSONText.Member(name: "value", value: JSONText(value))]
        if let rating = film.rating {
            members.append(JSONText.Member(name: "rating", value: JSONText(rating)))
        }
        members.append(JSONText.Member(name: "votes", value: JSONText(film.votes)))
        let text =
            switch format {
            case .json, .html: JSONText(members: members).text
            case .xml:
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rating>"
                    + members.map { "<\($0.name)>\($0.value.text)</\($0.name)>" }.joined() + "</rating>"
            }
        return Array((text + "\n").utf8)
    }

    /// Joins existing texts, so that a page of films needs no parsing of JSON.
    private func append(_ film: StoredFilm, to bytes: inout [UInt8]) {
        let poster = posterAddress(of: film)
        let isRewritten = if case .address = film.poster { poster != nil } else { false }
        if isRewritten || hasOtherAddress(film) || film.json.text.utf8.count <= 2 {
            bytes.append(contentsOf: whole(film).json().utf8)
            return
        }
        bytes.append(contentsOf: "{\"id\":".utf8)
        bytes.append(contentsOf: JSONText(film.id).text.utf8)
        // The document begins with a brace; a comma after the id replaces it.
        let start = bytes.count
        bytes.append(contentsOf: film.json.text.utf8)
        bytes[start] = UInt8(ascii: ",")
        bytes[bytes.count - 1] = UInt8(ascii: ",")
        if let poster { bytes.append(contentsOf: "\"poster\":\(JSONText(poster).text),".utf8) }
        if let rating = film.rating, film.votes > 0 {
            bytes.append(contentsOf: "\"rating\":\(JSONText(rating).text),\"votes\":\(film.votes),".utf8)
        }
        bytes.append(contentsOf: "\"created_at\":\"".utf8)
        bytes.append(contentsOf: film.createdAt.utf8)
        bytes.append(contentsOf: "\",\"updated_at\":\"".utf8)
        bytes.append(contentsOf: film.updatedAt.utf8)
        bytes.append(contentsOf: "\"}".utf8)
    }

    /// One film with its poster's address, and with other addresses from the request's folder.
    func whole(_ film: StoredFilm) -> FilmDocument {
        let address = posterAddress(of: film)
        var document = film.completeDocument(poster: address)
        if let address { document["poster"] = JSONText(address) }
        for name in Self.otherAddresses {
            if let address = document[name]?.string.flatMap(adjusted) { document[name] = JSONText(address) }
        }
        return document
    }

    /// The members with addresses besides the poster's.
    static let otherAddresses = FilmMember.addresses.filter { $0 != .poster }.map(\.name)

    /// Whether one of these may have to be adjusted. Looks only for the members' names.
    private func hasOtherAddress(_ film: StoredFilm) -> Bool {
        !toRoot.isEmpty
            && Self.otherAddresses.contains { film.json.text.firstRange(of: "\"\($0)\":") != nil }
    }

    /// An address relative to the root as one from the request's folder; nil if it is the same.
    private func adjusted(_ address: String) -> String? {
        Self.isRelative(address) && !toRoot.isEmpty ? toRoot + address : nil
    }

    /// The poster's address if it differs from the document's: for a stored poster, and for an address relative to the
    /// root.
    private func posterAddress(of film: StoredFilm) -> String? {
        switch film.poster {
        case .none: return nil
        case .stored: return storedPosterAddress(of: film.id)
        case .address(let address): return adjusted(address)
        }
    }

    /// The address of a film's stored poster.
    func storedPosterAddress(of id: String) -> String {
        (toRoot.isEmpty ? "films/" : toRoot.dropLast(3)) + "\(PercentEncoding.encoded(id))/poster"
    }

    /// Whether an address is relative to a folder: without a scheme and without a leading slash (RFC 3986 section 4.2).
    static func isRelative(_ address: String) -> Bool {
        guard let first = address.utf8.first, first != UInt8(ascii: "/"), first != UInt8(ascii: "\\") else {
            return false
        }
        let segment = address.utf8.prefix { !"/?#".utf8.contains($0) }
        return !segment.contains(UInt8(ascii: ":"))
    }
}
