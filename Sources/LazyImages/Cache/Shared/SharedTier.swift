import FoundationEssentials
import SystemSupport

/// A tier that machines share, beneath memory and disk and above the origin: a store on the network that speaks HTTP with
/// GET, PUT and DELETE, or S3.
///
///     let address = try SharedTier.Address("http://cache.example.org/posters")
///     let shared = try SharedTier(address, keys: [key])  // 32 bytes or more, the same on every machine
///     let loader = ImageLoader(shared: shared)
///
/// **Values** are the files of the disk tier with a seal behind them: an HMAC-SHA256 under a key that all machines have.
/// A value that was changed, cut, or stored for another key is refused and counts as a miss. The seal does not hide a
/// value: who reads the store sees the pictures and their addresses. Names of objects are hashes.
///
/// **Reading** takes a second at most, connecting 100 ms. Anything but a whole, sealed value is a miss. Whoever asks goes
/// on to the origin then: the store is never the reason that a load fails.
///
/// **Writing** happens behind the caller's back. What waits to be written is bounded; the oldest is dropped, and counted.
/// A removal wins over a write that waits, and a key that was removed is not read again before the store has removed it.
///
/// **A store that fails** three times in a row is left alone for five seconds, then tried by one request, and left alone for
/// twice as long if that fails, up to a minute. Reading and writing are judged apart: a store that is full can still be
/// read.
///
/// What a cache for one user may keep, and others may not see, is not stored (RFC 9111 section 3), nor what was asked for
/// with credentials. What is at a loopback address is stored only where the store is at one too: the same address names
/// another server on another machine.
///
/// Safe for concurrent use. No call waits for the store but ``flush()`` and the loads that read.
public final class SharedTier: Sendable {
    /// Limits, and what the connection has to fulfil.
    public struct Configuration: Sendable {
        /// Whether the store is only read: nothing is written or removed there. Default false.
        public var isReadOnly = false
        /// Which certificates a store with TLS is known by. Default: the system's.
        public var security = SecurityPolicy()
        /// The largest value that is read or written, in bytes. Default 8 MiB: more does not come within a second.
        public var maximumBytes = 8 << 20
        /// Bytes that may wait to be written. Default 32 MiB.
        public var queuedBytes = 32 << 20
        /// Values that may wait to be written. Default 1024.
        public var queuedWrites = 1024
        /// Limits of a read. Default: 100 ms to connect, a second in all.
        package var reading = Timeouts(
            connect: .milliseconds(100), firstByte: .seconds(1), stall: .seconds(1), total: .seconds(1))
        /// Limits of a write, for which nobody waits. Default: 100 ms to connect, 1 s without progress, 5 s in all.
        package var writing = Timeouts(
            connect: .milliseconds(100), firstByte: .seconds(1), stall: .seconds(1), total: .seconds(5))
        /// What the breaker goes by.
        package var timing = RetryTiming.system

        /// The defaults.
        public init() {}
    }

    private struct State {
        var queue: StoreQueue
        var breaker = HostCircuitBreaker(
            RetryPolicy(failuresOfHost: SharedTier.failuresBeforePause, pauseOfHost: SharedTier.firstPause))
        var counters = Counters()
        /// Who waits for all that is queued.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// What the breaker judges apart.
    private enum Side: String {
        case read, write
    }

    /// Where the store is.
    public let address: Address
    let configuration: Configuration
    /// The first seals; all are accepted.
    private let keys: [[UInt8]]
    private let client: StoreClient
    private let threads = BlockingThreads(count: 1, name: "LazyImages.seal")
    private let state: Lock<State>

    /// Bytes of a key, at least: as many as its HMAC has (RFC 2104 section 3).
    public static let minimumKeyLength = 32
    private static let failuresBeforePause = 3
    private static let firstPause = Duration.seconds(5)
    /// Writes and removals under way at once.
    private static let writers = 4
    /// What `flush` waits for what is queued, at most.
    private static let flushLimit = Duration.seconds(5)
    /// With less than this left, a read is not begun.
    private static let shortestRead = Duration.milliseconds(5)
    /// Connections to the store at once; further requests wait for one within their own time.
    private static let connections = 32

    /// A tier over the store at an address.
    /// - Parameters:
    ///   - address: where the store is.
    ///   - keys: what seals values; the same for all who share the store. The first seals, all are accepted, so that keys
    ///     can be replaced. Each has at least 32 bytes.
    ///   - configuration: limits.
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

    /// Whether entries of a key may be in the store.
    func shares(_ key: CacheKey) -> Bool {
        // A hash of a password can be guessed.
        if key.text.contains("\nheader authorization ") { return false }
        let host = key.host
        // Names that programs give to their own servers (RFC 6761 section 6.3).
        if host.hasSuffix(".localhost") { return false }
        return address.isLoopback || !Address.isLoopback(host)
    }

    // MARK: Reading

