import CatalogueService
import FilmSources
import Films
import FoundationEssentials
import HTTPSemantics
import LazyImages

/// A request about one film.
enum FilmChange: Sendable {
    case read(id: String)
    /// The film has an id. So a request whose answer was lost can be sent again: the id prevents a second film.
    case add(FilmDocument, PosterFile?, FilmWire)
    /// Merges a patch into a film, unless the film has changed since it was read.
    case merge(FilmDocument, into: FilmClient.Film)
    /// Removes a film, unless it has changed since it was read.
    case remove(FilmClient.Film)
    case setPoster(PosterFile, of: FilmClient.Film)
    /// Sets a vote, or removes it if the value is nil.
    case rate(FilmClient.Film, by: String, Double?)
}

/// What has come of a request about a film.
enum FilmOutcome: Sendable {
    /// It is done. The film as it is then, where the answer has it.
    case done(FilmClient.Film?)
    /// It was refused with one of the statuses that the caller expected.
    /// - Parameter isRepeated: whether it was sent more than once, and may have refused itself.
    case refused(Int, isRepeated: Bool)

    var film: FilmClient.Film? { if case .done(let film) = self { film } else { nil } }
}

/// Where films can be changed: a service by REST or by SOAP, or a library file.
protocol ChangeableFilms: Sendable {
    /// Whether a film's poster can be added with it, whatever the format of the film is. Default: no.
    var addsPosters: Bool { get }

    /// - Parameter expected: the statuses of refusals that are not failures.
    func perform(_ change: FilmChange, expecting expected: Set<Int>) async throws -> FilmOutcome
}

extension ChangeableFilms {
    var addsPosters: Bool { false }
}

/// The films that a user can change.
struct FilmClient: Sendable {
    /// A film in the answer.
    struct Film: Sendable {
        let document: FilmDocument
        /// Its entity tag; nil if the service gives none.
        let tag: String?

        /// Its id in the service.
        var id: String {
            document["id"].map { $0.string ?? $0.text } ?? ""
        }

        /// `Nosferatu (1922)`.
        var name: String {
            let title = document["title"]?.string ?? id
            return document["year"]?.number == nil ? title : "\(title) (\(document["year"]?.text ?? ""))"
        }
    }

    /// Reads the films.
    let provider: any FilmProvider
    private let films: any ChangeableFilms
    private let reader: FilmReader
    /// The addresses of the service; those of a library's posters.
    private let address: FilmsAddress

    /// The films of a library.
    init(_ provider: any FilmProvider, library path: String, _ reader: FilmReader) throws {
        guard let address = FilmsAddress(catalogue: try URL(typed: LibraryPosters.base(path))) else {
            throw Failure("\(path): this is no library")
        }
        (self.provider, self.reader, self.address) = (provider, reader, address)
        films = try LocalFilms(path: path)
    }

    /// The films of a service.
    init(_ provider: any FilmProvider, _ address: FilmsAddress, _ reader: FilmReader) {
        (self.provider, self.reader, self.address) = (provider, reader, address)
        films =
            address.isSoap
            ? SoapCaller(address: address, access: reader) : RestFilms(address: address, access: reader)
    }

    /// The format of a film that is sent without a choice.
    func usualWire(hasPoster: Bool) -> FilmWire { address.isSoap ? .soap : hasPoster ? .multipart : .json }

    /// Whether a poster is sent with its film in this format.
    func sendsPoster(with wire: FilmWire) -> Bool { films.addsPosters || wire == .multipart }

    /// The film with an id; nil if there is none.
    func film(_ id: String) async throws -> Film? {
        try await films.perform(.read(id: id), expecting: [404]).film
    }

    /// - Parameter expected: the statuses of refusals that are not failures. Default: none.
    func perform(_ change: FilmChange, expecting expected: Set<Int> = []) async throws -> FilmOutcome {
        try await films.perform(change, expecting: expected)
    }

    /// Removes a film. A missing one counts as removed.
    /// - Returns: false if it has changed since it was read.
    func remove(_ film: Film) async throws -> Bool {
        if case .refused(412, _) = try await films.perform(.remove(film), expecting: [404, 412]) {
            return false
        }
        await forgetPoster(of: film)
        return true
    }

    /// Lets the next load of a film's poster ask whether it has changed.
    func forgetPoster(of film: Film) async { await reader.forget(address.poster(of: film.id)) }

    /// Sets a film's poster.
    /// - Returns: the film as it is then.
    func setPoster(of film: Film, _ poster: PosterFile) async throws -> Film {
        _ = try await films.perform(.setPoster(poster, of: film), expecting: [])
        return try await self.film(film.id) ?? film
    }
}

/// The films of a service that is used by REST.
struct RestFilms: ChangeableFilms {
    let address: FilmsAddress
    let access: any FilmAccess

    func perform(_ change: FilmChange, expecting expected: Set<Int>) async throws -> FilmOutcome {
        let (request, hasFilm) = request(for: change)
        let response = try await access.send(request)
        var isRefused = expected.contains(response.status)
        // A server without films answers 404 too.
        if case .read = change { isRefused = isRefused && isService(response) }
        if isRefused { return .refused(response.status, isRepeated: response.isRepeated) }
        guard (200..<300).contains(response.status) else {
            throw ServiceProblem(response.status, response.body, from: response.url.displayText).failure
        }
        return .done(hasFilm ? try film(in: response) : nil)
    }

