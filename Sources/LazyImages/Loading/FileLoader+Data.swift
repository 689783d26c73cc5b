import FoundationEssentials
import HTTPSemantics

/// Files that a request's own closure gives, or the caller.
extension FileLoader {
    /// What a tier has, however old, else what the closure gives. That is kept in both tiers, as an answer is that does not
    /// grow old: its id names it for good, and the closure may have taken long. Callers of one id share one call.
    func file(
        from data: @escaping ImageRequest.DataClosure, for request: ImageRequest
    ) async throws(ImageLoadingError) -> LoadedFile {
        while true {
            let stamp = downloader.transfers.stamp
            if request.cachePolicy != .reload, let stored = await stored(for: request, since: stamp),
                stored.isPresent
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
                    let file = try lasting(try await read(data, for: request), for: request)
                    if request.accepts(file.bytes) {
                        await tiers.store(file, for: request) { call.isForgotten }
                    }
                    return file
                } finish: { [downloader] outcome in
                    downloader.transfers.finish(request.transferKey, call, outcome)
                }
            }
            let file = try await call.value(for: caller)
            try request.check(file.bytes)
            return file
        }
    }

    /// The file of bytes that came from no server: a whole image, which does not grow old.
    func lasting(_ bytes: ImageBytes, for request: ImageRequest) throws(ImageLoadingError) -> LoadedFile {
        let answer = try DownloadedImage(
            checking: bytes, by: configuration.decoders, url: request.url,
            acceptsAnyContent: configuration.acceptsAnyContent)
        let head = ResponseHead(
            status: 200, fields: ["Cache-Control": "max-age=\(CacheControl.maximumSeconds)"])
        return LoadedFile(
            bytes: bytes, header: answer.header, status: head.status, url: request.url,
            requestedURL: request.url, source: .local,
            response: StoredResponse(head, address: request.url.absoluteString, received: clock.seconds))
    }

    /// The closure's bytes.
    private func read(
        _ data: ImageRequest.DataClosure, for request: ImageRequest
    ) async throws(ImageLoadingError) -> ImageBytes {
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
        return try checked(bytes, for: request)
    }

    /// Bytes that are some, and no more than the limit.
    func checked(_ bytes: [UInt8], for request: ImageRequest) throws(ImageLoadingError) -> ImageBytes {
        let url = request.url.displayText
        if bytes.isEmpty { throw .empty(url: url) }
        guard bytes.count <= configuration.maximumBytes else {
            throw .tooLarge(url: url, limit: configuration.maximumBytes)
        }
        return ImageBytes(bytes)
    }
}
