import Coalescing
import FoundationEssentials
import HTTPSemantics
import ImageCodecs

/// The tiers for files, memory before disk before the shared store, and the rules for storing (RFC 9111 section 3).
final class FileTiers: Sendable {
    /// Each tier, nil for none. Loads use the tiers of their requests, below.
    let memory: MemoryCache<LoadedFile>?
    let disk: DiskCache?
    let shared: SharedTier?
    let clock: WallClock
    let configuration: ImageDownloader.Configuration
    /// The library's fields, sent with every request.
    let ownFields: HeaderFields

    init(
        memory: MemoryCache<LoadedFile>?, disk: DiskCache?, shared: SharedTier? = nil, clock: WallClock,
        configuration: ImageDownloader.Configuration
    ) {
        self.memory = memory
        self.disk = disk
        self.shared = shared
        self.clock = clock
        self.configuration = configuration
        ownFields = [
            "Accept": configuration.acceptsAnyContent ? "*/*" : Self.accept(configuration.decoders),
            "Accept-Encoding": "identity",
            "User-Agent": configuration.userAgent,
        ]
    }

    /// The tiers that a request may use.
    func memory(for request: ImageRequest) -> MemoryCache<LoadedFile>? { request.usesMemory ? memory : nil }
    func disk(for request: ImageRequest) -> DiskCache? { request.usesDisk ? disk : nil }
    func shared(for request: ImageRequest) -> SharedTier? { request.usesDisk ? shared : nil }

    /// Prefers the formats of the decoders, then other images, then anything (RFC 9110 section 12.5.1).
    private static func accept(_ decoders: ImageDecoders) -> String {
        (decoders.mediaTypes + ["image/*;q=0.5", "*/*;q=0.1"]).joined(separator: ", ")
    }

    /// The fields sent for a request at its origin.
    func fields(for request: ImageRequest) -> HeaderFields {
        var fields = ownFields
        if !configuration.fields.isEmpty { fields.replace(with: configuration.fields) }
        if !request.fields.isEmpty { fields.replace(with: request.fields) }
        return fields
    }

    // MARK: What is stored

    /// The stored file for a request, fresh or stale, if it matches the request's checksum. Counts no lookup in memory:
    /// the load has already looked there. Does not copy a file from disk to memory.
    /// - Returns: the file; and the mark of the claim before a look on disk, nil if there was none.
    func stored(for request: ImageRequest) async -> (file: LoadedFile?, mark: ClaimFile.Mark?) {
        if let file = memory(for: request)?.value(for: request.key, countsHit: false),
            isAnswered(request, by: file),
            request.accepts(file.content) || !file.isPresent
        {
            return (file.from(.memory), nil)
        }
        return await storedOnDisk(for: request)
    }

    /// What the disk tier has for the request, fresh or not, if it is what the request wants.
    private func storedOnDisk(
        for request: ImageRequest
    ) async -> (file: LoadedFile?, mark: ClaimFile.Mark?) {
        guard let disk = disk(for: request) else { return (nil, nil) }
        let look = await disk.entry(for: request.key, claimedAs: request.transferKey)
        guard let entry = look.entry else { return (nil, look.mark) }
        return (await whole(entry, for: request, from: .disk), look.mark)
    }

    /// The file of a stored entry. The body may have an entry of its own.
    private func whole(
        _ entry: DiskCache.Entry, for request: ImageRequest, from source: LoadedFile.Source
    ) async -> LoadedFile? {
        guard entry.body.count == 0, let content = StoredResponse(decoding: entry.metadata)?.content else {
            return file(of: entry, for: request, from: source)
        }
        // Without a key another caller keeps only results.
        let isResult = request.acceptsResult
        let key =
            isResult
            ? request.pipeline.resultKey(ofContent: content)
            : configuration.storesBodiesByContent ? Self.bodyKey(content) : nil
        guard let key, let body = await part(key, isShared: !isResult && mayBeShared(request)) else {
            return nil
        }
        return file(
            of: DiskCache.Entry(metadata: entry.metadata, body: body.entry.body, expiry: entry.expiry),
            for: request, from: body.source == .shared ? .shared : source, isResult: isResult)
    }

    /// Whether a file in memory is an answer to the request's fields.
    func isAnswered(_ request: ImageRequest, by file: LoadedFile) -> Bool {
        !request.isPartial && file.response.map { matches(request, $0) } ?? true
    }

    /// Whether the request has the fields that the answer's Vary names (RFC 9111 section 4.1).
    private func matches(_ request: ImageRequest, _ response: StoredResponse) -> Bool {
        response.variance.members.isEmpty || response.variance.matches(fields(for: request))
    }

