import HTTPSemantics
import ImageCodecs
import SystemSupport

/// One load of a file: from a tier, or by a transfer.
extension FileLoader {
    /// A caller that waits for a file.
    struct Client {
        /// The load of the image; nil for a caller that wants only the file.
        var load: SharedTask<LoadedImage>?
        /// Hears the events of the transfer.
        var listener: TaskListener?
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
        if let file = memory?.value(for: request.key), file.isPresent, !configuration.acceptsAnyStatus,
            isSmallEnough(file), request.accepts(file.bytes),
            request.accepts(file.response, now: clock.seconds)
        {
            return file.from(.memory)
        }
        let isLocal = request.data == nil && request.url.isLocal
        if isLocal { try configuration.security.checkLocal(request.url) }
        let file =
            isLocal
            ? try await local(request, since: downloader.transfers.stamp)
            : try await cachedOrFetched(request, client)
        // The limit holds for cached files too: an earlier process may have had a higher one.
        guard isSmallEnough(file) else {
            throw .tooLarge(url: request.url.displayText, limit: configuration.maximumBytes)
        }
        return file
    }

    private func isSmallEnough(_ file: LoadedFile) -> Bool { file.bytes.count <= configuration.maximumBytes }

    private func local(
        _ request: ImageRequest, since stamp: Int
    ) async throws(ImageLoadingError) -> LoadedFile {
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
        let checked = try DownloadedImage(
            checking: bytes, by: configuration.decoders, url: request.url,
            acceptsAnyContent: configuration.acceptsAnyContent)
        let file = LoadedFile(
            bytes: bytes, header: checked.header, status: nil, url: request.url, requestedURL: request.url,
            source: .local)
        remember(file, for: request, since: stamp)
        return file
    }

    /// The stored file of a request, fresh or stale. Copies a file from disk to memory.
    /// - Parameter stamp: taken before the lookup.
    func stored(for request: ImageRequest, since stamp: Int) async -> LoadedFile? {
        guard let file = await tiers.stored(for: request) else { return nil }
        if file.source == .disk, file.isPresent { remember(file, for: request, since: stamp) }
        return file
    }

    /// Stores a file in memory, unless it may have been removed since `stamp`.
    private func remember(_ file: LoadedFile, for request: ImageRequest, since stamp: Int) {
        tiers.remember(file, for: request) { downloader.transfers.hasForgotten(since: stamp) }
    }

    private func cachedOrFetched(
        _ request: ImageRequest, _ client: Client
    ) async throws(ImageLoadingError) -> LoadedFile {
        // The shared tier's file, judged like a file on disk.
        var shared: LoadedFile?
        while true {
            let stamp = request.cachePolicy == .reload ? nil : downloader.transfers.stamp
            let mark = disk?.mark(of: request.transferKey)
            var stored = shared
            if let stamp, stored == nil { stored = await self.stored(for: request, since: stamp) }
            switch try rules.decision(on: stored, for: request) {
            case .give(let file): return file
            case .giveAndRevalidate(_, let order) where client.waitsForServer, .transfer(let order):
                guard let file = try await transfer(order, client, since: stamp, mark) else { continue }
                if file.source != .shared { return file }
                shared = file
            case .giveAndRevalidate(let file, let order):
                await downloader.beginInBackground(order, since: stamp, mark: mark)
                return file
            }
        }
    }

    /// Waits for a transfer. If the server fails, returns the stale file, if that is allowed.
    /// - Returns: nil if the caller must look in the tiers again.
    private func transfer(
        _ order: TransferOrder, _ client: Client, since stamp: Int?, _ mark: ClaimFile.Mark?
    ) async throws(ImageLoadingError) -> LoadedFile? {
        let request = order.request
        let file: LoadedFile
        do {
            let joined = try await downloader.join(
                order, client.load?.priority ?? request.priority, listener: client.listener,
                since: stamp, mark: mark)
            guard let (transfer, caller) = joined else { return nil }
            client.load?.passPriority(to: transfer, caller: caller)
            file = try await transfer.value(for: caller)
        } catch let error where error.isRetryable {
            if let file = try rules.fileOnError(for: order) { return file }
            throw error
        }
        // The transfer may be another caller's. If its file does not match this request's checksum, this caller makes a
        // transfer of its own.
        if file.source == .shared { return file.isPresent && !request.accepts(file.bytes) ? nil : file }
        if file.source == .revalidated || file.source == .disk {
            try request.check(file.bytes)
            return try rules.usable(file, for: request)
        }
        if let status = file.status, status != 200 {
            if HTTPStatus(rawValue: status).isTemporary, let file = try rules.fileOnError(for: order) {
                return file
            }
            guard configuration.acceptsAnyStatus else {
                throw .httpStatus(url: file.url.displayText, status: status)
            }
        }
        // The transfer may have begun for a request with another checksum.
        try request.check(file.bytes)
        return file
    }
}
