import HTTPSemantics

/// What goes to the tier that machines share, and comes from there.
extension FileTiers {
    /// What the shared tier has for an order, where that is newer than what is stored here. It is in memory and on disk from
    /// then on. It may be stale: whoever asked judges it as what is on disk.
    func shared(for order: TransferOrder, _ transfer: SharedTask<LoadedFile>) async -> LoadedFile? {
        let request = order.request
        guard let shared, mayBeShared(request), request.cachePolicy != .reload,
            order.stored?.source != .shared,
            let entry = await shared.entry(for: request.storageKey),
            entry.body.count <= configuration.maximumBytes,
            let file = file(of: entry, for: request, from: .shared), let response = file.response,
            response.received > order.stored?.response?.received ?? 0
        else { return nil }
        await store(file, for: request) { transfer.isForgotten }
        return file
    }

    /// Has the shared tier keep what the origin has sent, as far as others may see it.
    func share(
        _ file: LoadedFile, _ head: ResponseHead, _ answer: DownloadedImage, _ order: TransferOrder,
        from transfer: SharedTask<LoadedFile>
    ) {
        let request = order.request
        guard let shared, mayBeShared(request), !answer.isAuthorised,
            Self.isKnownToAll(file.status), fields(for: request)["cookie"] == nil,
            CacheKind.shared.allows(
                head, directives: request.directives, isWhole: !request.isPartial)
        else { return }
        let response = response(head, answer, order, in: .shared)
        shared.store(
            file.bytes.source, metadata: response.encoded, expiry: response.expiry, for: request.storageKey
        ) { transfer.isForgotten }
    }

    /// The bytes of a closure are the program's own.
    private func mayBeShared(_ request: ImageRequest) -> Bool { request.data == nil && !request.isPartial }

    /// A loader that gives any status keeps others too, which are of no use here.
    private static func isKnownToAll(_ status: Int?) -> Bool {
        status == 200 || status == 404 || status == 410
    }
}

extension StoredResponse {
    /// What a cache shared by machines has kept, as a cache of a kind sees it: fresh for no longer than both say.
    func seen(by kind: CacheKind) -> StoredResponse {
        guard kind != .shared else { return self }
        let fields = fields
        let own = Freshness(
            ResponseHead(status: status, fields: fields), kind.control(fields), received: received, delay: 0)
        return fresh(for: min(lifetime, own.lifetime))
    }
}
