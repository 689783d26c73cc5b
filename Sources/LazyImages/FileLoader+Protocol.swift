import FoundationEssentials
import SystemSupport

/// What HTTP's rules for a cache make of a request and of what there is for it (RFC 9111 section 4).
extension FileLoader {
    /// Gives what is stored, or asks the server, as the rules say.
    nonisolated func obey(
        _ request: ImageRequest, _ flight: Flight, _ stored: LoadedFile?
    ) async throws(ImageLoadingError) -> LoadedFile {
        let directives = request.directives
        guard let stored, let response = stored.file.response, !request.isPartial, speaks(stored.file) else {
            if directives.onlyIfCached { throw .notCached(url: request.url.displayText) }
            return try await fetch(request, flight, replacing: stored)
        }
        switch response.use(for: directives, now: clock.seconds) {
        case .fresh: return try usable(stored, for: request)
        case .stale: return try usable(stored.asStale, for: request)
        case .staleWhileRevalidating:
            await revalidateMeanwhile(request, stored)
            return try usable(stored.asStale, for: request)
        case .validate:
            if directives.onlyIfCached { throw .notCached(url: request.url.displayText) }
            return try await revalidate(request, flight, stored, response)
        }
    }

    /// Whether what is stored says something here. A loader that gives any status may have left, in the same folder, what is
    /// neither a picture nor word that there is none.
    private nonisolated func speaks(_ file: CachedFile) -> Bool {
        file.isPresent || limits.acceptsAnyStatus || file.status == 404 || file.status == 410
    }

    /// Asks whether what is stored still holds. Where the server fails it is given all the same, if that is allowed.
    private nonisolated func revalidate(
        _ request: ImageRequest, _ flight: Flight, _ stored: LoadedFile, _ response: StoredResponse
    ) async throws(ImageLoadingError) -> LoadedFile {
        let order = TransferOrder(request, revalidating: response, now: clock.seconds)
        let answer: DownloadedImage
        do {
            answer = try await downloader.answer(
                order, ticket: flight.ticket, listener: ProgressListener(flight.progress))
        } catch let error where error.isRetryable && isGoodEnough(stored, for: request) {
            return try usable(stored.asStale, for: request)
        }
        if answer.head.status == 304, !order.conditions.isEmpty {
            let isAbout = Validators(response.fields)?.areConfirmed(by: answer.head.fields) ?? false
            guard isAbout else { return try await fetch(request, flight, replacing: stored) }
            return try await confirm(stored, response, by: answer, order)
        }
        if answer.head.status >= 500 || RetryPolicy.isRetryable(status: answer.head.status),
            isGoodEnough(stored, for: request)
        {
            return try usable(stored.asStale, for: request)
        }
        return try await take(answer, order, replacing: stored)
    }

    /// Whether what is stored may be given because the server fails.
    private nonisolated func isGoodEnough(_ stored: LoadedFile, for request: ImageRequest) -> Bool {
        guard let response = stored.file.response, stored.file.isPresent else { return false }
        return CacheUse.allowsStaleOnError(
            age: response.age(at: clock.seconds), lifetime: response.lifetime,
            control: CacheControl(response.fields), directives: request.directives)
    }

    /// Asks for all of it.
    nonisolated func fetch(
        _ request: ImageRequest, _ flight: Flight, replacing stored: LoadedFile?
    ) async throws(ImageLoadingError) -> LoadedFile {
        let order = TransferOrder(request)
        let answer = try await downloader.answer(
            order, ticket: flight.ticket, listener: ProgressListener(flight.progress))
        return try await take(answer, order, replacing: stored)
    }

    /// Stores what the server has sent, as far as it may be, and gives it.
    private nonisolated func take(
        _ answer: DownloadedImage, _ order: TransferOrder, replacing stored: LoadedFile?
    ) async throws(ImageLoadingError) -> LoadedFile {
        let request = order.request
        let (status, isTaken) = (answer.head.status, answer.head.status == 200 || limits.acceptsAnyStatus)
        if isTaken { try request.check(answer.bytes) }
        let response = response(answer.head, answer, order)
        let file = CachedFile(
            bytes: answer.bytes, header: answer.header, status: status, url: answer.url,
            requestedURL: request.url, response: response)
        // Of what is no picture only this is remembered, that there is none.
        if isTaken || status == 404 || status == 410 {
            if Storability.allows(answer.head, directives: request.directives, isWhole: !request.isPartial) {
                remember(file, for: request)
                await disk?.store(
                    file.bytes.source, metadata: response.encoded, expiry: response.expiry,
                    for: request.storageKey)
            } else if stored != nil, !request.directives.noStore, !request.isPartial, status != 304 {
                memory?.remove(request.key)
                await disk?.remove(request.storageKey)
            }
        }
        guard isTaken else { throw .httpStatus(url: answer.url.displayText, status: status) }
        var loaded = LoadedFile(file: file, source: answer.offset > 0 ? .resumed : .network)
        if limits.acceptsAnyStatus { loaded.head = answer.head }
        return loaded
    }

