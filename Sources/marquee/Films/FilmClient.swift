import FoundationEssentials
import HTTPSemantics
import LazyImages
import MovieCatalogue

/// A film service, and the requests that a user can make. Every change goes through it, both for a service on the
/// network and for the program's own service of a library file.
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

    let address: FilmsAddress
    let opened: OpenLoader
    /// The library's file, for messages; nil for a service on the network, which its addresses name.
    private let library: String?
    private let uploader: Uploader
    private let fields: HeaderFields
    /// Nil if the service is used by REST.
    let soap: SoapCaller?
    private let log: Task<Void, Never>?

    /// - Parameters:
    ///   - opened: the loader that reaches the service. `close` closes it.
    ///   - fields: the user's own header fields.
    ///   - library: the path of the library, if the service is a file's.
    init(_ address: FilmsAddress, _ opened: OpenLoader, fields: HeaderFields, library: String?) {
        self.address = address
        self.opened = opened
        self.library = library
        uploader = Uploader(opened.loader)
        var fields = fields
        if fields["accept"] == nil { fields["Accept"] = "application/json, application/problem+json" }
        self.fields = fields
        soap =
            address.isSoap
            ? SoapCaller(
                url: address.soap, uploader: uploader, fields: fields,
                name: library ?? address.soap.displayText) : nil
        log = opened.output.isVerbose ? TransferLog.follow(uploader.activity, opened.output) : nil
    }

    /// Closes the loader.
    func close() async {
        log?.cancel()
        await log?.value
        await opened.close()
    }

    // MARK: Requests

    /// The film with an id; nil if there is none.
    func film(_ id: String) async throws -> Film? {
        if let soap { return try await soap.film(id) }
        let response = try await send(address.film(id), .get)
        if response.status == 404, isService(response) { return nil }
        return try film(in: response)
    }

    /// Adds a film that has an id. If the answer is lost, the request is sent again: the id prevents a second film.
    func create(_ body: UploadBody) async throws -> Creation {
        if let soap { return try await soap.create(body) }
        let response = try await send(address.films, .post, body, mayBeRepeated: true)
        if response.status == 409 { return .taken(isRepeated: response.isRepeated) }
        return .added(try film(in: response))
    }

    /// Merges a patch into a film, unless the film has changed since it was read.
    /// - Returns: nil if it has changed.
    func change(_ film: Film, _ patch: JSONText) async throws -> Film? {
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
        if let soap {
            guard try await soap.remove(film) else { return false }
        } else {
            let response = try await send(address.film(film.id), .delete, nil, condition(film))
            if response.status == 412 { return false }
            if response.status != 404 { try check(response) }
        }
        await opened.loader.invalidate(address.poster(of: film.id), fields: fields)
        return true
    }

    /// Sets a film's poster, or removes it.
    func setPoster(of film: Film, _ poster: PosterFile?) async throws {
        let body = poster.map { UploadBody.file($0.path, mediaType: $0.mediaType) }
        let response = try await send(address.poster(of: film.id), body == nil ? .delete : .put, body)
        if body == nil, response.status == 404 { return }
        try check(response)
    }

    /// Sets a vote, or removes it if the value is nil. A missing vote counts as removed.
    func rate(_ film: Film, by rater: String, _ value: Double?) async throws {
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
        _ url: URL, _ method: HTTPMethod, _ body: UploadBody? = nil, _ more: HeaderFields = HeaderFields(),
        mayBeRepeated: Bool = false
    ) async throws(ImageLoadingError) -> UploadResponse {
        var fields = fields
        for field in more.fields { fields[field.name] = field.value }
        var request = UploadRequest(url: url, method, body, fields: fields)
        if mayBeRepeated { request.mayBeRepeated = true }
        return try await uploader.upload(request)
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
            throw ServiceProblem(response, library: library).failure
        }
    }
}
