import FoundationEssentials
import ImageCodecs

/// Files that a request's own closure gives.
extension FileLoader {
    /// What a tier has, however old, else what the closure gives. That is kept in both tiers, as an answer is that does not
    /// grow old: its id names it for good, and the closure may have taken long.
    nonisolated func file(
        from data: ImageRequest.DataClosure, for request: ImageRequest
    ) async throws(ImageLoadingError) -> LoadedFile {
        if request.cachePolicy != .reload, let stored = await stored(for: request), stored.file.isPresent {
            return stored
        }
        if request.cachePolicy == .cacheOnly { throw .notCached(url: request.url.displayText) }
        let bytes = ImageBytes(try await read(data, for: request))
        try request.check(bytes)
        let checked = try DownloadedImage(
            checking: bytes, by: limits.decoders, url: request.url,
            acceptsAnyContent: limits.acceptsAnyContent)
        let head = ResponseHead(
            status: 200, fields: ["Cache-Control": "max-age=\(CacheControl.maximumSeconds)"])
        let response = StoredResponse(
            head, address: request.url.absoluteString, received: clock.seconds)
        let file = CachedFile(
            bytes: bytes, header: checked.header, status: head.status, url: request.url, response: response)
        remember(file, for: request)
        await disk?.store(bytes.source, metadata: response.encoded, expiry: nil, for: request.storageKey)
        return LoadedFile(file: file, source: .local)
    }

    /// The closure's bytes: some, and no more than the limit.
    private nonisolated func read(
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
        guard bytes.count <= limits.maximumBytes else {
            throw .tooLarge(url: url, limit: limits.maximumBytes)
        }
        return bytes
    }
}