    /// A 304 has come: what is stored holds on, with the fields that the 304 brought (RFC 9111 section 4.3.4).
    private nonisolated func confirm(
        _ stored: LoadedFile, _ old: StoredResponse, by answer: DownloadedImage, _ order: TransferOrder
    ) async throws(ImageLoadingError) -> LoadedFile {
        let request = order.request
        let head = old.confirmed(by: answer.head)
        let response = response(head, answer, order)
        let file = CachedFile(
            bytes: stored.bytes, header: stored.header, status: old.status, url: answer.url,
            requestedURL: request.url, response: response)
        if Storability.allows(head, directives: request.directives) {
            remember(file, for: request)
            await disk?.store(
                file.bytes.source, metadata: response.encoded, expiry: response.expiry,
                for: request.storageKey)
        }
        return try usable(LoadedFile(file: file, source: .revalidated), for: request)
    }

    private nonisolated func response(
        _ head: ResponseHead, _ answer: DownloadedImage, _ order: TransferOrder
    ) -> StoredResponse {
        StoredResponse(
            head, address: answer.url.absoluteString, received: clock.seconds, delay: answer.delay,
            request: downloader.fields(for: order.request), redirects: answer.steps, movedBefore: order.move)
    }

    // MARK: Meanwhile

    /// Begins to revalidate what was given stale, unless somebody is at it.
    private func revalidateMeanwhile(_ request: ImageRequest, _ stored: LoadedFile) {
        let key = request.storageKey
        guard revalidations[key] == nil, let response = stored.file.response else { return }
        var patient = request
        patient.priority = .low
        revalidations[key] = Task { @concurrent [patient] in
            // Losing the outcome is right: who asked has an answer, and what is stored was updated or stays.
            _ = try? await revalidate(patient, Flight(number: 0), stored, response)
            await hasRevalidated(key)
        }
    }

    private func hasRevalidated(_ key: CacheKey) { revalidations[key] = nil }

    /// Returns when nothing is revalidated any more.
    func endRevalidations() async {
        while let task = revalidations.values.first { await task.value }
    }

    // MARK: What is given

    /// What is stored as the answer to the request.
    /// - Throws: `.httpStatus` for the memory that there is no picture.
    nonisolated func usable(_ stored: LoadedFile, for request: ImageRequest) throws(ImageLoadingError)
        -> LoadedFile
    {
        guard stored.file.isPresent || limits.acceptsAnyStatus else {
            throw .httpStatus(url: stored.url.displayText, status: stored.status ?? 0)
        }
        let given = given(stored)
        guard limits.acceptsAnyStatus, let head = given.head, head.status == 200, !request.fields.isEmpty,
            Validators.areMet(request.fields, by: head.fields, now: clock.seconds)
        else { return given }
        // The caller has it already (RFC 9111 section 4.3.2).
        let none = CachedFile(
            bytes: ImageBytes([]), header: nil, status: 304, url: given.url,
            requestedURL: request.url, response: given.file.response)
        var unchanged = LoadedFile(file: none, source: given.source)
        unchanged.head = ResponseHead(status: 304, fields: head.fields)
        return unchanged
    }

    /// What is stored, with its head where that is wanted.
    nonisolated func given(_ stored: LoadedFile) -> LoadedFile {
        guard limits.acceptsAnyStatus else { return stored }
        var given = stored
        given.head = stored.file.response?.head(at: clock.seconds)
        return given
    }
}

extension LoadedFile {
    /// The same, marked as no longer fresh.
    fileprivate var asStale: LoadedFile { LoadedFile(file: file, source: .stale) }
}

extension StoredResponse {
    /// What it is good for. What is fresh and asked for without conditions is told by its first line alone.
    fileprivate func use(for directives: CacheControl, now: Int) -> CacheUse {
        if isFresh(at: now), directives == CacheControl(HTTPFields()) { return .fresh }
        return CacheUse(
            age: age(at: now), lifetime: lifetime, control: CacheControl(fields), directives: directives)
    }
}

extension ImageDownloader.Configuration {
    /// The same, with nothing on disk.
    var withoutDisk: Self {
        var configuration = self
        configuration.temporaryFolder = nil
        configuration.partialFolder = nil
        return configuration
    }
}
