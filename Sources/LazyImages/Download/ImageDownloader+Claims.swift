import SystemSupport

extension FileTiers {
    /// The claim of a transfer; nil if it must wait for no other process: there is no disk tier, or the request wants
    /// the network's own answer.
    /// - Parameter mark: from before the look on disk that led to the order.
    func claim(for order: TransferOrder, since mark: ClaimFile.Mark?) async -> TransferClaim? {
        let request = order.request
        guard let disk, request.cachePolicy != .reload, request.data == nil, !request.isPartial,
            request.fields["cache-control"] == nil, let claims = await disk.claims()
        else { return nil }
        return TransferClaim(claims, of: disk, on: request.transferKey, since: mark)
    }

    /// The file that another process has stored since the order was made, if it answers the order's request. It need
    /// not be fresh: it came after the request, as the answer of a shared transfer does (RFC 9111 section 4).
    func storedMeanwhile(for order: TransferOrder) async -> LoadedFile? {
        guard let file = await storedOnDisk(for: order.request), file.response != order.stored?.response,
            file.isPresent || file.status == 404 || file.status == 410
        else { return nil }
        return file
    }
}

extension ImageDownloader {
    /// Waits while another process fetches the same, without a slot.
    /// - Returns: the file that the other process has stored; nil if the transfer must fetch, which needs a slot again.
    nonisolated func fileOfAnotherProcess(
        for attempt: TransferAttempt
    ) async throws(ImageLoadingError) -> LoadedFile? {
        let (order, transfer) = (attempt.order, attempt.transfer)
        let found: LoadedFile?
        do {
            found = try await attempt.claim?.settle(
                within: configuration.timeouts.stall, configuration.timing
            ) { await tiers.storedMeanwhile(for: order) }
        } catch {
            throw .cancelled(url: order.request.url.displayText)
        }
        if let found { tiers.remember(found, for: order.request) { transfer.isForgotten } }
        return found
    }
}
