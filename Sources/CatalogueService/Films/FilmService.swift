package import FilmSources
package import HTTPSemantics
package import HTTPServer
import LazyImages
package import ServiceOperations
internal import SystemSupport

/// A library of films over HTTP: list, search, add, change, rate and remove.
///
/// Without the right to write, it answers only GET, HEAD and OPTIONS. There is no CORS: other sites' pages can neither
/// read nor write.
package final class FilmService: HTTPHandler {
    let operations: FilmOperations
    var library: FilmLibrary { operations.library }
    package let configuration: FilmServiceConfiguration
    /// Nil if posters are served in their original size only.
    let pictures: FilmPictures?
    let gate: RequestGate
    /// Called with the service's errors; clients are told only that the service failed.
    let report: @Sendable (any Error) -> Void

    /// The server reads past a body that is not needed, up to this many bytes, so that the connection can stay open.
    private static let ignoredBody = 64 << 10
    /// The most bytes of a film in a body of its own: room for other formats than the stored one. A form may also
    /// contain the poster.
    private static let filmLimit = 1 << 20
    private static let ratingLimit = 16 << 10
    let answers: KeptAnswers

    /// - Parameters:
    ///   - pictures: makes pictures of posters. Default: none are made.
    ///   - report: called on the threads that answer, with the error behind an answer 5xx.
    package init(
        library: FilmLibrary, configuration: FilmServiceConfiguration = FilmServiceConfiguration(),
        pictures: FilmPictures? = nil,
        report: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        operations = FilmOperations(
            library, keepsMetadata: configuration.keepsMetadata, takesFiles: false)
        self.configuration = configuration
        self.pictures = pictures
        gate = RequestGate(configuration: configuration, ended: EndedSessions(library))
        answers = KeptAnswers(limit: configuration.keptAnswers)
        self.report = report
    }

    package func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        do throws(FilmRefusal) {
            try gate.checkHost(head.fields)
            return admit(try gate.call(head, from: peer))
        } catch {
            return .answer(error.response(to: head))
        }
    }

    func admit(_ call: ServiceCall) -> Admission {
        do throws(FilmRefusal) {
            if [.file, .image, .operations].contains(call.route) { throw .nothingHere }
            guard call.method != "OPTIONS" else { return .answer(answer(call, .none)) }
            guard !call.isRead else {
                if let picture = try admitPicture(call) { return picture }
                return call.route.resource.isKept ? read(call) : handle(call, bodyLimit: Self.ignoredBody)
            }
            if call.route == .login {
                try gate.checkSite(call.fields)
                return handle(call, bodyLimit: Self.loginLimit)
            }
            do throws(FilmRefusal) {
                try gate.checkWrite(call)
            } catch {
                // A SOAP body says what it needs. Its head alone allows a short body, for reading.
                guard call.route == .soap else { return .answer(failure(error, call)) }
                return handle(call, bodyLimit: min(try checkBody(call), Self.ignoredBody))
            }
            return handle(call, bodyLimit: try checkBody(call))
        } catch {
            var response = error.response(to: call.head)
            response.route = call.route.resource.label
            return .answer(response)
        }
    }

    private func handle(_ call: ServiceCall, bodyLimit: Int) -> Admission {
        .handle(bodyLimit: bodyLimit) { [self] body in
            if call.route == .soap, call.method == "POST" { return labelled(soap(call, body), call) }
            let answer = answer(call, body)
            return !call.route.resource.isKept || !call.isRead
                ? renewed(answer, call) : sent(KeptAnswer(answer), call)
        }
    }

    /// Answers a request for a picture that takes a search; nil for others.
    private func admitPicture(_ call: ServiceCall) throws(FilmRefusal) -> Admission? {
        do {
            switch call.route {
            case .picture(let recipe, let id): return try admitPicture(recipe, of: id, call)
            case .poster(let id): return try admitFetchedPoster(of: id, call)
            default: return nil
            }
        } catch {
            throw refusal(of: error, call)
        }
    }

    func answerKey(_ head: RequestHead, _ access: PageAccess) -> CacheKey {
        KeptAnswers.key(head, access, rules: pictures?.service.rulesNumber ?? 0)
    }

    /// The kept answer to a read like an earlier one, before anything is parsed; nil if there is none. The host has been
    /// checked.
    func answerKnown(_ head: RequestHead) -> HTTPResponse? {
        // With a session or with trusted programs, pages depend on more than the fields of the key.
        guard head.isRead, head.target.utf8.first == UInt8(ascii: "/"),
            !configuration.isPrivate, !configuration.writers.trustsLocal, head.fields["cookie"] == nil,
            head.fields["authorization"] == nil,
            // Ignored: the request is answered as any other, which reports the error.
            let state = try? library.state
        else { return nil }
        let access = PageAccess(hasLogin: configuration.takesTokens)
        return answers.answer(answerKey(head, access), state)?.answer(to: head)
    }

    /// Answers a read from memory; or at once, if rendering takes microseconds; or later.
    private func read(_ call: ServiceCall) -> Admission {
        let key = answerKey(call.head, call.access)
        let state: Int64
        do {
            // Read before the films: after a concurrent write the answer is kept for too old a state, never for too new
            // a one.
            state = try library.state
        } catch {
            return .answer(answer(call, .none))
        }
        if let answer = answers.answer(key, state) { return .answer(sent(answer, call)) }
        if let response = quickAnswer(call) {
            let answer = KeptAnswer(response)
            answers.keep(answer, as: key, state)
            return .answer(sent(answer, call))
        }
        return .later { [self] pending in
            answers.render(
                key, state, for: pending, call.head, completing: { [self] in renewed($0, call) }
            ) { [self] in KeptAnswer(answer(call, .none)) }
        }
    }

    /// The answer to a request by a kept one.
    private func sent(_ answer: KeptAnswer, _ call: ServiceCall) -> HTTPResponse {
        renewed(answer.answer(to: call.head), call)
    }

    /// The answer with a new cookie, if the session is due. Only pages for one person have it: caches keep the others.
    private func renewed(_ response: HTTPResponse, _ call: ServiceCall) -> HTTPResponse {
        guard call.access.isSignedIn, response.fields["set-cookie"] == nil,
            response.fields["cache-control"] == Page.ownCacheControl, let session = call.session,
            session.isDue
        else { return response }
        var response = response
        let cookie = configuration.writers.cookie(of: session.token, goingOn: session)
        response.fields.append(SessionCookie(call.fields, configuration).field(cookie))
        return response
    }

    /// The answer to a read, if rendering it takes microseconds: few and short films through an index, whose pages are
    /// mostly in memory. Readers of a library never wait for its writer.
    private func quickAnswer(_ call: ServiceCall) -> HTTPResponse? {
        // A stored poster may have megabytes.
        if case .poster = call.route { return nil }
        do {
            return labelled(try content(call, .none, .quick), call)
        } catch is NotQuick {
            return nil
        } catch {
            return failure(error, call)
        }
    }

    private func answer(_ call: ServiceCall, _ body: RequestBody) -> HTTPResponse {
        do {
            return labelled(try content(call, body), call)
        } catch {
            return failure(error, call)
        }
    }

    func failure(_ error: any Error, _ call: ServiceCall) -> HTTPResponse {
        labelled(refusal(of: error, call).response(to: call.head, page: problemPage(call)), call)
    }

    /// The refusal that a client gets for an error. Reports a failure of the library or the system.
    func refusal(of error: any Error, _ call: ServiceCall) -> FilmRefusal {
        if let refusal = error as? FilmRefusal { return refusal }
        let error = FilmError(error)
        // A read that was given up has failed for that reason.
        if case .library(let failure) = error, !BlockingThreads.isGivenUp { report(failure) }
        return FilmRefusal(error, toRoot: call.toRoot, request: call.head.id)
    }

    private func labelled(_ response: HTTPResponse, _ call: ServiceCall) -> HTTPResponse {
        var response = response
        response.route = call.route.resource.label
        if !call.isRead { response.writer = call.sender?.name }
        return response
    }

    func content(
        _ call: ServiceCall, _ body: RequestBody, _ rendering: Rendering = .whole
    ) throws -> HTTPResponse {
        switch (call.route, call.method) {
        case (_, "OPTIONS"), (.service, _): call.options
        case (.soap, _): try soapDescription(call)
        case (.description, _): description(call)
        case (.list, "POST"): try create(call, try body.bytes())
        case (.list, _): try list(call, rendering)
        case (.top(let count), _): try top(count, call, rendering)
        case (.film(let id), "PUT"): try replace(id, call, try body.bytes())
        case (.film(let id), "PATCH"): try change(id, call, try body.bytes())
        case (.film(let id), "DELETE"): try remove(id, call)
        case (.film(let id), _): try film(id, call, rendering)
        case (.poster(let id), "PUT"): try putPoster(of: id, call, try body.bytes())
        case (.poster(let id), "DELETE"): try removePoster(of: id, call)
        case (.poster(let id), _): try poster(of: id, call)
        // Without a picture service there are no pictures; with one, `admit` has answered.
        case (.picture, _): throw FilmRefusal(.notFound, "posters are served in their original size only")
        case (.rating(let id, let rater), "PUT"): try rate(id, by: rater, call, try body.bytes())
        case (.rating(let id, let rater), "DELETE"): try unrate(id, by: rater, call)
        case (.rating(let id, let rater), _): try rating(of: id, by: rater, call)
        case (.login, _): try login(call, try body.bytes())
        case (.form(let form), "POST"): try post(form, call, try body.bytes())
        case (.form(let form), _): try page(form, call)
        case (.style(let name), _): style(name, call)
        case (.image, _), (.operations, _), (.file, _): throw FilmRefusal.nothingHere
        }
    }

    /// Refuses a body that is not needed, if possible before the client sends it.
    /// - Returns: the most bytes of the body.
    private func checkBody(_ call: ServiceCall) throws(FilmRefusal) -> Int {
        guard call.needsBody else { return Self.ignoredBody }
        if call.head.framing == .none {
            throw FilmRefusal(.lengthRequired, "send a body, with Content-Length or chunked")
        }
        let limit: Int
        switch call.route {
        case .poster:
            try Self.checkPosterType(call.fields)
            limit = FilmOperations.posterBytes
        case .soap:
            try SoapEnvelope.checkType(call.fields)
            limit = Self.filmLimit
        case .rating:
            if case .multipart = try FilmContent(call) {
                throw FilmRefusal(
                    .unsupportedMediaType, "send JSON, XML or a url-encoded form",
                    fields: FilmContent.accepted(call.method))
            }
            limit = Self.ratingLimit
        default:
            limit =
                if case .multipart = try FilmContent(call) { configuration.bodyLimit } else { Self.filmLimit }
        }
        let allowed = min(limit, configuration.bodyLimit)
        if case .length(let length) = call.head.framing, length > allowed {
            throw FilmRefusal(.contentTooLarge, "the body must have at most \(allowed) bytes")
        }
        return allowed
    }
}

