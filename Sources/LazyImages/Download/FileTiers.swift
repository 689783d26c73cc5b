import FoundationEssentials
import HTTPSemantics
import ImageCodecs
import SystemSupport

/// The tiers that keep files, memory before disk, and what goes into them (RFC 9111 section 3).
struct FileTiers: Sendable {
    /// Keeps files in memory; nil for none.
    let memory: MemoryCache<LoadedFile>?
    /// Nil for none.
    let disk: DiskCache?
    let clock: WallClock
    let configuration: ImageDownloader.Configuration
    /// The library's own fields, which go with every request.
    let ownFields: HTTPFields

    init(
        memory: MemoryCache<LoadedFile>?, disk: DiskCache?, clock: WallClock,
        configuration: ImageDownloader.Configuration
    ) {
        self.memory = memory
        self.disk = disk
        self.clock = clock
        self.configuration = configuration
        ownFields = [
            "Accept": configuration.acceptsAnyContent ? "*/*" : Self.accept(configuration.decoders),
            "Accept-Encoding": "identity",
            "User-Agent": configuration.userAgent,
        ]
    }

    /// What is decoded, ahead of other images, ahead of anything (RFC 9110 section 12.5.1).
    private static func accept(_ decoders: ImageDecoders) -> String {
        (decoders.mediaTypes + ["image/*;q=0.5", "*/*;q=0.1"]).joined(separator: ", ")
    }

    /// The fields sent for a request at its origin.
    func fields(for request: ImageRequest) -> HTTPFields {
        var fields = ownFields
        if !configuration.fields.isEmpty { fields.replace(with: configuration.fields) }
        if !request.fields.isEmpty { fields.replace(with: request.fields) }
        return fields
    }

    // MARK: What is stored

    /// What a tier has for the request, fresh or not, if it is what the request wants. Counts no look into memory: the
    /// load has looked before. What comes from disk is not put into memory yet.
    func stored(for request: ImageRequest) async -> LoadedFile? {
        if let file = memory?.uncountedValue(for: request.key), request.accepts(file.bytes) || !file.isPresent
        {
            return file.from(.memory)
        }
        guard let disk, let entry = await disk.entry(for: request.storageKey),
            let response = StoredResponse(decoding: entry.metadata),
            response.variance.members.isEmpty || response.variance.matches(fields(for: request)),
            let url = URL(string: response.url)
        else { return nil }
        // Losing the reason is right: an entry that is no whole image is a miss, and the network says what it is.
        let header =
            response.status == 200 ? try? entry.body.wholeImageHeader(by: configuration.decoders) : nil
        let file = LoadedFile(
            bytes: entry.body, header: header, status: response.status, url: url,
            requestedURL: request.url, source: .disk, response: response)
        guard file.isPresent else { return file }
        let isWanted = header != nil || configuration.acceptsAnyContent
        return isWanted && request.accepts(entry.body) ? file : nil
    }

    /// Keeps a file in memory.
    /// - Parameter isUnwanted: whether the file was removed from the tiers meanwhile. Asked before, since it would push out
    ///   what was stored since; and again when it is in memory, so that of a removal and this one sees the other.
    func remember(_ file: LoadedFile, for request: ImageRequest, unless isUnwanted: () -> Bool) {
        guard let memory, !isUnwanted() else { return }
        memory.store(file, for: request.key, cost: file.bytes.count)
        if isUnwanted() { memory.remove(request.key, ifStill: file) }
    }

    // MARK: What a transfer brings

    /// Stores what the server has sent, as far as it may be stored, and gives it. Bytes that the order's request does not
    /// expect are not stored: each caller checks for itself whether they are what it expects. Nor is anything stored once
    /// `transfer` is forgotten.
    func keep(
        _ answer: DownloadedImage, _ order: TransferOrder, from transfer: SharedTask<LoadedFile>
    ) async -> LoadedFile {
        if let confirmed = order.confirmed(by: answer) {
            let head = confirmed.response.confirmed(by: answer.head)
            return await keep(confirmed.file, head, answer, order, from: transfer)
        }
        let request = order.request
        let status = answer.head.status
        let isTaken = status == 200 || configuration.acceptsAnyStatus
        let mayBeKept = mayKeep(answer.head, of: answer, for: request)
        let brought: LoadedFile.Source = answer.offset > 0 ? .resumed : .network
        let file = LoadedFile(
            bytes: answer.bytes, header: answer.header, status: status, url: answer.url,
            requestedURL: request.url, source: request.data == nil ? brought : .local,
            head: configuration.acceptsAnyStatus ? answer.head : nil,
            response: response(answer.head, answer, order), mayBeKept: mayBeKept)
        // Of what is no picture only this is remembered, that there is none.
        guard isTaken ? request.accepts(answer.bytes) : status == 404 || status == 410 else { return file }
        // A server that fails does not take away what is stored.
        if order.revalidates, HTTPStatus(rawValue: status).isTemporary { return file }
        if transfer.isForgotten { return file }
        if mayBeKept {
            await store(file, for: request) { transfer.isForgotten }
        } else if order.stored != nil, !request.directives.noStore, !request.isPartial, status != 304 {
            memory?.remove(request.key)
            await disk?.remove(request.storageKey)
        }
        return file
    }

    /// A 304 has come: what is stored holds on, with the fields that the 304 brought (RFC 9111 section 4.3.4).
    private func keep(
        _ stored: LoadedFile, _ head: ResponseHead, _ answer: DownloadedImage, _ order: TransferOrder,
        from transfer: SharedTask<LoadedFile>
    ) async -> LoadedFile {
        let mayBeKept = mayKeep(head, of: answer, for: order.request)
        let file = LoadedFile(
            bytes: stored.bytes, header: stored.header, status: stored.status, url: answer.url,
            requestedURL: order.request.url, source: .revalidated,
            response: response(head, answer, order), mayBeKept: mayBeKept)
        if mayBeKept {
            await store(file, for: order.request) { transfer.isForgotten }
        }
        return file
    }

    /// Whether an answer with this head may be kept.
    private func mayKeep(_ head: ResponseHead, of answer: DownloadedImage, for request: ImageRequest) -> Bool
    {
        configuration.cacheKind.allows(
            head, isAuthorised: answer.isAuthorised, directives: request.directives,
            isWhole: !request.isPartial)
    }

    /// Keeps a file in both tiers.
    /// - Parameter isUnwanted: whether it was removed from the tiers before it was stored.
    func store(
        _ file: LoadedFile, for request: ImageRequest, unless isUnwanted: () -> Bool = { false }
    ) async {
        remember(file, for: request, unless: isUnwanted)
        guard let disk, let response = file.response else { return }
        await disk.store(
            file.bytes.source, metadata: response.encoded, expiry: response.expiry, for: request.storageKey,
            unless: isUnwanted)
    }

    private func response(
        _ head: ResponseHead, _ answer: DownloadedImage, _ order: TransferOrder
    ) -> StoredResponse {
        StoredResponse(
            head, address: answer.url.absoluteString, received: clock.seconds, delay: answer.delay,
            request: fields(for: order.request), redirects: answer.steps, movedBefore: order.move,
            kind: configuration.cacheKind)
    }
}