    private func isRecent(_ stored: StoredResponse) -> Bool {
        configuration.maximumAge.map { .seconds(clock.seconds - stored.received) <= $0 } ?? true
    }

    /// The answer of a stored entry, if it is what the request wants.
    private func response(
        of entry: DiskCache.Entry, for request: ImageRequest, from source: LoadedFile.Source
    ) -> StoredResponse? {
        guard let stored = StoredResponse(decoding: entry.metadata), isRecent(stored) else { return nil }
        let response = source == .shared ? stored.seen(by: configuration.cacheKind) : stored
        return matches(request, response) ? response : nil
    }

    /// The file of a stored entry, if it is what the request wants.
    private func file(
        of entry: DiskCache.Entry, for request: ImageRequest, from source: LoadedFile.Source,
        isResult: Bool = false
    ) -> LoadedFile? {
        guard let response = response(of: entry, for: request, from: source),
            let url = URL(string: response.url)
        else { return nil }
        // Ignored: an entry that is not an image is a miss, and the next transfer reports the reason.
        let structure =
            response.status == 200
            ? try? entry.body.structure(by: configuration.decoders).get() : nil
        let file = LoadedFile(
            bytes: entry.body, header: structure?.header, damage: structure?.damage, status: response.status,
            url: url, requestedURL: request.url, source: source, response: response, isResult: isResult)
        guard file.isPresent else { return file }
        let isWanted = file.header != nil || configuration.acceptsAnyContent
        return isWanted && request.accepts(file.content) ? file : nil
    }

    /// Stores a file in memory.
    /// - Parameter isUnwanted: whether the file was removed from the tiers meanwhile. Checked before storing, to keep a
    ///   newer file, and again after it, so that either the removal or this call sees the other.
    func remember(_ file: LoadedFile, for request: ImageRequest, unless isUnwanted: () -> Bool) {
        guard let memory = memory(for: request), !file.isResult, !isUnwanted() else { return }
        memory.store(file, for: request.key, cost: file.bytes.count)
        if isUnwanted() { memory.remove(request.key, ifStill: file) }
    }

    /// The file that was stored since the download was wanted, by another process or by an earlier download, if it
    /// answers the request. It need not be fresh: it came after the request, as the answer of a shared download does
    /// (RFC 9111 section 4).
    func storedMeanwhile(for wanted: DownloadRequest, by flight: DownloadFlight) async -> LoadedFile? {
        let request = wanted.request
        func answers(_ file: LoadedFile) -> Bool {
            isAnswered(request, by: file) && file.response != wanted.stored?.response
                && (file.isPresent ? request.accepts(file.content) : file.status == 404 || file.status == 410)
        }
        if let file = memory(for: request)?.value(for: request.key, countsHit: false), answers(file) {
            return file.from(.memory)
        }
        guard let file = await storedOnDisk(for: request).file, answers(file) else { return nil }
        remember(file, for: request) { !flight.isCurrent }
        return file
    }

    /// The claim of a download; nil if it must wait for no other process: there is no disk tier, or the request wants
    /// the network's own answer.
    /// - Parameter mark: from before the look on disk that led to the download.
    func claim(for wanted: DownloadRequest, since mark: ClaimFile.Mark?) -> TransferClaim? {
        let request = wanted.request
        guard let disk = disk(for: request), request.cachePolicy != .reload, request.data == nil,
            !request.isPartial, request.fields["cache-control"] == nil
        else { return nil }
        return TransferClaim(of: disk, on: request.transferKey, since: mark)
    }

    // MARK: What a transfer brings

    /// What the tiers do after a transfer.
    private enum Consequence { case store, remove, nothing }

    /// Stores the answer of a transfer, if that is allowed, and returns its file. Does not store bytes that do not
    /// match the request's checksum; each caller checks its own. Stores nothing if `flight` is outdated.
    func keep(
        _ answer: DownloadedImage, _ wanted: DownloadRequest, from flight: DownloadFlight
    ) async -> LoadedFile {
        var (file, head, consequence) = judge(answer, wanted)
        if !flight.isCurrent { return file }
        if configuration.storesBodiesByContent { file = await identified(file) }
        let request = wanted.request
        switch consequence {
        case .store:
            share(file, head, answer, wanted, from: flight)
            // Nobody is left to make the result.
            let keepsOriginal = request.keepsOriginal || flight.isOver
            guard keepsOriginal || file.source == .revalidated || !file.isPresent else {
                remember(file, for: request) { !flight.isCurrent }
                return file.unstored
            }
            await store(file, for: request) { !flight.isCurrent }
            if !request.usesDisk { return file.unstored }
        case .remove:
            memory?.remove(request.key)
            await removeStored(request.key)
        case .nothing: break
        }
        return file
    }

