import CatalogueService
import FilmSources
import Films
import FoundationEssentials
import HTTPSemantics
import LazyImages

/// The films that a user can change: those of a service, by REST or by SOAP, or those of a library file.
struct FilmClient: Sendable {
    /// A film in the service's answer.
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

    /// The result of adding a film.
    enum Creation: Sendable {
        case added(Film)
        /// Its id is taken: by itself, if it was sent more than once and an answer was lost.
        case taken(isRepeated: Bool)
    }

    /// Where the films are.
    enum Place: Sendable {
        case library(LocalFilms, path: String)
        case service(FilmsAddress)
    }

    /// Reads the films.
    let provider: any FilmProvider
    /// The addresses of the service; those of a library's posters.
    private let address: FilmsAddress
    /// Nil for the films of a service.
    private let local: LocalFilms?
    /// Nil for a service that is used by REST, and for a library.
    private let soap: SoapCaller?
    private let reader: FilmReader

    init(_ provider: any FilmProvider, _ place: Place, _ reader: FilmReader) throws {
        (self.provider, self.reader) = (provider, reader)
        switch place {
        case .library(let films, let path):
            let url = try URL(typed: LibraryTransport.base(path))
            guard let address = FilmsAddress(catalogue: url) else { throw Failure("\(path): no library") }
            (self.address, local, soap) = (address, films, nil)
        case .service(let address):
            (self.address, local) = (address, nil)
            soap = address.isSoap ? SoapCaller(url: address.soap, access: reader) : nil
        }
    }

    /// The format of a film that is sent without a choice.
    func usualWire(hasPoster: Bool) -> FilmWire { soap != nil ? .soap : hasPoster ? .multipart : .json }

    // MARK: Requests

    /// The film with an id; nil if there is none.
    func film(_ id: String) async throws -> Film? {
        if let local { return try await local.film(id) }
        if let soap { return try await soap.film(id) }
        let response = try await send(address.film(id), .get)
        if response.status == 404, isService(response) { return nil }
        return try film(in: response)
    }

    /// Whether a poster is sent with its film in this format.
    func sendsPoster(with wire: FilmWire) -> Bool { local != nil || wire == .multipart }

    /// Adds a film that has an id. If the answer is lost, the request is sent again: the id prevents a second film.
    /// - Parameter poster: its poster, if that is sent with it.
    func create(_ film: FilmDocument, _ poster: PosterFile?, _ wire: FilmWire) async throws -> Creation {
        if let local { return try await local.create(film, poster) }
        let body = wire.body(of: film, poster: poster)
        if let soap { return try await soap.create(body) }
        let response = try await send(address.films, .post, body, mayBeRepeated: true)
        if response.status == 409 { return .taken(isRepeated: response.isRepeated) }
        return .added(try self.film(in: response))
    }

    /// Merges a patch into a film, unless the film has changed since it was read.
    /// - Returns: nil if it has changed.
    func change(_ film: Film, _ patch: JSONText) async throws -> Film? {
        if let local { return try await local.change(film, try FilmDocument(json: patch)) }
        if let soap { return try await soap.change(film, patch) }
        let body = UploadBody.bytes(Array(patch.text.utf8), mediaType: "application/merge-patch+json")
        let response = try await send(
            address.film(film.id), .patch, body, condition(film), mayBeRepeated: film.tag != nil)
        if response.status == 412 { return nil }
        return try self.film(in: response)
    }

    /// Removes a film, unless it has changed since it was read. A missing film counts as removed.
    /// - Returns: false if it has changed.
    func remove(_ film: Film) async throws -> Bool {
        if let local {
            guard try await local.remove(film) else { return false }
        } else if let soap {
            guard try await soap.remove(film) else { return false }
        } else {
            let response = try await send(address.film(film.id), .delete, nil, condition(film))
            if response.status == 412 { return false }
            if response.status != 404 { try check(response) }
        }
        await forgetPoster(of: film)
        return true
    }

    /// Lets the next load of a film's poster ask whether it has changed.
    func forgetPoster(of film: Film) async { await reader.forget(address.poster(of: film.id)) }

    /// Sets a film's poster.
    /// - Returns: the film as it is then.
    func setPoster(of film: Film, _ poster: PosterFile) async throws -> Film {
        if let local {
            try await local.setPoster(of: film, poster)
        } else {
            let body = UploadBody.file(poster.path, mediaType: poster.mediaType)
            try check(try await send(address.poster(of: film.id), .put, body))
        }
        return try await self.film(film.id) ?? film
    }

    /// Sets a vote, or removes it if the value is nil. A missing vote counts as removed.
    func rate(_ film: Film, by rater: String, _ value: Double?) async throws {
        if let local { return try await local.rate(film, by: rater, value) }
        if let soap { return try await soap.rate(film, by: rater, value) }
        let url = address.rating(of: film.id, by: rater)
        guard let value else {
            let response = try await send(url, .delete)
            if response.status != 404 { try check(response) }
            return
        }
        let vote = JSONText(members: [JSONText.Member(name: "value", value: JSONText(value))])
        try check(
            try await send(url, .put, .bytes(Array(vote.text.utf8), mediaType: "application/json")))
    }

    private func condition(_ film: Film) -> HeaderFields {
        film.tag.map { ["If-Match": $0] } ?? HeaderFields()
    }

    private func send(
        _ url: URL, _ method: RequestMethod, _ body: UploadBody? = nil,
        _ fields: HeaderFields = HeaderFields(), mayBeRepeated: Bool = false
    ) async throws(ImageLoadingError) -> UploadResponse {
        var request = UploadRequest(url: url, method, body, fields: fields)
        if mayBeRepeated { request.mayBeRepeated = true }
        return try await reader.send(request)
    }

    // MARK: Answers

    private func film(in response: UploadResponse) throws -> Film {
        try check(response)
        do throws(CatalogueError) {
            let document = try FilmDocument(
                json: try JSONText(parsing: response.body), allowsDuplicates: true)
            return Film(document: document, tag: response.fields["etag"])
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

    private func check(_ response: UploadResponse) throws(Failure) {
        guard (200..<300).contains(response.status) else {
            throw ServiceProblem(response.status, response.body, from: response.url.displayText).failure
        }
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
        case .json: return .bytes(Array(film.json().utf8), mediaType: "application/json")
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
        case .soap: return SoapCaller.message(.add, SoapFilm.xml(film, as: "film"))
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