    /// The request, and whether its answer is a film.
    private func request(for change: FilmChange) -> (UploadRequest, hasFilm: Bool) {
        func request(
            _ url: URL, _ method: RequestMethod, _ body: UploadBody? = nil,
            ifUnchanged film: FilmClient.Film? = nil
        ) -> UploadRequest {
            UploadRequest(
                url: url, method, body, fields: film?.tag.map { ["If-Match": $0] } ?? HeaderFields())
        }
        switch change {
        case .read(let id): return (request(address.film(id), .get), true)
        case .add(let film, let poster, let wire):
            var adding = request(address.films, .post, wire.body(of: film, poster: poster))
            adding.mayBeRepeated = true
            return (adding, true)
        case .merge(let patch, let film):
            let body = UploadBody.bytes(
                Array(patch.json().utf8), mediaType: "application/merge-patch+json")
            var merging = request(address.film(film.id), .patch, body, ifUnchanged: film)
            if film.tag != nil { merging.mayBeRepeated = true }
            return (merging, true)
        case .remove(let film): return (request(address.film(film.id), .delete, ifUnchanged: film), false)
        case .setPoster(let poster, let film):
            let body = UploadBody.file(poster.path, mediaType: poster.mediaType)
            return (request(address.poster(of: film.id), .put, body), false)
        case .rate(let film, let rater, let value):
            let url = address.rating(of: film.id, by: rater)
            guard let value else { return (request(url, .delete), false) }
            let vote = JSONText(members: [JSONText.Member(name: "value", value: JSONText(value))])
            let body = UploadBody.bytes(Array(vote.text.utf8), mediaType: "application/json")
            return (request(url, .put, body), false)
        }
    }

    private func film(in response: UploadResponse) throws(Failure) -> FilmClient.Film {
        do throws(CatalogueError) {
            let document = try FilmDocument(
                json: try JSONText(parsing: response.body), allowsDuplicates: true)
            return FilmClient.Film(document: document, tag: response.fields["etag"])
        } catch {
            throw Failure(
                "\(response.url.displayText): the answer is not a film: \(error); "
                    + "name a film service with --catalogue http://HOST:PORT/films")
        }
    }

    /// Whether a film service has answered, and not a server without films.
    private func isService(_ response: UploadResponse) -> Bool {
        response.fields["content-type"]?.lowercased().hasPrefix("application/") == true
    }
}

/// The format of a film in a request.
enum FilmWire: String, Sendable {
    case json, xml, form, multipart, soap

    /// The option of commands that do not send a whole film.
    static let option = Option(
        name: "wire", value: "FORMAT", help: "the format: json or soap (default: as in --catalogue)",
        choices: ["json", "soap"])

    /// A film as the body of a request.
    /// - Parameter poster: sent only in a multipart form.
    func body(of film: FilmDocument, poster: PosterFile?) -> UploadBody {
        switch self {
        case .json, .soap: return .bytes(Array(film.json().utf8), mediaType: "application/json")
        case .xml:
            let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + film.xml()
            return .bytes(Array(text.utf8), mediaType: "application/xml")
        case .form:
            return .urlEncoded(Self.fields(of: film))
        case .multipart:
            var parts = Self.fields(of: film).map { FormPart.field($0.name, $0.value) }
            if let poster {
                parts.append(.file("poster", path: poster.path, mediaType: poster.mediaType))
            }
            return .form(parts)
        }
    }

    /// `film[title]=…&film[genres][]=…`
    private static func fields(of film: FilmDocument) -> [(name: String, value: String)] {
        film.members.flatMap { member in
            if let elements = member.value.elements {
                return elements.map { ("film[\(member.name)][]", $0.string ?? $0.text) }
            }
            return [("film[\(member.name)]", member.value.string ?? member.value.text)]
        }
    }
}

/// Why a film service has refused a request, in one line: the problem details (RFC 9457), and advice for the user.
///
///     http://nas:8080/films: 422 Unprocessable Content: 2 members are wrong (/year must be a number; /score must be …)
struct ServiceProblem {
    private let status: Int
    private let name: String
    private let members: FilmDocument?

    /// - Parameters:
    ///   - body: problem details in JSON, or any other body.
    ///   - name: the name of the service in messages.
    init(_ status: Int, _ body: [UInt8], from name: String) {
        self.status = status
        self.name = name
        // Ignored: an answer that is not JSON gives only its status.
        members =
            (try? JSONText(parsing: body)).flatMap {
                try? FilmDocument(json: $0, allowsDuplicates: true)
            }
    }

    /// The failure for the user.
    var failure: Failure {
        let reason = members?["title"]?.string ?? HTTPStatus(rawValue: status).reason
        let detail = members?["detail"]?.string ?? ""
        var text = "\(name): \(status)"
        if !reason.isEmpty { text += " " + reason }
        if !detail.isEmpty { text += ": " + detail }
        let errors = errors
        // A single error repeats the detail.
        if errors.count > 1 || members?["detail"] == nil, !errors.isEmpty {
            text += " (" + errors.joined(separator: "; ") + ")"
        }
        if let advice { text += "; " + advice }
        return Failure(text, code: "http-status")
    }

    /// Each error with its pointer: `/year must be a number`.
    private var errors: [String] {
        (members?["errors"]?.elements ?? []).compactMap { element in
            // Ignored: an unreadable error is left out.
            guard let error = try? FilmDocument(json: element, allowsDuplicates: true) else { return nil }
            let parts = [error["pointer"]?.string, error["detail"]?.string].compactMap(\.self)
            return parts.isEmpty ? nil : parts.joined(separator: " ")
        }
    }

    private var advice: String? {
        switch status {
        case 401: "give a token with --credentials-file or MARQUEE_CREDENTIALS"
        case 404 where members == nil, 501: "name a film service with --catalogue http://HOST:PORT/films"
        case 405 where members?["detail"]?.string?.contains("--writable") != true:
            "start the service with --writable, or name one that is writable"
        case 413, 507: nil
        case 429, 500...: "try again later"
        default: nil
        }
    }
}
