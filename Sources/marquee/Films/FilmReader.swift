import FilmSources
import FoundationEssentials
import HTTPSemantics
import LazyImages
import SystemSupport

/// Reads films with the loader of a session, so that their answers are cached. Keeps the answers that newer ones replace
/// in the disk tier: if the reading fails, the old ones come back. They are a whole catalogue, but a mixture of new and
/// old pages might not be.
final class FilmReader: FilmAccess {
    private let session: Session
    private let label: String
    private let state = Lock(State())

    private struct State {
        var network: Network?
        var replaced: [(file: LoadedFile, request: ImageRequest)] = []
    }

    private struct Network: Sendable {
        let opened: OpenLoader
        let uploader: Uploader
        let log: Task<Void, Never>?
        let work: Int
    }

    /// - Parameter label: what the progress names.
    init(_ session: Session, reading label: String) { (self.session, self.label) = (session, label) }

    var isOffline: Bool { session.settings.isOffline }

    func notice(_ text: String) { session.output.noticeOnce(text) }

    func contents(ofFile path: String, limit: Int) async throws -> [UInt8] {
        try await Input.file(path, limit: limit)
    }

    /// The network. It is opened when it is needed.
    private var network: Network {
        state.withLock { state in
            if let network = state.network { return network }
            let opened = session.makeLoader(keepsFiles: false, acceptsAnyContent: true)
            let uploader = Uploader(opened.loader)
            let network = Network(
                opened: opened, uploader: uploader,
                log: session.output.isVerbose ? TransferLog.follow(uploader.activity, session.output) : nil,
                work: session.output.progress.begin { [label] in
                    JobProgress(label: label, bytes: opened.traffic)
                })
            state.network = network
            return network
        }
    }

    private var loader: FileLoader { network.opened.loader }

    /// Lets the next load of an address ask whether its file has changed.
    func forget(_ url: URL) async { await loader.invalidate(url, fields: session.settings.fields) }

    /// Ends the work.
    /// - Parameter isFailed: whether the replaced answers come back.
    func close(isFailed: Bool = false) async {
        let (network, replaced) = state.withLock { ($0.network, $0.replaced) }
        guard let network else { return }
        if isFailed { for (file, request) in replaced { await loader.restore(file, for: request) } }
        network.log?.cancel()
        await network.log?.value
        await network.opened.close()
        session.output.progress.end(network.work)
    }

    func answer(to url: URL, _ fields: HeaderFields) async throws -> FilmAnswer {
        var fields = fields
        if !isOffline { fields["Cache-Control"] = "no-cache" }
        let request = try session.request(for: url.absoluteString, relativeTo: nil, adding: fields)
        let file = try await file(for: request)
        return FilmAnswer(
            file.bytes.array, base: BaseURL(origin: url, redirectedTo: file.url),
            confirmed: file.freshness.map { $0.received - $0.initialAge },
            next: file.fields.flatMap { LinkField.target("next", in: $0) })
    }

    private func file(for request: ImageRequest) async throws(ImageLoadingError) -> LoadedFile {
        if isOffline { return try await loader.file(for: request) }
        var cached = request
        cached.cachePolicy = .cacheOnly
        // Ignored: nothing is cached then.
        let before = try? await loader.file(for: cached)
        let file = try await loader.file(for: request)
        if let before, file.source != .revalidated {
            state.withLock { $0.replaced.append((before, request)) }
        }
        return file
    }

    /// Sends the user's own header fields too.
    func send(_ request: UploadRequest) async throws(ImageLoadingError) -> UploadResponse {
        var request = request
        var fields = session.settings.fields
        if fields["accept"] == nil { fields["Accept"] = "application/json, application/problem+json" }
        for field in request.fields.fields { fields[field.name] = field.value }
        request.fields = fields
        return try await network.uploader.upload(request)
    }

    func refusal(by server: URL) -> FilmFault {
        let host = server.host() ?? ""
        let place = server.port.map { "\(host):\($0)" } ?? host
        let named = session.settings.downloads.authenticator as? NamedCredentials
        let hasToken = named?.token(for: server) != nil
        let hasPassword = named?.hasCredential(for: server) ?? false
        var reason = "wants a credential; "
        if hasPassword { reason += "it takes a token, and not a name with a password: " }
        if hasToken { reason = "refuses the credential; make another token, and " }
        let setting = "set MARQUEE_CREDENTIALS to \"\(place) Bearer TOKEN\""
        return FilmFault("\(place) \(reason)\(setting)", code: "credential-refused")
    }
}

extension Session {
    /// Calls `body` with what reads films, and closes that.
    func withReader<Value: Sendable>(
        reading label: String, _ body: (FilmReader) async throws -> Value
    ) async throws -> Value {
        let reader = FilmReader(self, reading: label)
        let result = await Result<Value, any Error>.of { try await body(reader) }
        if case .failure = result { await reader.close(isFailed: true) } else { await reader.close() }
        return try result.get()
    }

    /// The user's token for a server; nil for none.
    func token(for server: any FilmServer) -> String? {
        (settings.downloads.authenticator as? NamedCredentials)?.token(for: server.address)
    }
}
