import Coalescing
import HTTPSemantics

/// Reads and writes the shared tier.
extension FileTiers {
    /// The shared tier's file for a download, if it is newer than the stored file. Stores it in memory and on disk. It
    /// may be stale: the caller judges it like a file on disk.
    func shared(for wanted: DownloadRequest, _ flight: DownloadFlight) async -> LoadedFile? {
        let request = wanted.request
        guard let shared = shared(for: request), mayBeShared(request), request.cachePolicy != .reload,
            wanted.stored?.source != .shared,
            let entry = await shared.entry(for: request.key),
            entry.body.count <= configuration.maximumBytes,
            let file = file(of: entry, for: request, from: .shared), let response = file.response,
            response.received > wanted.stored?.response?.received ?? 0
        else { return nil }
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
            Self.isKnownToAll(file.status), fields(for: request)["cookie"] == nil,
            CacheKind.shared.allowsStoring(
                head, directives: request.directives, isWhole: !request.isPartial)
        else { return }
        let response = response(head, answer, wanted, in: .shared)
        shared.store(
            file.bytes.source, metadata: response.encoded, expiry: response.expiry, for: request.key
        ) { !flight.isCurrent }
    }

    /// Not a request with a closure: its bytes are the program's own.
    private func mayBeShared(_ request: ImageRequest) -> Bool { request.data == nil && !request.isPartial }

    /// Some loaders store other statuses too. Those are of no use here.
    private static func isKnownToAll(_ status: Int?) -> Bool {
        status == 200 || status == 404 || status == 410
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