/// What a film service serves, and who may write.
package struct FilmServiceConfiguration: Sendable {
    /// Whether clients may add, change and remove films. Default: no; methods that write are then answered 405.
    package var isWritable = false
    /// Whether reading needs a token too, but for signed pictures. Default: no.
    package var isPrivate = false
    /// The tokens. Default: none.
    package var writers = WriteAccess()
    /// Called once for each request with a token that is unknown. Default: nothing.
    package var reportRefusedToken: @Sendable (RequestHead, Peer) -> Void = { _, _ in }
    /// The addresses that the server listens on; empty for a local socket. `0.0.0.0` and `::` mean every address of the
    /// machine.
    package var listeningHosts: [String] = ["127.0.0.1"]
    /// The addresses under which a proxy publishes the service.
    package var publicAddresses: [PublicAddress] = []
    /// Whether `/` and `/movies.json` serve the list too. Default: yes. A folder has its own files there.
    package var isRoot = true
    /// The most bytes of a body, default 64 MiB; a longer one is answered 413.
    package var bodyLimit = 64 << 20
    /// Whether uploaded posters keep Exif with its positions, texts and other metadata. Default: no.
    package var keepsMetadata = false

    /// Answers operators with a token of the role admin. Default: nil, they have a listener of their own.
    package var operations: AdminHandler?

    /// The most bytes of rendered answers that are kept in memory, default 32 MiB.
    package var keptAnswers = 32 << 20

    package init() {}

    /// Whether a token can allow anything.
    var takesTokens: Bool { isWritable || isPrivate }

    /// Whether other machines can reach the service.
    package var isReachable: Bool {
        listeningHosts.contains { HostAndPort(Self.bracketed($0))?.isLoopback != true }
            || publicAddresses.contains { HostAndPort(Self.bracketed($0.origin.host))?.isLoopback != true }
    }

    /// Whether the server listens on every address of the machine.
    var listensEverywhere: Bool { listeningHosts.contains { ["0.0.0.0", "::"].contains($0) } }

    /// The public address with the host of a field Host; nil if there is none.
    func publicAddress(_ host: String) -> PublicAddress? {
        let name = HostAndPort(host)
        return publicAddresses.first { $0.origin.host == name?.host }
    }

    static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}

/// An address under which a proxy publishes the service: `https://example.org/films/`. The proxy takes the path away
/// before it forwards a request.
package struct PublicAddress: Sendable, Hashable {
    package let origin: WebOrigin
    /// The path with a slash at both ends, percent-encoded; `/` for the root.
    package let path: String

    /// Reads an address; nil for other schemes, user information, a query or a fragment.
    package init?(_ text: String) {
        guard let origin = WebOrigin(text), !text.contains("?"), !text.contains("#") else { return nil }
        let afterScheme = text.dropFirst(origin.scheme.utf8.count + 3)
        let path = afterScheme.firstIndex(of: "/").map { afterScheme[$0...] } ?? "/"
        // It becomes a part of a cookie's Path.
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !";,\"\\".utf8.contains($0) }) else {
            return nil
        }
        self.origin = origin
        self.path = path.hasSuffix("/") ? String(path) : path + "/"
    }

    /// The address as text, with a slash at its end.
    package var text: String {
        let usualPort = origin.scheme == "https" ? 443 : 80
        return "\(origin.scheme)://\(FilmServiceConfiguration.bracketed(origin.host))"
            + (origin.port == usualPort ? "" : ":\(origin.port)") + path
    }
}
