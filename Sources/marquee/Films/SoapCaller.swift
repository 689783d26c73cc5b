import CatalogueService
import FilmSources
import Films
import FoundationEssentials
import HTTPSemantics
import LazyImages

/// A film service, used by SOAP 1.1.
struct SoapCaller: ChangeableFilms {
    let address: FilmsAddress
    let access: any FilmAccess

    private var url: URL { address.soap }

    /// The service's name in messages.
    fileprivate var name: String { url.displayText }

    /// The service's answer.
    private enum Reply {
        case result(XMLElement)
        /// The service refused the operation with this status, which the caller expected.
        case refused(Int, isRepeated: Bool)
    }

    /// The most bytes of an answer: a page of films has some megabytes.
    private static let answerLimit = 64 << 20
    /// The films of a page. A service with smaller pages gives a cursor.
    fileprivate static let pageLimit = 1000

    // MARK: Operations

    func perform(_ change: FilmChange, expecting expected: Set<Int>) async throws -> FilmOutcome {
        let operation: SoapOperation
        var parameters = ""
        var mayBeRepeated = true
        switch change {
        case .setPoster:
            // A picture goes by REST.
            return try await RestFilms(address: address, access: access).perform(
                change, expecting: expected)
        case .read(let id): (operation, parameters) = (.film, Self.element("id", id))
        case .add(let film, _, _): (operation, parameters) = (.add, SoapFilm.xml(film, as: "film"))
        case .merge(let patch, let film):
            operation = .edit
            parameters =
                Self.element("id", film.id)
                + SoapFilm.xml(patch, tag: film.tag, as: "film")
            mayBeRepeated = film.tag != nil
        case .remove(let film):
            operation = .remove
            parameters =
                Self.element("id", film.id) + (film.tag.map { Self.element("tag", $0) } ?? "")
        case .rate(let film, let rater, let value):
            operation = .rate
            parameters =
                Self.element("id", film.id) + Self.element("rater", rater)
                + (value.map { Self.element("value", "\($0)") } ?? "<value xsi:nil=\"true\"/>")
        }
        switch try await ask(operation, parameters, expecting: expected, mayBeRepeated: mayBeRepeated) {
        case .refused(let status, let isRepeated): return .refused(status, isRepeated: isRepeated)
        case .result(let result):
            let film = result.child(operation.resultName).map {
                FilmClient.Film(
                    document: SoapFilm.document($0, keepsNull: false), tag: $0.attribute("tag"))
            }
            if film == nil, case .add = change { throw noAnswer() }
            return .done(film)
        }
    }

    // MARK: Messages

    fileprivate func result(_ operation: SoapOperation, _ parameters: String) async throws -> XMLElement {
        guard case .result(let result) = try await ask(operation, parameters) else {
            throw noAnswer()
        }
        return result
    }

    /// - Parameters:
    ///   - expecting: the statuses of refusals that are not failures.
    ///   - mayBeRepeated: whether sending the message twice does no harm.
    private func ask(
        _ operation: SoapOperation, _ parameters: String, expecting: Set<Int> = [],
        mayBeRepeated: Bool = true
    ) async throws -> Reply {
        let element = operation.rawValue
        let message = SoapEnvelope.message(
            "<\(element) xmlns=\"\(SoapOperation.namespace)\">\(parameters)</\(element)>")
        var request = UploadRequest(
            url: url, .post, .bytes(message, mediaType: SoapEnvelope.contentType),
            fields: ["SOAPAction": "\"\(operation.action)\""])
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

    fileprivate func page(
        _ result: XMLElement, _ operation: SoapOperation
    ) throws(Failure) -> CataloguePage {
        guard let text = result.child(operation.resultName)?.text else { throw noAnswer() }
        return CataloguePage(Array(text.utf8), base: BaseURL(url))
    }

    fileprivate static func element(_ name: String, _ text: String) -> String {
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
            $0.serving = .afterImport(of: name)
        }
    }

    func readPages(
        _ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws {
        let caller = try caller(access)
        let best = selection.words == nil && selection.first?.order == .score ? selection.first?.count : nil
        if best == 3 {
            _ = try await take(try caller.page(try await caller.result(.top3AsXml, ""), .top3AsXml))
            return
        }
        let isOnePage = best.map { $0 <= SoapCaller.pageLimit } ?? false
        var parameters = SoapCaller.element("limit", "\(isOnePage ? best ?? 0 : SoapCaller.pageLimit)")
        let rest =
            (selection.words.map { SoapCaller.element("q", $0) } ?? "")
            + (isOnePage ? SoapCaller.element("sort", "score") : "")
        var visited: Set<String> = []
        var after = ""
        while true {
            let result = try await caller.result(.filmsAsXml, parameters + after + rest)
            var page = try caller.page(result, .filmsAsXml)
            let next = isOnePage ? "" : result.child("next")?.text ?? ""
            page.isLast = next.isEmpty
            if try await !take(page) || page.isLast { return }
            guard visited.insert(next).inserted, visited.count < WebFilms.maximumPages else {
                throw Failure("\(caller.name): the pages of the catalogue do not end")
            }
            parameters = SoapCaller.element("limit", "\(SoapCaller.pageLimit)")
            after = SoapCaller.element("after", next)
        }
    }

    func film(_ id: String, _ access: any FilmAccess) async throws -> FoundFilm? {
        guard
            let film = try await caller(access).perform(.read(id: id), expecting: [404]).film
        else { return nil }
        return FoundFilm(try film.document.movie(), base: BaseURL(address.soap))
    }

    private func caller(_ access: any FilmAccess) throws(UsageError) -> SoapCaller {
        if access.isOffline { throw UsageError("leave out --offline: answers in SOAP are not cached") }
        return SoapCaller(address: address, access: access)
    }
}