    /// The file of an answer, its head, and what follows. After a 304 they are the old file and its head with the new
    /// fields (RFC 9111 section 4.3.4).
    @inline(never)
    private func judge(
        _ answer: DownloadedImage, _ wanted: DownloadRequest
    ) -> (file: LoadedFile, head: ResponseHead, Consequence) {
        let request = wanted.request
        if let (stored, response) = wanted.confirmed(by: answer.head) {
            let head = response.confirmed(by: answer.head)
            let mayBeKept = mayKeep(head, of: answer, for: request)
            var confirmed = self.response(head, answer, wanted)
            confirmed.content = response.content
            let file = LoadedFile(
                bytes: stored.bytes, header: stored.header, damage: stored.damage, status: stored.status,
                url: answer.url, requestedURL: request.url, source: .revalidated,
                response: confirmed, mayBeKept: mayBeKept, isResult: stored.isResult)
            return (file, head, mayBeKept ? .store : .nothing)
        }
        let status = answer.head.status
        let mayBeKept = mayKeep(answer.head, of: answer, for: request)
        let brought: LoadedFile.Source = answer.offset > 0 ? .resumed : .network
        var file = LoadedFile(
            bytes: answer.bytes, header: answer.header, damage: answer.damage, status: status,
            url: answer.url, requestedURL: request.url, source: request.data == nil ? brought : .local,
            head: configuration.acceptsAnyStatus ? answer.head : nil,
            response: response(answer.head, answer, wanted), mayBeKept: mayBeKept,
            isRepeated: wanted.stored?.bytes.isSame(as: answer.bytes) ?? false)
        if file.damage != nil, !file.isRepeated { file = file.doubted }
        let isTaken = status == 200 || configuration.acceptsAnyStatus
        // Of other statuses only 404 and 410 are remembered.
        let isUseful = isTaken ? request.accepts(file.content) : status == 404 || status == 410
        // A temporary failure of the server does not remove the stored file.
        if !isUseful || wanted.revalidates && HTTPStatus(rawValue: status).isTemporary {
            return (file, answer.head, .nothing)
        }
        let isOutdated =
            wanted.stored != nil && !request.directives.noStore && !request.isPartial && status != 304
        return (file, answer.head, mayBeKept ? .store : isOutdated ? .remove : .nothing)
    }

    /// Whether an answer with this head may be stored.
    private func mayKeep(_ head: ResponseHead, of answer: DownloadedImage, for request: ImageRequest) -> Bool
    {
        configuration.cacheKind.allowsStoring(
            head, isAuthorised: answer.isAuthorised, directives: request.directives,
            isWhole: !request.isPartial)
    }

    /// Stores a file in both tiers.
    /// - Parameter isUnwanted: whether the file was removed from the tiers meanwhile.
    func store(
        _ file: LoadedFile, for request: ImageRequest, unless isUnwanted: () -> Bool = { false }
    ) async {
        remember(file, for: request, unless: isUnwanted)
        guard let disk = disk(for: request), let response = file.response else { return }
        let isApart = file.isResult || hasBodyApart(file)
        if isApart, !file.isResult, request.data == nil {
            let key = Self.bodyKey(file.content)
            if await disk.run(on: disk.readers, orElse: false, { disk.contains(key) }) == false {
                await disk.store(file.bytes.source, metadata: [], for: key)
            }
        }
        await disk.store(
            isApart ? ByteArray([]) : file.bytes.source, metadata: response.encoded,
            expiry: response.expiry, for: request.key, unless: isUnwanted)
    }

    /// What is kept of an answer's head.
    /// - Parameter kind: the kind of cache. Default: the configuration's.
    func response(
        _ head: ResponseHead, _ answer: DownloadedImage, _ wanted: DownloadRequest, in kind: CacheKind? = nil
    ) -> StoredResponse {
        StoredResponse(
            head, address: answer.url.absoluteString, received: clock.seconds, delay: answer.delay,
            request: fields(for: wanted.request), redirects: answer.steps, movedBefore: wanted.move,
            kind: kind ?? configuration.cacheKind)
    }
}

/// Reads and writes the shared tier.
extension FileTiers {
    /// The shared tier's file for a download, if it is newer than the stored file. Stores it in memory and on disk. It
    /// may be stale: the caller judges it like a file on disk.
    func shared(for wanted: DownloadRequest, _ flight: DownloadFlight) async -> LoadedFile? {
        let request = wanted.request
        guard let shared = shared(for: request), mayBeShared(request), request.cachePolicy != .reload,
            wanted.stored?.source != .shared,
            let entry = await shared.entry(for: request.key),
            let file = await whole(entry, for: request, from: .shared), let response = file.response,
            file.bytes.count <= configuration.maximumBytes,
            response.received > wanted.stored?.response?.received ?? 0
        else { return nil }
        guard request.keepsOriginal else { return file.unstored }
        await store(file, for: request) { !flight.isCurrent }
        return file
    }

