import CatalogueService
import FilmSources
import Films
import FoundationEssentials
import HTTPSemantics
import LazyImages

/// A film service, used by SOAP 1.1.
struct SoapCaller: Sendable {
    let url: URL
    let access: any FilmAccess

    /// The service's name in messages.
    private var name: String { url.displayText }

    /// The service's answer.
    private enum Reply {
        case result(XMLElement)
        /// The service refused the operation with this status, which the caller expected.
        case refused(Int, isRepeated: Bool)
    }

    /// The most bytes of an answer: a page of films has some megabytes.
    private static let answerLimit = 64 << 20
    /// The films of a page. A service with smaller pages gives a cursor.
    private static let pageLimit = 1000

    /// The message for an operation.
    /// - Parameter parameters: elements without a prefix.
    static func message(_ operation: SoapOperation, _ parameters: String) -> UploadBody {
        let element =
            "<\(operation.rawValue) xmlns=\"\(SoapOperation.namespace)\">\(parameters)</\(operation.rawValue)>"
        return .bytes(SoapEnvelope.message(element), mediaType: SoapEnvelope.contentType)
    }

    // MARK: Operations

    /// The film with an id; nil if there is none.
    func film(_ id: String) async throws -> FilmClient.Film? {
        let parameters = Self.element("id", id)
        return film(in: try await ask(.film, Self.message(.film, parameters), expecting: [404]), .film)
    }

    /// Adds a film.
    /// - Parameter message: the message that adds it.
    func create(_ message: UploadBody) async throws -> FilmClient.Creation {
        let reply = try await ask(.add, message, expecting: [409])
        if case .refused(_, let isRepeated) = reply { return .taken(isRepeated: isRepeated) }
        guard let film = film(in: reply, .add) else { throw noAnswer() }
        return .added(film)
    }

    /// Merges a patch into a film; nil if the film has changed since it was read.
    func change(_ film: FilmClient.Film, _ patch: JSONText) async throws -> FilmClient.Film? {
        let change = SoapFilm.xml(try FilmDocument(json: patch), tag: film.tag, as: "film")
        let message = Self.message(.edit, Self.element("id", film.id) + change)
        let reply = try await ask(.edit, message, expecting: [412], mayBeRepeated: film.tag != nil)
        return self.film(in: reply, .edit)
    }

    /// Removes a film. A missing film counts as removed.
    /// - Returns: false if it has changed since it was read.
    func remove(_ film: FilmClient.Film) async throws -> Bool {
        let tag = film.tag.map { Self.element("tag", $0) } ?? ""
        let message = Self.message(.remove, Self.element("id", film.id) + tag)
        if case .refused(412, _) = try await ask(.remove, message, expecting: [404, 412]) { return false }
        return true
    }

    /// Sets a vote, or removes it if the value is nil. A missing vote counts as removed.
    func rate(_ film: FilmClient.Film, by rater: String, _ value: Double?) async throws {
        let vote = value.map { Self.element("value", "\($0)") } ?? "<value xsi:nil=\"true\"/>"
        let parameters = Self.element("id", film.id) + Self.element("rater", rater) + vote
        _ = try await ask(
            .rate, Self.message(.rate, parameters), expecting: value == nil ? [404] : [])
    }

    /// Reads the films.
    func readPages(_ selection: FilmSelection, _ take: CataloguePage.Taker) async throws {
        let best = selection.words == nil && selection.first?.order == .score ? selection.first?.count : nil
        if best == 3 {
            _ = try await take(try page(try await result(.top3AsXml, ""), .top3AsXml))
            return
        }
        let isOnePage = best.map { $0 <= Self.pageLimit } ?? false
        var parameters = Self.element("limit", "\(isOnePage ? best ?? 0 : Self.pageLimit)")
        let rest =
            (selection.words.map { Self.element("q", $0) } ?? "")
            + (isOnePage ? Self.element("sort", "score") : "")
        var visited: Set<String> = []
        var after = ""
        while true {
            let result = try await result(.filmsAsXml, parameters + after + rest)
            var page = try page(result, .filmsAsXml)
            let next = isOnePage ? "" : result.child("next")?.text ?? ""
            page.isLast = next.isEmpty
            if try await !take(page) || page.isLast { return }
            guard visited.insert(next).inserted, visited.count < WebFilms.maximumPages else {
                throw Failure("\(name): the pages of the catalogue do not end")
            }
            parameters = Self.element("limit", "\(Self.pageLimit)")
            after = Self.element("after", next)
        }
    }

