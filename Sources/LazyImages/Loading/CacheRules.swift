import HTTPSemantics
import SystemSupport

/// Decides what a stored file may be used for: by the request's policy, and by HTTP's rules for a cache (RFC 9111
/// section 4). `FileTiers` decides what may be stored.
struct CacheRules: Sendable {
    enum Decision {
        case give(LoadedFile)
        case giveAndRevalidate(LoadedFile, DownloadRequest)
        case transfer(DownloadRequest)
    }

    let configuration: ImageDownloader.Configuration
    let clock: WallClock

    /// - Parameter stored: the stored file; nil if there is none.
    func decision(on stored: LoadedFile?, for request: ImageRequest) throws(ImageLoadingError) -> Decision {
        var notCached: ImageLoadingError { .notCached(url: request.url.displayText) }
        if request.cachePolicy != .useProtocol, request.cachePolicy != .reload {
            if let stored, stored.isPresent || configuration.acceptsAnyStatus { return .give(given(stored)) }
            if request.cachePolicy == .cacheOnly { throw notCached }
            return .transfer(DownloadRequest(request, replacing: stored))
        }
        if request.cachePolicy == .reload { return .transfer(DownloadRequest(request, replacing: nil)) }
        let directives = request.directives
        guard let stored, let response = stored.response, !request.isPartial, canAnswer(stored) else {
            if directives.onlyIfCached { throw notCached }
            return .transfer(DownloadRequest(request, replacing: stored))
        }
        // Computed on demand: its key costs a hash.
        var revalidation: DownloadRequest {
            DownloadRequest(request, revalidating: stored, response, now: clock.seconds)
        }
        switch response.use(for: directives, as: configuration.cacheKind, now: clock.seconds) {
        case .fresh: return .give(try usable(stored, for: request))
        case .stale: return .give(try usable(stored.from(.stale), for: request))
        case .staleWhileRevalidating:
            return .giveAndRevalidate(try usable(stored.from(.stale), for: request), revalidation)
        case .validate:
            if directives.onlyIfCached { throw notCached }
            return .transfer(revalidation)
        }
    }

    /// The stale file that the request may have because the server fails (RFC 5861 section 4); nil if there is none.
    func fileOnError(for wanted: DownloadRequest) throws(ImageLoadingError) -> LoadedFile? {
        // Only a revalidation: a file that could not be used before cannot be used now.
        guard let stored = wanted.stored, let response = stored.response, stored.isPresent,
            wanted.revalidates,
            CacheUse.allowsStaleOnError(
                age: response.age(at: clock.seconds), lifetime: response.lifetime,
                control: configuration.cacheKind.control(response.fields),
                directives: wanted.request.directives)
        else { return nil }
        return try usable(stored.from(.stale), for: wanted.request)
    }

    /// A stored file as the answer to a request.
    /// - Throws: `.httpStatus` for a remembered 404 or 410.
    func usable(_ stored: LoadedFile, for request: ImageRequest) throws(ImageLoadingError) -> LoadedFile {
        guard stored.isPresent || configuration.acceptsAnyStatus else {
            throw .httpStatus(url: stored.url.displayText, status: stored.status ?? 0)
        }
        let given = given(stored)
        guard configuration.acceptsAnyStatus, let head = given.head, head.status == 200,
            !request.fields.isEmpty,
            Validators.isNotModified(request.fields, by: head.fields, now: clock.seconds)
        else { return given }
        // The caller has this file already (RFC 9111 section 4.3.2).
        return LoadedFile(
            bytes: ImageBytes([]), header: nil, status: 304, url: given.url, requestedURL: request.url,
            source: given.source, head: ResponseHead(status: 304, fields: head.fields),
            response: given.response)
    }

    /// Whether a stored file can answer a request here. A loader that accepts any status may have left other answers in
    /// the same folder.
    private func canAnswer(_ file: LoadedFile) -> Bool {
        file.isPresent || configuration.acceptsAnyStatus || file.status == 404 || file.status == 410
    }

    /// A stored file, with its head for a loader that accepts any status.
    private func given(_ stored: LoadedFile) -> LoadedFile {
        guard configuration.acceptsAnyStatus else { return stored }
        return stored.from(stored.source, head: stored.response?.head(at: clock.seconds))
    }
}

extension StoredResponse {
    fileprivate func use(for directives: CacheControl, as kind: CacheKind, now: Int) -> CacheUse {
        // The common case, without parsing the fields: a fresh file and no directives.
        if isFresh(at: now), directives == CacheControl(HeaderFields()) { return .fresh }
        return CacheUse(
            age: age(at: now), lifetime: lifetime, control: kind.control(fields), directives: directives)
    }
}
