import Coalescing
import FoundationEssentials
import SystemSupport

/// A cache tier that machines share. A loader asks it after memory and disk, and before the origin. It stores its values
/// in a server on the network: any server that accepts GET, PUT and DELETE, or S3.
///
///     let address = try SharedTier.Address("http://cache.example.org/posters")
///     let shared = try SharedTier(address, keys: [key])  // 32 bytes or more, the same on every machine
///     let loader = ImageLoader(shared: shared)
///
/// **Values** are files of the disk tier, each with a seal at its end: an HMAC-SHA256 by a key that all machines have. A
/// value that was changed, truncated, or stored for another key is refused and counts as a miss. The seal does not
/// encrypt: whoever can read the store sees the pictures and their URLs. The names of the objects are hashes.
///
/// **Reading** takes 800 ms at most, of which 100 ms are for connecting. Anything but a complete, sealed value is a miss,
/// and the loader asks the origin: no load fails because of the store.
///
/// **Writing** happens in the background. The queue of writes is bounded: the oldest is dropped, and counted. A removal
/// replaces a queued write of its key. A removed key is not read again until the store has removed it.
///
/// **A store that fails** three times in a row gets no requests for five seconds, and then a single one. If that fails too,
/// the pause doubles, up to a minute. Reads and writes have separate pauses: a full store can still be read.
///
/// **Not stored** are private answers (RFC 9111 section 3), and answers to requests with credentials or cookies. Files of
/// loopback addresses are stored only if the store has a loopback address too: on another machine, the same address
/// means another server.
///
/// Safe for concurrent use. Only loads, and the `flush()` of a loader, wait for the store.
public final class SharedTier: Sendable {
    private struct State {
        var queue: StoreQueue
        var breaker = HostCircuitBreaker(
            failures: SharedTier.failuresBeforePause, pause: SharedTier.firstPause)
        var traffic = Traffic()
        /// The callers of `flush`.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// Reads and writes have separate pauses.
    private enum Side: String {
        case read, write
    }

    /// Where the store is.
    package let address: Address
    let configuration: Configuration
    package var isReadOnly: Bool { configuration.isReadOnly }
    /// The first key seals. All are accepted.
    private let keys: [[UInt8]]
    private let client: StoreClient
    private let threads = BlockingThreads(count: 1, name: "LazyImages.seal")
    private let state: Lock<State>

    /// The least length of a key in bytes: that of an HMAC-SHA256 (RFC 2104 section 3).
    package static let minimumKeyLength = 32
    private static let failuresBeforePause = 3
    private static let firstPause = Duration.seconds(5)
    /// Writes and removals under way at once.
    private static let writers = 4
    /// How long `flush` waits for the queue to empty, at most.
    private static let flushLimit = Duration.seconds(5)
    /// A read with less time than this is skipped.
    private static let shortestRead = Duration.milliseconds(5)
    /// The most connections to the store. Further requests wait for one, within their time limits.
    private static let connections = 32

    /// Creates a tier with the store at an address.
    /// - Parameters:
    ///   - address: where the store is.
    ///   - keys: seal the values, and must be the same on all machines. Each has at least 32 bytes. The first seals, and
    ///     all are accepted, so that a key can be replaced.
    ///   - configuration: the limits.
    ///   - transport: the network. Default: libcurl, which S3 needs for its signatures.
    /// - Throws: `.noKey`, `.shortKey`.
    public init(
        _ address: Address, keys: [[UInt8]], configuration: Configuration = Configuration(),
        transport: (any Transport)? = nil
    ) throws(SharedTierError) {
        guard !keys.isEmpty else { throw .noKey }
        guard keys.allSatisfy({ $0.count >= Self.minimumKeyLength }) else { throw .shortKey }
        self.address = address
        self.keys = keys
        self.configuration = configuration
        var network = CurlTransport.Configuration(idleConnections: Self.connections)
        network.connectionsPerHost = Self.connections
        client = StoreClient(
            address: address, configuration: configuration,
            transport: transport ?? CurlTransport(configuration: network))
        state = Lock(
            State(queue: StoreQueue(bytes: configuration.queuedBytes, count: configuration.queuedWrites)))
    }

    /// Whether the store may have an entry of a key.
    func shares(_ key: CacheKey) -> Bool {
        // The key holds a hash of the credentials. Somebody could guess them from it.
        if key.text.contains("\nheader authorization ") { return false }
        let host = key.host
        // Programs give such names to their own servers (RFC 6761 section 6.3).
        if host.hasSuffix(".localhost") { return false }
        return address.isLoopback || !Address.isLoopback(host)
    }

    // MARK: Reading

    /// The store's entry for a key, or nil. Waits no longer than the time limit of a read, and no longer than what is left
    /// of `patience`.
    package func entry(for key: CacheKey) async -> DiskCache.Entry? {
        guard shares(key) else { return nil }
        var limits = configuration.reading
        if let left = Self.patience?.left { limits = limits.within(left) }
        guard limits.total >= Self.shortestRead, admitsRead(of: key) else {
            state.withLock { $0.traffic.skips += 1 }
            return nil
        }
        let start = configuration.timing.now()
        let answer = await client.get(key.digest, within: limits)
        Self.patience?.spend(configuration.timing.now() - start)
        switch answer {
        case .value(let bytes): return await opened(bytes, key)
        case .none:
            recordRead { $0.misses += 1 }
            return nil
        case .tooLong:
            recordRead { $0.refusedValues += 1 }
            return nil
        case .cancelled:
            state.withLock {
                $0.breaker.record(.inconclusive, of: Side.read.rawValue, now: configuration.timing.now())
            }
            return nil
        case .failed:
            state.withLock { state in
                state.traffic.failures += 1
                state.traffic.failedReads += 1
                state.breaker.record(.failed, of: Side.read.rawValue, now: configuration.timing.now())
            }
            return nil
        }
    }

