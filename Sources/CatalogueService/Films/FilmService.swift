package import FilmLibrary
import HTTPSemantics
package import HTTPServer
internal import SystemSupport

/// Films over HTTP: a library that is listed, searched, added to, changed, rated and removed.
///
/// Without a right to write it answers GET, HEAD and OPTIONS alone. There is no CORS: pages of other sites can neither read
/// nor write.
package final class FilmService: HTTPHandler {
    let library: FilmLibrary
    package let configuration: FilmServiceConfiguration
    private let gate: RequestGate
    /// Told of what failed here; clients learn only that something did.
    private let report: @Sendable (any Error) -> Void
    /// Held while an uploaded picture is decoded: each takes up to some hundred megabytes meanwhile.
    let decoding = Lock(())

    /// Bytes of a body that nobody needs, read past so that the connection can go on.
    private static let ignoredBody = 64 << 10
    /// Bytes of a film in a body of its own. A form has its poster in it too.
    private static let filmLimit = 4 << 20
    private static let ratingLimit = 16 << 10
    /// Films of an answer that needs no thread of its own.
    private static let quickFilms = 100

    /// - Parameter report: called on the threads that answer, with what failed in a request that was answered 5xx.
    package init(
        library: FilmLibrary, configuration: FilmServiceConfiguration = FilmServiceConfiguration(),
        report: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        self.library = library
        self.configuration = configuration
        gate = RequestGate(configuration: configuration)
        self.report = report
    }

    /// Whether a request is for films. Other handlers may serve the rest.
    package func serves(_ head: RequestHead) -> Bool {
        guard let target = try? RequestTarget(head.target) else { return false }
        return target.segments.first.map { FilmFormat.split($0).name == "films" } ?? false
            || FilmTarget(target, isRoot: configuration.isRoot) != nil
    }

    /// Refuses a request for a host that is not served here; nil for others. For handlers that share the server.
    package func refusal(ofHost head: RequestHead) -> HTTPResponse? {
        do throws(FilmRefusal) {
            try gate.checkHost(head.fields, authority: (try? RequestTarget(head.target))?.authority)
            return nil
        } catch {
            return error.response(FilmCall.problemFormat(head))
        }
    }

    package func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        do throws(FilmRefusal) {
            let call = try call(head)
            guard call.method != "OPTIONS" else { return .answer(options(call)) }
            guard !call.isRead else {
                return isQuick(call) ? .answer(answer(call, .none)) : .handle(bodyLimit: Self.ignoredBody)
            }
            try gate.checkWrite(call.fields, from: peer)
            return .handle(bodyLimit: try checkBody(call))
        } catch {
            return .answer(error.response(FilmCall.problemFormat(head)))
        }
    }

    package func respond(to request: HTTPRequest) -> HTTPResponse {
        do throws(FilmRefusal) {
            return answer(try call(request.head), request.body)
        } catch {
            return error.response(FilmCall.problemFormat(request.head))
        }
    }

    /// Whether a read takes microseconds, as opening a file does: by an index, of little that is mostly in memory. Readers of
    /// a library never wait for its writer.
    private func isQuick(_ call: FilmCall) -> Bool {
        switch call.target.route {
        case .film: true
        case .top(let count): count <= Self.quickFilms
        case .list:
            // A search may look at every film.
            call.target.query.values(of: "q").isEmpty
                && call.target.query.values(of: "limit").allSatisfy { Int($0) ?? 0 <= Self.quickFilms }
        case .service, .poster, .rating: false
        }
    }

    private func answer(_ call: FilmCall, _ body: RequestBody) -> HTTPResponse {
        do {
            return try content(call, body)
        } catch let refusal as FilmRefusal {
            return refusal.response(FilmCall.problemFormat(call.head))
        } catch {
            report(error)
            return FilmRefusal(failure: error).response(FilmCall.problemFormat(call.head))
        }
    }

    private func call(_ head: RequestHead) throws(FilmRefusal) -> FilmCall {
        let target: RequestTarget
        do throws(RequestTarget.Refusal) {
            target = try RequestTarget(head.target)
        } catch {
            throw FilmRefusal(.badRequest, error == .malformed ? "bad target" : "bad encoding in the target")
        }
        try gate.checkHost(head.fields, authority: target.authority)
        return try FilmCall(head, target, configuration)
    }

    private func content(_ call: FilmCall, _ body: RequestBody) throws -> HTTPResponse {
        switch (call.target.route, call.method) {
        case (.list, "POST"): try create(call, try body.bytes())
        case (.list, _): try list(call)
        case (.top(let count), _): try top(count, call)
        case (.film(let id), "PUT"): try replace(id, call, try body.bytes())
        case (.film(let id), "PATCH"): try change(id, call, try body.bytes())
        case (.film(let id), "DELETE"): try remove(id, call)
        case (.film(let id), _): try film(id, call)
        case (.poster(let id), "PUT"): try putPoster(of: id, call, try body.bytes())
        case (.poster(let id), "DELETE"): try removePoster(of: id, call)
        case (.poster(let id), _): try poster(of: id, call)
        case (.rating(let id, let rater), "PUT"): try rate(id, by: rater, call, try body.bytes())
        case (.rating(let id, let rater), "DELETE"): try unrate(id, by: rater, call)
        case (.rating(let id, let rater), _): try rating(of: id, by: rater, call)
        case (.service, _): options(call)
        }
    }

    /// Throws for a body that is not read: before it is sent, where the client waits for that.
    /// - Returns: how many bytes it may have.
    private func checkBody(_ call: FilmCall) throws(FilmRefusal) -> Int {
        guard call.needsBody else { return Self.ignoredBody }
        if call.head.framing == .none {
            throw FilmRefusal(.lengthRequired, "send a body, with Content-Length or chunked")
        }
        let limit: Int
        switch call.target.route {
        case .poster:
            try FilmPosterUpload.checkType(call.fields)
            limit = FilmPosterUpload.maximumBytes
        case .rating:
            guard case .multipart = try FilmContent(call) else {
                limit = Self.ratingLimit
                break
            }
            throw FilmRefusal(
                .unsupportedMediaType, "send JSON, XML or a url-encoded form",
                fields: FilmContent.accepted(call.method))
        default:
            if case .multipart = try FilmContent(call) {
                limit = configuration.bodyLimit
            } else {
                limit = Self.filmLimit
            }
        }
        let allowed = min(limit, configuration.bodyLimit)
        if case .length(let length) = call.head.framing, length > allowed {
            throw FilmRefusal(.contentTooLarge, "a body has at most \(allowed) bytes here")
        }
        return allowed
    }

    private func options(_ call: FilmCall) -> HTTPResponse {
        let methods = call.target.route.methods(isWritable: configuration.isWritable)
        var response = HTTPResponse(status: .noContent, fields: ["Allow": methods.joined(separator: ", ")])
        for method in ["POST", "PATCH"] where methods.contains(method) {
            for field in FilmContent.accepted(method).fields { response.fields.append(field) }
        }
        return response
    }
}

extension FilmRefusal {
    /// What a client is told when the library or the system fails.
    init(failure: any Error) {
        switch failure as? FilmLibraryError {
        case .busy:
            self.init(
                .serviceUnavailable, "the library is busy; try again in a moment",
                fields: ["Retry-After": "1"])
        case .full: self.init(.insufficientStorage, "the disk of the library is full; nothing was changed")
        case .invalidID(_, let fault): self = .invalid("id", "must be \(fault)")
        case .invalidFilm(let error): self.init(error)
        case .readOnly: self.init(.forbidden, "the library cannot be written to")
        default:
            self.init(.internalServerError, "the service failed; its operator finds the reason in its output")
        }
    }
}
