import Coalescing
import HTTPSemantics
import ImageCodecs
import SystemSupport

/// One load of a file: from a tier, or by a transfer.
extension FileLoader {
    /// A caller that waits for a file.
    struct Client {
        /// Reads the present priority; nil for the request's.
        var priority: (() -> Int)?
        /// Receives the events of the transfer.
        var listener: LoadListener?
        /// Called when the caller has joined a transfer.
        var joined: ((DownloadFlight.Caller) -> Void)?
        /// The longest time in a transfer; nil for none.
        var timeLimit: Duration?
        /// Whether the caller waits for a revalidation that others leave to the background (RFC 5861 section 3).
        var waitsForServer = false
    }

    /// As `file(for:)`, but waits for a revalidation: for a cache in front of this one that has its own stale files.
    @concurrent package func validatedFile(
        for request: ImageRequest
    ) async throws(ImageLoadingError) -> LoadedFile {
        try await file(for: request, Client(waitsForServer: true))
    }

    /// Loads a file for one caller.
    func file(
        for request: ImageRequest, _ client: Client
    ) async throws(ImageLoadingError) -> LoadedFile {
        // Of all lookups of a load in memory, only this one is counted.
        if let file = tiers.memory(for: request)?.value(for: request.key), file.isPresent,
            tiers.isAnswered(request, by: file), !configuration.acceptsAnyStatus,
            isSmallEnough(file), request.accepts(file.bytes),
            request.accepts(file.response, now: clock.seconds)
        {
            return file.from(.memory)
        }
        let isLocal = request.data == nil && request.url.isLocal
        if isLocal { try configuration.security.checkLocal(request.url) }
        let file =
            isLocal
            ? try await local(request)
            : try await cachedOrFetched(request, client)
        // The limit holds for cached files too: an earlier process may have had a higher one.
        guard isSmallEnough(file) else {
            throw .tooLarge(url: request.url.displayText, limit: configuration.maximumBytes)
        }
        return file
    }

    private func isSmallEnough(_ file: LoadedFile) -> Bool { file.bytes.count <= configuration.maximumBytes }

    private func local(_ request: ImageRequest) async throws(ImageLoadingError) -> LoadedFile {
        let removals = downloader.flights.removals
        let limit = configuration.maximumBytes
        let outcome: Result<[UInt8], ImageLoadingError>
        do {
            outcome = try await threads.run {
                Result { () throws(ImageLoadingError) in try LocalContent.read(request.url, limit: limit) }
            }
        } catch {
            throw ImageLoadingError(error, url: request.url.displayText)
        }
        let bytes = ImageBytes(try outcome.get())
        try request.check(bytes)
        let header = try bytes.wholeImageHeader(
            by: configuration.decoders, url: request.url,
            acceptsAnyContent: configuration.acceptsAnyContent)
        let file = LoadedFile(
            bytes: bytes, header: header, status: nil, url: request.url, requestedURL: request.url,
            source: .local)
        remember(file, for: request, since: removals)
        return file
    }

    /// Stores a file in memory, unless there were removals since `removals` was read.
    private func remember(_ file: LoadedFile, for request: ImageRequest, since removals: Int) {
        tiers.remember(file, for: request) { downloader.flights.removals != removals }
    }

    private func cachedOrFetched(
        _ request: ImageRequest, _ client: Client
    ) async throws(ImageLoadingError) -> LoadedFile {
        let look = downloader.look(for: request)
        let isReload = request.cachePolicy == .reload
        var stored = isReload ? nil : await tiers.stored(for: request)
        if let stored, stored.source == .disk, stored.isPresent {
            remember(stored, for: request, since: look.removals)
        }
        while true {
            switch try rules.decision(on: stored, for: request) {
            case .give(let file): return file
            case .giveAndRevalidate(_, let wanted) where client.waitsForServer, .transfer(let wanted):
                guard let file = try await download(wanted, client, since: isReload ? nil : look) else {
                    // The shared file has other bytes than the request's checksum says.
                    stored = nil
                    continue
                }
                if file.source != .shared { return file }
                // Judged like a file on disk.
                stored = file
            case .giveAndRevalidate(let file, let wanted):
                downloader.startInBackground(wanted, since: look)
                return file
            }
        }
    }

    /// Waits for a download. If the server fails, returns the stale file, if that is allowed.
    /// - Returns: nil if the file has other bytes than the request's checksum says, and is another caller's.
    private func download(
        _ wanted: DownloadRequest, _ client: Client, since look: ImageDownloader.Look?
    ) async throws(ImageLoadingError) -> LoadedFile? {
        let request = wanted.request
        if Task.isCancelled { throw .cancelled(url: request.url.displayText) }
        let file: LoadedFile
        do {
            let caller = downloader.join(
                wanted, client.priority?() ?? request.priority.rank, listener: client.listener,
                since: look)
            client.joined?(caller)
            if let limit = client.timeLimit { downloader.context.limit(caller, to: limit, request) }
            file = try await caller.value
        } catch let error where error.isRetryable {
            if let file = try rules.fileOnError(for: wanted) { return file }
            throw error
        }
        // The download may be another caller's. If its file does not match this request's checksum, this caller makes a
        // download of its own.
        if file.source == .shared { return file.isPresent && !request.accepts(file.bytes) ? nil : file }
        if [.revalidated, .disk, .memory].contains(file.source) {
            try request.check(file.bytes)
            return try rules.usable(file, for: request)
        }
        if let status = file.status, status != 200 {
            if HTTPStatus(rawValue: status).isTemporary, let file = try rules.fileOnError(for: wanted) {
                return file
            }
            guard configuration.acceptsAnyStatus else {
                throw .httpStatus(url: file.url.displayText, status: status)
            }
        }
        // The download may have begun for a request with another checksum.
        try request.check(file.bytes)
        return file
    }
}