    private func admitsRead(of key: CacheKey) -> Bool {
        state.withLock { state in
            !state.queue.isRemoved(key)
                && state.breaker.admit(Side.read.rawValue, now: configuration.timing.now()) == .admitted
        }
    }

    /// Notes that the store has answered. Starts queued work: removals may wait for the end of a pause.
    private func recordRead(_ count: (inout Traffic) -> Void) {
        let isWorkQueued = state.withLock { state in
            state.breaker.record(.answered, of: Side.read.rawValue, now: configuration.timing.now())
            count(&state.traffic)
            return state.queue.count > 0
        }
        if isWorkQueued { startWriting() }
    }

    private func opened(_ bytes: [UInt8], _ key: CacheKey) async -> DiskCache.Entry? {
        let keys = keys
        // Losing the error is right: without a thread for the check, the value is a miss.
        let file = (try? await threads.run { SealedEntry.open(bytes, for: key, by: keys) }) ?? nil
        recordRead { traffic in
            traffic.bytesRead += bytes.count
            if file == nil { traffic.refusedValues += 1 } else { traffic.hits += 1 }
        }
        // The key may have been removed during the read.
        guard let file, !state.withLock({ $0.queue.isRemoved(key) }) else { return nil }
        return DiskCache.Entry(metadata: file.metadata, body: ImageBytes(file), expiry: file.expiry)
    }

    // MARK: Writing

    /// Queues the write of a value. Does not wait for the store.
    package func store(
        _ body: any ByteSource, metadata: [UInt8], expiry: Int? = nil, for key: CacheKey,
        unless isUnwanted: () -> Bool = { false }
    ) {
        guard !configuration.isReadOnly, shares(key) else { return }
        let entry = StagingArea.Entry(body: body, metadata: metadata, expiry: expiry)
        state.withLock { state in
            // Under the lock: either the removal sees this write, or this write sees the removal.
            if isUnwanted() { return }
            guard let size = entry.fileSize(for: key), size <= configuration.maximumBytes else {
                state.traffic.droppedWrites += 1
                return
            }
            state.traffic.droppedWrites += state.queue.put(entry, for: key)
        }
        startWriting()
    }

    /// Queues the removal of a value. From now on the key is not read in the store.
    package func remove(_ key: CacheKey) {
        guard shares(key) else { return }
        state.withLock { $0.queue.remove(key, sends: !configuration.isReadOnly) }
        startWriting()
    }

    /// Waits until the queue is empty. After five seconds, drops the writes that are left; returns after ten at most.
    package func flush() async {
        startWriting()
        let timer = Task { [configuration] in
            // Losing the error is right: the queue was empty before the time was over.
            guard (try? await configuration.timing.sleep(Self.flushLimit)) != nil else { return }
            state.withLock { $0.traffic.droppedWrites += $0.queue.dropWrites() }
        }
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.queue.isAtWork { state.waiting.append(continuation) }
                return !state.queue.isAtWork
            }
            if isIdle { continuation.resume() }
        }
        timer.cancel()
    }

    /// Starts queued work, as much as is allowed. During a pause, drops the writes; the removals stay queued.
    private func startWriting() {
        let (orders, waiting) = state.withLock { state in
            var orders: [StoreQueue.Order] = []
            while state.queue.workCount < Self.writers, state.queue.hasNext {
                let admission = state.breaker.admit(
                    Side.write.rawValue, now: configuration.timing.now())
                guard admission == .admitted, let order = state.queue.next() else {
                    state.traffic.droppedWrites += state.queue.dropWrites()
                    break
                }
                orders.append(order)
            }
            var waiting: [CheckedContinuation<Void, Never>] = []
            if !state.queue.isAtWork { swap(&waiting, &state.waiting) }
            return (orders, waiting)
        }
        for continuation in waiting { continuation.resume() }
        for order in orders {
            // Detached: the caller does not wait for it.
            Task.detached { [self] in await write(order) }
        }
    }

    private func write(_ order: StoreQueue.Order) async {
        let outcome: StoreClient.WriteOutcome
        var sent = 0
        switch order.work {
        case .remove: outcome = await client.delete(order.key.digest)
        case .put(let entry):
            let key = keys[0]
            // Losing the error is right: without a thread for the seal, the value is not written.
            let sealed = try? await threads.run { SealedEntry.seal(entry, for: order.key, by: key) }
            sent = sealed?.count ?? 0
            outcome = if let sealed { await client.put(sealed, order.key.digest) } else { .refused }
        }
        state.withLock { state in
            switch (outcome, order.work) {
            case (.done, .put):
                state.traffic.writes += 1
                state.traffic.bytesWritten += sent
            case (.done, .remove): state.traffic.removals += 1
            case (.refused, _), (.failed, _): state.traffic.failures += 1
            }
            if outcome == .done {
                state.breaker.record(.answered, of: Side.write.rawValue, now: configuration.timing.now())
            } else {
                state.breaker.record(.failed, of: Side.write.rawValue, now: configuration.timing.now())
            }
            state.queue.finish(order, outcome)
        }
        startWriting()
    }

    // MARK: Figures

    /// What has happened so far, and the present state.
    package var traffic: Traffic {
        state.withLock { state in
            var traffic = state.traffic
            traffic.isReadingPaused = state.breaker.isOpen(Side.read.rawValue)
            traffic.isWritingPaused = state.breaker.isOpen(Side.write.rawValue)
            traffic.queuedWrites = state.queue.count
            return traffic
        }
    }
}
