import FoundationEssentials
import HTTPSemantics

/// Files that a request's own closure gives.
extension FileLoader {
    /// What a tier has, however old, else what the closure gives. That is kept in both tiers, as an answer is that does not
    /// grow old: its id names it for good, and the closure may have taken long. Callers of one id share one call.
    func file(
        from data: @escaping ImageRequest.DataClosure, for request: ImageRequest
    ) async throws(ImageLoadingError) -> LoadedFile {
        while true {
            let stamp = downloader.transfers.stamp
            if request.cachePolicy != .reload, let stored = await tiers.stored(for: request), stored.isPresent
            {
                return stored
            }
            if request.cachePolicy == .cacheOnly { throw .notCached(url: request.url.displayText) }
            let joined = downloader.transfers.join(
                request.transferKey, url: request.url, priority: request.priority,
                since: request.cachePolicy == .reload ? nil : stamp)
            guard let (call, caller, isFirst) = joined else { continue }
            if isFirst {
                call.run { [self] () async throws(ImageLoadingError) in
                    try await keep(ImageBytes(try await read(data, for: request)), for: request)
                } finish: { [downloader] outcome in
                    downloader.transfers.finish(request.transferKey, call, outcome)
                }
            }
            let file = try await call.value(for: caller)
            try request.check(file.bytes)
            return file
        }
    }

    private func keep(
        _ bytes: ImageBytes, for request: ImageRequest
    ) async throws(ImageLoadingError) -> LoadedFile {
        let checked = try DownloadedImage(
            checking: bytes, by: configuration.decoders, url: request.url,
            acceptsAnyContent: configuration.acceptsAnyContent)
        let head = ResponseHead(
            status: 200, fields: ["Cache-Control": "max-age=\(CacheControl.maximumSeconds)"])
        let file = LoadedFile(
            bytes: bytes, header: checked.header, status: head.status, url: request.url,
            requestedURL: request.url, source: .local,
            response: StoredResponse(head, address: request.url.absoluteString, received: clock.seconds))
        if request.accepts(bytes) { await tiers.store(file, for: request) }
        return file
    }

    /// The closure's bytes: some, and no more than the limit.
    private func read(
        _ data: ImageRequest.DataClosure, for request: ImageRequest
    ) async throws(ImageLoadingError) -> [UInt8] {
        let url = request.url.displayText
        let bytes: [UInt8]
        do {
            bytes = try await data()
        } catch {
            if Task.isCancelled { throw .cancelled(url: url) }
            // An error of ours says more than its text. That somebody else's load was cancelled is a failure of this one.
            if let error = error as? ImageLoadingError, error.code != "cancelled" { throw error }
            throw .dataFailed(url: url, reason: "\(error)")
        }
        if bytes.isEmpty { throw .empty(url: url) }
        guard bytes.count <= configuration.maximumBytes else {
            throw .tooLarge(url: url, limit: configuration.maximumBytes)
        }
        return bytes
    }
}