    /// What the store has for a key, or nil. Never waits for longer than a second, nor for longer than is left of
    /// ``patience``.
    package func entry(for key: CacheKey) async -> DiskCache.Entry? {
        guard shares(key) else { return nil }
        var limits = configuration.reading
        if let left = Self.patience?.left { limits = limits.within(left) }
        guard limits.total >= Self.shortestRead, admitsRead(of: key) else {
            state.withLock { $0.counters.skips += 1 }
            return nil
        }
        let start = configuration.timing.now()
        let answer = await client.get(key.digest, within: limits)
        Self.patience?.spend(configuration.timing.now() - start)
        switch answer {
        case .value(let bytes): return await opened(bytes, key)
        case .none:
            noteRead { $0.misses += 1 }
            return nil
        case .tooLong:
            noteRead { $0.refusedValues += 1 }
            return nil
        case .cancelled:
            state.withLock { $0.breaker.inconclusive(Side.read.rawValue) }
            return nil
        case .failed:
            state.withLock { state in
                state.counters.failures += 1
                state.breaker.failed(Side.read.rawValue, now: configuration.timing.now())
            }
            return nil
        }
    }

    private func admitsRead(of key: CacheKey) -> Bool {
        state.withLock { state in
            !state.queue.isRemoved(key)
                && state.breaker.admit(Side.read.rawValue, now: configuration.timing.now()) == .allowed
        }
    }

    /// The store has answered.
    private func noteRead(_ count: (inout Counters) -> Void) {
        state.withLock { state in
            state.breaker.succeeded(Side.read.rawValue)
            count(&state.counters)
        }
    }

    private func opened(_ bytes: [UInt8], _ key: CacheKey) async -> DiskCache.Entry? {
        let keys = keys
        // Losing the error is right: without a thread to check it on, the value is a miss.
        let file = (try? await threads.run { SealedEntry.open(bytes, for: key, by: keys) }) ?? nil
        noteRead { counters in
            counters.bytesRead += bytes.count
            if file == nil { counters.refusedValues += 1 } else { counters.hits += 1 }
        }
        // It may have been removed while it came.
        guard let file, !state.withLock({ $0.queue.isRemoved(key) }) else { return nil }
        return DiskCache.Entry(metadata: file.metadata, body: ImageBytes(file), expiry: file.expiry)
    }

    // MARK: Writing

    /// Has a value written to the store, some time later.
    package func store(
        _ body: any ByteSource, metadata: [UInt8], expiry: Int? = nil, for key: CacheKey,
        unless isUnwanted: () -> Bool = { false }
    ) {
        guard !configuration.isReadOnly, shares(key) else { return }
        let entry = StagingArea.Entry(body: body, metadata: metadata, expiry: expiry)
        state.withLock { state in
            // Asked under the lock, so that of a removal and this write one sees the other.
            if isUnwanted() { return }
            guard let size = entry.fileSize(for: key), size <= configuration.maximumBytes else {
                state.counters.droppedWrites += 1
                return
            }
            state.counters.droppedWrites += state.queue.put(entry, for: key)
        }
        startWriting()
    }

    /// Has a value removed from the store, some time later. From now on it is not read there.
    package func remove(_ key: CacheKey) {
        guard shares(key) else { return }
        state.withLock { $0.queue.remove(key, sends: !configuration.isReadOnly) }
        startWriting()
    }

    /// Returns when all that was to be written or removed is, as far as it ever will be; after some ten seconds at the latest.
    public func flush() async {
        startWriting()
        let timer = Task { [configuration] in
            // Losing the error is right: all is written, and nobody waits any more.
            guard (try? await configuration.timing.sleep(Self.flushLimit)) != nil else { return }
            state.withLock { $0.counters.droppedWrites += $0.queue.dropWrites() }
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

    /// Starts what may be started of what is queued. Where the store is left alone, writes are dropped, and removals wait.
    private func startWriting() {
        let (orders, waiting) = state.withLock { state in
            var orders: [StoreQueue.Order] = []
            while state.queue.workCount < Self.writers, state.queue.hasNext {
                let admission = state.breaker.admit(
                    Side.write.rawValue, now: configuration.timing.now())
                guard admission == .allowed, let order = state.queue.next() else {
                    state.counters.droppedWrites += state.queue.dropWrites()
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
            // Away from whoever asked, who does not wait for it.
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
            // Losing the error is right: without a thread to seal it on, the value is not written.
            let sealed = try? await threads.run { SealedEntry.seal(entry, for: order.key, by: key) }
            sent = sealed?.count ?? 0
            outcome = if let sealed { await client.put(sealed, order.key.digest) } else { .refused }
        }
        state.withLock { state in
            switch (outcome, order.work) {
            case (.done, .put):
                state.counters.writes += 1
                state.counters.bytesWritten += sent
            case (.done, .remove): state.counters.removals += 1
            case (.refused, _), (.failed, _): state.counters.failures += 1
            }
            if outcome == .done {
                state.breaker.succeeded(Side.write.rawValue)
            } else {
                state.breaker.failed(Side.write.rawValue, now: configuration.timing.now())
            }
            state.queue.finish(order, outcome)
        }
        startWriting()
    }

    // MARK: Figures

    /// What happened so far, and how things are.
    public var counters: Counters {
        state.withLock { state in
            var counters = state.counters
            counters.isReadingPaused = state.breaker.isOpen(Side.read.rawValue)
            counters.isWritingPaused = state.breaker.isOpen(Side.write.rawValue)
            counters.queuedWrites = state.queue.count
            return counters
        }
    }
}