    // MARK: Messages

    private func result(_ operation: SoapOperation, _ parameters: String) async throws -> XMLElement {
        guard case .result(let result) = try await ask(operation, Self.message(operation, parameters)) else {
            throw noAnswer()
        }
        return result
    }

    /// - Parameters:
    ///   - expecting: the statuses of refusals that are not failures.
    ///   - mayBeRepeated: whether sending the message twice does no harm.
    private func ask(
        _ operation: SoapOperation, _ message: UploadBody, expecting: Set<Int> = [],
        mayBeRepeated: Bool = true
    ) async throws -> Reply {
        var request = UploadRequest(
            url: url, .post, message, fields: ["SOAPAction": "\"\(operation.action)\""])
        request.mayBeRepeated = mayBeRepeated
        request.isAnsweredBy500 = true
        request.answerLimit = Self.answerLimit
        let response = try await access.send(request)
        let content: XMLElement
        do throws(SoapFault) {
            content = try SoapEnvelope(parsing: response.body).content
        } catch {
            if response.status >= 400 {
                throw ServiceProblem(response.status, response.body, from: name).failure
            }
            throw noAnswer()
        }
        if let fault = SoapFault(content) {
            guard let problem = fault.problem else { throw Failure("\(name): \(fault.text)") }
            let status = problem.status.rawValue
            if expecting.contains(status) { return .refused(status, isRepeated: response.isRepeated) }
            throw ServiceProblem(status, Array(problem.json.utf8), from: name).failure
        }
        guard content.localName == operation.rawValue + "Response" else { throw noAnswer() }
        return .result(content)
    }

    private func noAnswer() -> Failure {
        Failure("\(name): this is not a film service in SOAP; check the address")
    }

    private func film(in reply: Reply, _ operation: SoapOperation) -> FilmClient.Film? {
        guard case .result(let result) = reply, let film = result.child(operation.resultName) else {
            return nil
        }
        return FilmClient.Film(
            document: SoapFilm.document(film, keepsNull: false), tag: film.attribute("tag"))
    }

    private func page(
        _ result: XMLElement, _ operation: SoapOperation
    ) throws(Failure) -> CataloguePage {
        guard let text = result.child(operation.resultName)?.text else { throw noAnswer() }
        return CataloguePage(Array(text.utf8), base: BaseURL(url))
    }

    private static func element(_ name: String, _ text: String) -> String {
        "<\(name)>\(XMLText.escaped(text))</\(name)>"
    }
}

/// The films of a service that is used by SOAP.
struct SoapFilms: FilmProvider {
    private let address: FilmsAddress
    let name: String

    /// - Parameter name: the address as typed.
    init(_ address: FilmsAddress, name: String) {
        // Hides credentials. Ignored: the address could be read.
        (self.address, self.name) = (address, (try? URL(typed: name))?.displayText ?? name)
    }

    var abilities: FilmAbilities {
        FilmAbilities().with {
            ($0.isRemote, $0.searches, $0.writing) = (true, true, .service(address.soap))
            $0.serving = .refused("\(name) is on the network; import it: marquee import \(name) LIBRARY.db")
        }
    }

    func readPages(
        _ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws {
        try await caller(access).readPages(selection, take)
    }

    func film(_ id: String, _ access: any FilmAccess) async throws -> FoundFilm? {
        guard let film = try await caller(access).film(id) else { return nil }
        return FoundFilm(try film.document.movie(), base: BaseURL(address.soap))
    }

    private func caller(_ access: any FilmAccess) throws(UsageError) -> SoapCaller {
        if access.isOffline { throw UsageError("leave out --offline: answers in SOAP are not cached") }
        return SoapCaller(url: address.soap, access: access)
    }
}
