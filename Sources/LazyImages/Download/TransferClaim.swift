import SystemSupport

/// A transfer's claim on its key. Of all processes that share a disk tier, only the one with the claim fetches. The
/// others wait, without a slot, and find the file on disk.
///
///     has a slot ---(free)--> claimed --> fetches --> file is on disk --> given up
///          |
///          `---(taken)--> waits --(its fetch ended, its process ended, or the time is over)--> looks on disk
///                                     |-- found: the transfer is over
///                                     `-- not found: lines up for a slot again
///
/// A waiter that finds nothing on disk asks how the fetch went. If it ended, its answer must not be stored: all waiters
/// fetch at once, without a claim, and not one process after the other. If it was cut off, one waiter takes the claim
/// over.
///
/// What reads or locks the file of the claims runs on the cache's threads.
final class TransferClaim: Sendable {
    private struct State {
        /// The claims on the folder; nil before the first try, and if there can be none.
        var claims: ClaimFile?
        /// The key's mark before the look on disk that found nothing, or else before the first try.
        var mark: ClaimFile.Mark?
        var isHeld = false
        /// Whether the transfer may fetch.
        var isSettled = false
    }

    private let disk: DiskCache
    private let key: CacheKey
    private let state: Lock<State>

    /// The pauses between two tries: a quarter of what has been waited already, within these bounds.
    private static let shortestPause = Duration.milliseconds(1)
    private static let longestPause = Duration.milliseconds(100)

    /// - Parameter mark: the key's mark from before the look on disk that found nothing; nil if it was not known then.
    init(of disk: DiskCache, on key: CacheKey, since mark: ClaimFile.Mark?) {
        self.disk = disk
        self.key = key
        state = Lock(State(mark: mark))
    }

    deinit { release() }

    /// Whether a transfer that has a slot may fetch: it holds the claim, or needs none. If not, `settle` must come
    /// first: another process is fetching, or may have fetched since this one looked on disk. Waits for no other
    /// process.
    func mayFetch() async -> Bool {
        if state.withLock({ $0.isSettled }) { return true }
        // Without a thread for the claim, the transfer fetches without one.
        return await disk.run(on: disk.readers, orElse: true) { self.take() }
    }

    private func take() -> Bool {
        let claims = disk.openClaims()
        return state.withLock { state in
            state.claims = claims
            let early = state.mark
            state.mark = early ?? claims?.mark(of: key)
            switch claims?.take(key) {
            case .taken:
                state.isHeld = true
                state.isSettled = early != nil && claims?.mark(of: key) == early
            case .ours, .impossible, nil: state.isSettled = true
            case .elsewhere: break
            }
            return state.isSettled
        }
    }

    /// Waits until no other process has the claim, and looks on disk.
    /// - Parameters:
    ///   - bound: how long to wait at most: the other process may be stopped.
    ///   - look: gives the file that is on disk by then, if it answers the transfer.
    /// - Returns: the file on disk; nil if the transfer must fetch.
    /// - Throws: when the calling task is cancelled.
    func settle(
        within bound: Duration, _ timing: RetryTiming, _ look: () async -> LoadedFile?
    ) async throws -> LoadedFile? {
        let start = timing.now()
        while await disk.run(on: disk.readers, orElse: false, { self.isTakenElsewhere() }) {
            let waited = timing.now() - start
            guard waited < bound else { break }
            try await timing.sleep(min(max(waited / 4, Self.shortestPause), Self.longestPause))
        }
        let file = await look()
        await disk.run(on: disk.readers, orElse: ()) { self.settle(isFound: file != nil) }
        return file
    }

    private func settle(isFound: Bool) {
        if isFound || state.withLock({ hasEnded($0) }) { release() }
        state.withLock { $0.isSettled = !isFound }
    }

    /// Whether another process has the claim, and has not ended its fetch. Takes the claim if it is free.
    private func isTakenElsewhere() -> Bool {
        state.withLock { state in
            guard let claims = state.claims, !state.isHeld, !hasEnded(state) else { return false }
            let attempt = claims.take(key)
            state.isHeld = attempt == .taken
            return attempt == .elsewhere
        }
    }

    /// Whether a fetch of the key has ended since the mark was read.
    private func hasEnded(_ state: State) -> Bool {
        guard let now = state.claims?.mark(of: key) else { return false }
        return now != state.mark && now.isOf(key)
    }

    /// Ends the claim with its transfer: notes the end, once the file is on disk, and gives the claim up. A cancelled
    /// transfer notes no end: another process takes over.
    func end(after outcome: Result<LoadedFile, ImageLoadingError>) {
        if case .failure(.cancelled) = outcome { return release() }
        guard state.withLock({ $0.isSettled }) else { return release() }
        disk.afterStores { [self] in
            state.withLock { $0.claims }?.recordEnd(of: key)
            release()
        }
    }

    /// Never waits: the system unlocks without reading the file.
    private func release() {
        state.withLock { state in
            if state.isHeld { state.claims?.release(key) }
            state.isHeld = false
        }
    }
}