    /// Stores the origin's answer in the shared tier, if other users may see it.
    func share(
        _ file: LoadedFile, _ head: ResponseHead, _ answer: DownloadedImage, _ wanted: DownloadRequest,
        from flight: DownloadFlight
    ) {
        let request = wanted.request
        guard let shared = shared(for: request), mayBeShared(request), !answer.isAuthorised,
            !file.isResult,
            // A damaged file must not outlive its doubt elsewhere.
            file.damage == nil || file.isRepeated,
            // Some loaders store other statuses too. Those are of no use here.
            [200, 404, 410].contains(file.status), fields(for: request)["cookie"] == nil,
            CacheKind.shared.allowsStoring(
                head, directives: request.directives, isWhole: !request.isPartial)
        else { return }
        var response = response(head, answer, wanted, in: .shared)
        let isApart = hasBodyApart(file)
        if isApart, shared.shares(request.key) {
            response.content = file.content
            shared.store(file.bytes.source, metadata: [], for: Self.bodyKey(file.content))
        }
        shared.store(
            isApart ? ByteArray([]) : file.bytes.source, metadata: response.encoded, expiry: response.expiry,
            for: request.key
        ) { !flight.isCurrent }
    }

    /// Not a request with a closure: its bytes are the program's own.
    private func mayBeShared(_ request: ImageRequest) -> Bool { request.data == nil && !request.isPartial }
}

/// Bodies and results in entries of their own, by keys of their content.
extension FileTiers {
    private static func bodyKey(_ content: String) -> CacheKey { CacheKey(id: "file \(content)") }

    private func hasBodyApart(_ file: LoadedFile) -> Bool {
        configuration.storesBodiesByContent && file.isPresent && file.response?.content != nil
    }

    private func identified(_ file: LoadedFile) async -> LoadedFile {
        guard let disk else { return file.identified() }
        return await disk.run(on: disk.readers, orElse: file) { file.identified() }
    }

    /// Removes a key from disk and the shared tier.
    func removeStored(_ key: CacheKey) async {
        shared?.remove(key)
        await disk?.remove(key)
    }

    /// All keys of what the tiers have of a request's file, without results.
    func keys(of request: ImageRequest) async -> [CacheKey] {
        guard configuration.storesBodiesByContent, let record = await record(for: request) else {
            return [request.key]
        }
        return [request.key, Self.bodyKey(record.content)]
    }

    /// What disk or the shared tier know of the request's file, fresh or not, without its bytes. What the shared tier
    /// knows is then on disk too.
    /// - Parameter isUnwanted: whether the file was removed from the tiers meanwhile.
    func record(for request: ImageRequest, unless isUnwanted: () -> Bool = { false }) async -> LoadedFile? {
        if let entry = await disk(for: request)?.entry(for: request.key) {
            return record(of: entry, for: request, from: .disk)
        }
        guard mayBeShared(request), let entry = await shared(for: request)?.entry(for: request.key),
            let record = record(of: entry, for: request, from: .shared)
        else { return nil }
        await disk(for: request)?.store(
            entry.body.source, metadata: entry.metadata, expiry: entry.expiry, for: request.key,
            unless: isUnwanted)
        return record
    }

    private func record(
        of entry: DiskCache.Entry, for request: ImageRequest, from source: LoadedFile.Source
    ) -> LoadedFile? {
        guard let response = response(of: entry, for: request, from: source), response.status == 200,
            let url = URL(string: response.url)
        else { return nil }
        // An earlier version stored the body here.
        return LoadedFile(
            bytes: entry.body, header: nil, status: response.status, url: url, requestedURL: request.url,
            source: source, response: response
        ).record(damage: nil)
    }

    /// An entry of disk, else of the shared tier, which is then on disk too.
    func part(
        _ key: CacheKey, isShared: Bool
    ) async -> (entry: DiskCache.Entry, source: LoadedFile.Source)? {
        if let entry = await disk?.entry(for: key) { return (entry, .disk) }
        guard isShared, let entry = await shared?.entry(for: key) else { return nil }
        await disk?.store(entry.body.source, metadata: entry.metadata, for: key)
        return (entry, .shared)
    }
}

extension StoredResponse {
    /// A response from the shared tier for a cache of another kind: fresh for the shorter of both lifetimes.
    func seen(by kind: CacheKind) -> StoredResponse {
        guard kind != .shared else { return self }
        let fields = fields
        let own = Freshness(
            ResponseHead(status: status, fields: fields), kind.control(fields), received: received, delay: 0)
        return fresh(for: min(lifetime, own.lifetime))
    }
}
