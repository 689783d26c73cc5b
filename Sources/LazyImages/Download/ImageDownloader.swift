import FoundationEssentials
import HTTPSemantics
import SystemSupport

/// Downloads images. All callers with the same URL and fields share one transfer. A transfer follows redirects, retries
/// after failures, and stores the file in the tiers before it finishes.
///
/// Transfers get their slots by priority, then in order of arrival. The configuration limits how many run at once, in
/// all and for each host. An answer that is not an image, is empty, truncated or too large is an error with URL and
/// reason.
///
/// When the last caller leaves, the transfer is cancelled. ``Configuration/partialFolder`` says what is kept then, and
/// after a failure.
public actor ImageDownloader {
    /// One transfer, shared by its callers.
    typealias Transfer = SharedTask<LoadedFile>

    /// The network activity of this downloader.
    public nonisolated let activity = NetworkActivity()

    private typealias Admission = TransferSlots.Admission
    private typealias Begins = TransferSlots.Begins

    nonisolated let transfers = TaskPool<CacheKey, LoadedFile>()
    private var slots: TransferSlots
    /// Transfers in the background, which have no waiting callers, by number.
    private nonisolated let background = Lock<[Int: Transfer]>([:])
    nonisolated let tiers: FileTiers
    nonisolated let transport: any Transport
    nonisolated let configuration: Configuration
    nonisolated let budget: BodyBudget
    nonisolated let broker: AuthenticationBroker?
    nonisolated let partials: PartialStore?
    /// Read and write the files of bodies.
    nonisolated let threads = BlockingThreads(count: 2, name: "LazyImages.body")

    /// - Parameter tiers: where transfers store their files.
    init(transport: any Transport, tiers: FileTiers) {
        let configuration = tiers.configuration
        self.transport = transport
        self.tiers = tiers
        self.configuration = configuration
        slots = TransferSlots(configuration, activity: activity)
        budget = BodyBudget(limit: configuration.memoryForBodies)
        broker = configuration.authenticator.map { AuthenticationBroker($0) }
        partials = configuration.partialFolder.map {
            PartialStore(
                path: $0, limit: configuration.partialLimit, minimum: configuration.partialMinimum,
                kind: configuration.cacheKind, calls: configuration.fileCalls, disk: tiers.disk)
        }
    }

    /// The faults of the partial bodies' folder.
    package nonisolated var partialCounters: PartialCounters { partials?.counters ?? PartialCounters() }

    /// How many transfers there are, including those that wait for a slot.
    package nonisolated var transferCount: Int { transfers.tasks.count }

    // MARK: Callers

    /// Joins the transfer for an order, or begins it.
    /// - Parameters:
    ///   - stamp: when the caller looked in the tiers; nil for a caller that wants the network in any case.
    ///   - mark: the mark of the claims at that time; nil if there was none.
    ///   - listener: hears the events of the transfer.
    /// - Returns: nil if an equal transfer has finished since `stamp`: the caller looks in the tiers again.
    nonisolated func join(
        _ order: TransferOrder, _ priority: ImageRequest.Priority, listener: TaskListener? = nil,
        since stamp: Int? = nil, mark: ClaimFile.Mark? = nil
    ) async throws(ImageLoadingError) -> (transfer: Transfer, caller: Int)? {
        if Task.isCancelled { throw .cancelled(url: order.request.url.displayText) }
        let joined = transfers.join(
            order.key, url: order.request.url, priority: priority, listener: listener, since: stamp)
        guard let (transfer, caller, isFirst) = joined else { return nil }
        if isFirst { await begin(order, transfer, since: mark) }
        return (transfer, caller)
    }

    /// Begins a transfer in the background, unless an equal one is running.
    /// - Parameters:
    ///   - stamp: as in `join`. Begins nothing if an equal transfer has finished since.
    ///   - mark: as in `join`.
    nonisolated func beginInBackground(
        _ order: TransferOrder, since stamp: Int?, mark: ClaimFile.Mark?
    ) async {
        let joined = transfers.join(order.key, url: order.request.url, priority: .low, since: stamp)
        guard let (transfer, caller, isFirst) = joined else { return }
        guard isFirst else { return transfer.leave(caller) }
        background.withLock { $0[transfer.number] = transfer }
        await begin(order, transfer, since: mark)
    }

    /// Returns when the transfers in the background have finished, or the calling task is cancelled.
    nonisolated func endBackground() async {
        for transfer in background.withLock({ Array($0.values) }) {
            guard let caller = transfer.join(.low) else { continue }
            // Losing the error is right: after a failure the stored file stays as it was.
            _ = try? await transfer.value(for: caller)
        }
    }

    /// Makes the running transfers of a request store nothing. Later callers begin new transfers.
    nonisolated func forget(_ request: ImageRequest) {
        let key = request.transferKey
        transfers.forget { $0 == key || $0.text.hasPrefix(key.text + "\nvariant ") }
    }

    /// Removes the partial body of a request, unless a transfer uses it.
    nonisolated func removePartial(of request: ImageRequest) async {
        guard let partials, partials.mayHavePartial(of: request.transferKey) else { return }
        await BlockingThreads.runOnOwnThread { partials.remove(request.transferKey) }
    }

    /// Stops all transfers whose callers all have a priority below `.normal`: nobody looks at their images.
    /// - Returns: how many transfers were stopped.
    @discardableResult
    package func stopLowPriority() -> Int {
        let stopped = transfers.tasks.filter { $0.priority < .normal }
        for transfer in stopped {
            transfer.stop(ImageLoadingError.memoryShort)
            for (left, admission) in slots.remove(transfer.number) { Task { left.begin(admission) } }
        }
        return stopped.count
    }

    // MARK: Slots

    /// Begins a transfer with its first attempt.
    private nonisolated func begin(
        _ order: TransferOrder, _ transfer: Transfer, since mark: ClaimFile.Mark?
    ) async {
        transfer.addOwner { [weak self] change in
            Task { await self?.note(change, of: transfer) }
        }
        let claim = await tiers.claim(for: order, since: mark)
        let attempt = TransferAttempt(order, transfer, claim: claim)
        guard tiers.shared == nil else {
            return transfer.setTask(Task { @concurrent in await runAfterShared(attempt) })
        }
        let begins = await lineUp(attempt) { [self] admission in
            transfer.setTask(Task.immediate { await run(attempt, admission) })
        }
        for (waiting, admission) in begins { waiting.begin(admission) }
    }

    /// Waits for a slot, for a later attempt of a transfer or after its claim was settled.
    /// - Parameters:
    ///   - queued: how long earlier attempts have waited for slots.
    ///   - waited: how long this attempt has waited before its claim was settled; nil for a later attempt.
    /// - Returns: how long all attempts have waited for slots.
    private nonisolated func slot(
        for attempt: TransferAttempt, queued: Duration = .zero, waited: Duration? = nil
    ) async throws(ImageLoadingError) -> Duration {
        switch await admission(of: attempt, queued: queued, waited: waited) {
        case .slot(let queued): return queued
        // The claim was settled before.
        case .claimed(let waited): return queued + waited
        case .refused(let error): throw error
        }
    }

    /// Waits for a slot, or for the reason why there is none.
    private nonisolated func admission(
        of attempt: TransferAttempt, queued: Duration = .zero, waited: Duration? = nil
    ) async -> Admission {
        // If the transfer is abandoned, leaving the queue resumes the continuation.
        await withCheckedContinuation { continuation in
            Task {
                let begins = await lineUp(attempt, queued: queued, waited: waited) {
                    continuation.resume(returning: $0)
                }
                for (waiting, admission) in begins { waiting.begin(admission) }
            }
        }
    }

    /// Adds an attempt to the queue. `begin` is called when it has a slot, or with the reason why it gets none.
    private func lineUp(
        _ attempt: TransferAttempt, queued: Duration = .zero, waited: Duration? = nil,
        begin: @escaping @Sendable (Admission) -> Void
    ) -> Begins {
        slots.append(TransferSlots.Waiting(attempt: attempt, queued: queued, waited: waited, begin: begin))
    }

    /// The callers of a transfer have changed.
    private nonisolated func note(_ change: Transfer.Change, of transfer: Transfer) async {
        switch change {
        case .priority: await updatePriority(of: transfer)
        case .abandoned:
            for (left, admission) in await leaveQueue(transfer) { left.begin(admission) }
        case .wantsPreviews, .wantsNoPreviews: break
        }
    }

    private func updatePriority(of transfer: Transfer) { slots.updatePriority(of: transfer) }

    private func leaveQueue(_ transfer: Transfer) -> Begins { slots.remove(transfer.number) }

    // MARK: One transfer

    /// Makes attempts until one has an answer or a final error.
    private nonisolated func run(_ first: TransferAttempt, _ admission: Admission) async {
        let (order, transfer) = (first.order, first.transfer)
        let outcome: Transfer.Outcome
        do {
            outcome = .success(try await file(for: first, admission))
        } catch {
            outcome = .failure(error)
        }
        first.claim?.end(after: outcome)
        finish(order, transfer, outcome)
    }

    /// Asks the shared tier before the origin, without a slot: slots are for origins.
    private nonisolated func runAfterShared(_ first: TransferAttempt) async {
        if let file = await tiers.shared(for: first.order, first.transfer) {
            finish(first.order, first.transfer, .success(file))
        } else {
            await run(first, await admission(of: first))
        }
    }

    private nonisolated func finish(
        _ order: TransferOrder, _ transfer: Transfer, _ outcome: Transfer.Outcome
    ) {
        background.withLock { $0[transfer.number] = nil }
        transfers.finish(order.key, transfer, outcome)
    }

    /// Fetches and stores a file, or finds on disk what another process has fetched meanwhile.
    private nonisolated func file(
        for first: TransferAttempt, _ admission: Admission
    ) async throws(ImageLoadingError) -> LoadedFile {
        let queued: Duration
        switch admission {
        case .slot(let wait): queued = wait
        case .refused(let error): throw error
        case .claimed(let waited):
            if let file = try await fileOfAnotherProcess(for: first) { return file }
            queued = try await slot(for: first, waited: waited)
        }
        let answer = try await answer(to: first, queued: queued)
        return await tiers.keep(answer, first.order, from: first.transfer)
    }

    private nonisolated func answer(
        to first: TransferAttempt, queued firstQueued: Duration
    ) async throws(ImageLoadingError) -> DownloadedImage {
        var attempt = first
        var queued = firstQueued
        var spent = Duration.zero
        while true {
            var metrics: TransferMetrics?
            let start = configuration.timing.now()
            let arrival: Result<Arrival, ImageLoadingError>
            do {
                arrival = .success(try await answerChallenges(attempt, spent: spent, &metrics))
            } catch {
                arrival = .failure(error)
            }
            spent += configuration.timing.now() - start
            let (next, begins) = await end(attempt, arrival, metrics, spent: spent)
            for (waiting, admission) in begins { waiting.begin(admission) }
            switch next {
            case .done(let answer): return answer
            case .failed(let error): throw error
            case .another(let another, let pause):
                if let pause {
                    do { try await configuration.timing.sleep(pause) } catch {
                        throw .cancelled(url: attempt.url.displayText)
                    }
                }
                queued = try await slot(for: another, queued: queued)
                attempt = another
            }
        }
    }

    /// Frees the slot of an attempt that has ended, and decides what follows.
    /// - Parameter spent: how long the transfer's attempts took together.
    private func end(
        _ attempt: TransferAttempt, _ arrival: Result<Arrival, ImageLoadingError>,
        _ metrics: TransferMetrics?, spent: Duration
    ) -> (next: TransferAttempt.Next, begins: Begins) {
        slots.release(attempt, arrival)
        activity.end(
            attempt.transfer, host: attempt.host, didSucceed: arrival.isSuccess, metrics)
        activity.note(attempt) { event(arrival, metrics) }
        let next = attempt.next(after: arrival, spent: spent, configuration)
        if case .another(_, let pause?) = next { activity.note(attempt) { .retrying(after: pause) } }
        return (next, slots.admit())
    }

    private func event(
        _ arrival: Result<Arrival, ImageLoadingError>, _ metrics: TransferMetrics?
    ) -> TransferEvent.Kind {
        switch arrival {
        case .success(.answer(let answer)):
            .finished(status: answer.head.status, metrics: metrics ?? TransferMetrics())
        case .success(.redirect(let step)): .redirected(to: step.target.displayText)
        case .success(.unusablePartial): .finished(status: 416, metrics: metrics ?? TransferMetrics())
        case .failure(let error): .failed(error, metrics: metrics)
        }
    }
}
