import Coalescing
public import FoundationEssentials
import Hashing
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
        var waiting: [AsyncStream<Never>.Continuation] = []
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
    /// How long `flush` waits for the queue to empty, at most; and then for what is under way.
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
        case .none: recordRead { $0.misses += 1 }
        case .tooLong: recordRead { $0.refusedValues += 1 }
        case .cancelled: recordRead(.inconclusive) { _ in }
        case .failed(let fault):
            recordRead(.failed) { traffic in
                traffic.failures += 1
                traffic.failedReads += 1
                traffic.readFault = fault
            }
        }
        return nil
    }

    private func admitsRead(of key: CacheKey) -> Bool {
        state.withLock { state in
            !state.queue.isRemoved(key)
                && state.breaker.admit(Side.read.rawValue, now: configuration.timing.now()) == .admitted
        }
    }

    /// Notes the end of a read. If the store has answered, starts queued work: removals may wait for the end of a pause.
    private func recordRead(_ report: HostReport = .answered, _ count: (inout Traffic) -> Void) {
        let isWorkQueued = state.withLock { state in
            state.breaker.record(report, of: Side.read.rawValue, now: configuration.timing.now())
            count(&state.traffic)
            return state.queue.count > 0
        }
        if isWorkQueued, report == .answered { startWriting() }
    }

    private func opened(_ bytes: [UInt8], _ key: CacheKey) async -> DiskCache.Entry? {
        let keys = keys
        // Ignored: without a thread for the check, the value is a miss.
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
        let (idle, waiter) = AsyncStream.makeStream(of: Never.self)
        let isIdle = state.withLock { state in
            if state.queue.isAtWork { state.waiting.append(waiter) }
            return !state.queue.isAtWork
        }
        if isIdle { return }
        let timer = Task { [configuration] in
            // Ignored: the queue was empty before the time was over.
            guard (try? await configuration.timing.sleep(Self.flushLimit)) != nil else { return }
            state.withLock { $0.traffic.droppedWrites += $0.queue.dropWrites() }
            // Ignored: so was what is under way, unless the transport keeps no time limit.
            guard (try? await configuration.timing.sleep(Self.flushLimit)) != nil else { return }
            waiter.finish()
        }
        // In a task of its own, because the caller may be cancelled: a program that ends flushes.
        await Task { for await _ in idle {} }.value
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
            var waiting: [AsyncStream<Never>.Continuation] = []
            if !state.queue.isAtWork { swap(&waiting, &state.waiting) }
            return (orders, waiting)
        }
        for waiter in waiting { waiter.finish() }
        for order in orders {
            // Detached: the caller does not wait for it.
            Task.detached { [self] in await write(order) }
        }
    }

    private func write(_ order: StoreQueue.Order) async {
        var outcome = StoreClient.WriteOutcome.failed("PUT: no thread for the seal", isRefusal: true)
        var sent = 0
        switch order.work {
        case .remove: outcome = await client.delete(order.key.digest)
        case .put(let entry):
            let key = keys[0]
            // Ignored: without a thread for the seal, the value is not written.
            let sealed = try? await threads.run { SealedEntry.seal(entry, for: order.key, by: key) }
            sent = sealed?.count ?? 0
            if let sealed { outcome = await client.put(sealed, order.key.digest) }
        }
        state.withLock { [outcome, sent] state in
            var report = HostReport.answered
            switch (outcome, order.work) {
            case (.done, .put):
                state.traffic.writes += 1
                state.traffic.bytesWritten += sent
            case (.done, .remove): state.traffic.removals += 1
            case (.failed(let fault, _), _):
                report = .failed
                state.traffic.failures += 1
                state.traffic.writeFault = fault
            }
            state.breaker.record(report, of: Side.write.rawValue, now: configuration.timing.now())
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

extension SharedTier {
    /// How long a read takes at most. With the work of its own, a request then waits less than a second.
    package static let readLimit = Duration.milliseconds(800)

    /// The limits of a tier, and the security of its connections.
    public struct Configuration: Sendable {
        /// Whether this tier only reads: it writes and removes nothing in the store. Default false.
        public var isReadOnly = false
        /// Which certificates a store with TLS may have. Default: those that the system trusts.
        public var security = SecurityPolicy()
        /// The largest value that is read or written, in bytes. Default 8 MiB: more would take longer than a read may.
        public var maximumBytes = 8 << 20
        /// Bytes that may wait to be written. Default 32 MiB.
        package var queuedBytes = 32 << 20
        /// Values that may wait to be written. Default 1024.
        package var queuedWrites = 1024
        /// Time limits of a read. Default: 100 ms to connect, 800 ms in all.
        package var reading = Timeouts(
            connect: .milliseconds(100), firstByte: readLimit, stall: readLimit, total: readLimit)
        /// Time limits of a write. Default: 1 s to connect, 1 s without progress, 5 s in all.
        package var writing = Timeouts(
            connect: .seconds(1), firstByte: .seconds(1), stall: .seconds(1), total: .seconds(5))
        /// The clock of the breaker.
        package var timing = RetryTiming.system

        /// The defaults.
        public init() {}
    }
}

extension SharedTier {
    /// What has happened in a tier since it was created.
    package struct Traffic: Equatable, Sendable {
        /// Reads that gave a value.
        package internal(set) var hits = 0
        /// Reads of keys that the store does not have.
        package internal(set) var misses = 0
        /// Reads that were skipped: during a pause, without time left, or of a removed key.
        package internal(set) var skips = 0
        /// Values that were refused: changed, truncated, too long, of another key, or with a wrong seal.
        package internal(set) var refusedValues = 0
        /// Requests that failed: no connection, a timeout, or a status that means a failure.
        package internal(set) var failures = 0
        /// Those of them that were reads.
        package internal(set) var failedReads = 0
        /// Values that were written.
        package internal(set) var writes = 0
        /// Values that were removed.
        package internal(set) var removals = 0
        /// Writes that were dropped: the queue was full, the store had failed, or the value was too large.
        package internal(set) var droppedWrites = 0
        /// Bytes of values that were read.
        package internal(set) var bytesRead = 0
        /// Bytes of values that were written.
        package internal(set) var bytesWritten = 0
        /// Writes and removals in the queue.
        package internal(set) var queuedWrites = 0
        /// Whether reads pause: three in a row have failed.
        package internal(set) var isReadingPaused = false
        /// Whether writes pause.
        package internal(set) var isWritingPaused = false
        /// How the last failed read ended: `GET: status 401`. Nil if none has failed.
        package internal(set) var readFault: String?
        /// The same of the last failed write or removal.
        package internal(set) var writeFault: String?
    }

    /// What has happened since the tier was created.
    public var counters: CacheCounters {
        let traffic = traffic
        return CacheCounters(
            hits: traffic.hits,
            misses: traffic.misses + traffic.skips + traffic.refusedValues + traffic.failedReads,
            stores: traffic.writes, corrupt: traffic.refusedValues, faults: traffic.failures)
    }
}

extension SharedTier {
    /// How long one request may wait for the store in all its reads together. Without it, each read has the whole time
    /// limit of a read.
    package final class Patience: Sendable {
        private let remaining: Lock<Duration>

        init(_ limit: Duration) { remaining = Lock(limit) }

        var left: Duration { remaining.withLock { $0 } }

        func spend(_ time: Duration) { remaining.withLock { $0 = max(.zero, $0 - time) } }
    }

    /// The patience of a new request: the time limit of one read.
    package func newPatience() -> Patience { Patience(configuration.reading.total) }

    /// The patience of the current request. The service sets it; the transfers that the request begins inherit it.
    @TaskLocal package static var patience: Patience?
}

extension Timeouts {
    /// The same limits, but none above `limit`.
    func within(_ limit: Duration) -> Timeouts {
        Timeouts(
            connect: min(connect, limit), firstByte: min(firstByte, limit), stall: min(stall, limit),
            total: min(total, limit))
    }
}

/// Why a shared tier cannot be created.
public enum SharedTierError: Hashable, Sendable, CustomStringConvertible, LocalizedError {
    /// Not the address of a store. The text has no password.
    case malformedAddress(text: String)
    /// An S3 store, but no credentials in the environment.
    case noCredentials
    /// No key to seal values with.
    case noKey
    /// A key that is too short.
    case shortKey

    /// As `description`.
    public var errorDescription: String? { description }

    /// One line: what is wrong, and what to do.
    public var description: String {
        switch self {
        case .malformedAddress(let text):
            "\"\(text)\" is not the address of a store; use one such as http://cache:8080/posters, s3://bucket/prefix or s3+http://host:9000/bucket"
        case .noCredentials:
            "an S3 store needs credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        case .noKey: "a shared store needs a key that seals its values; make one with `openssl rand -hex 32`"
        case .shortKey:
            "the key is too short; it needs \(SharedTier.minimumKeyLength) bytes, such as from `openssl rand -hex 32`"
        }
    }
}

/// A value of the shared store: the file of the disk tier, and at its end a seal. For the key `http://a/b`, the metadata `m`
/// and the body `hello`:
///
///     offset  bytes                        what
///      0      89 4d 51 45 ... 68 65 6c 6f  the file of 56 bytes, see `EntryHeader`
///     56      32 bytes                     HMAC-SHA256 (RFC 2104) of the bytes before
///
/// The seal covers the key, because the file contains it: another key's value is refused, though its seal is right.
enum SealedEntry {
    static let sealLength = SHA256.Digest.byteCount

    /// The sealed value of an entry. Hashes all bytes twice: do not call it on the cooperative pool.
    static func seal(_ entry: StagingArea.Entry, for key: CacheKey, by secret: [UInt8]) -> [UInt8] {
        let metadata = entry.metadata
        let text = key.text.utf8Span.span
        var bytes: [UInt8] = []
        entry.body.withBytes { body in
            let header = EntryHeader.bytes(
                key: text, metadata: metadata.span, body: body, expiry: entry.expiry)
            bytes.reserveCapacity(
                header.count + text.count + metadata.count + body.count + sealLength)
            bytes += [UInt8](copying: header.span)
            bytes += [UInt8](copying: text)
            bytes += metadata
            bytes += [UInt8](copying: body)
        }
        return bytes + SHA256.authenticate(bytes.span, with: secret.span).bytes
    }

    /// The entry of a sealed value; nil if it is malformed, has another key, or was sealed by none of the secrets.
    static func open(_ bytes: [UInt8], for key: CacheKey, by secrets: [[UInt8]]) -> EntryFile? {
        guard bytes.count >= sealLength else { return nil }
        let file = bytes.span.extracting(droppingLast: sealLength)
        let seal = bytes.span.extracting(last: sealLength)
        var isSealed = false
        for secret in secrets {
            let expected = SHA256.authenticate(file, with: secret.span).bytes
            // Compares all bytes: the time must not show where the first difference is.
            var difference: UInt8 = 0
            for index in 0..<sealLength { difference |= expected[index] ^ seal[index] }
            isSealed = isSealed || difference == 0
        }
        guard isSealed, case .valid(let entry) = EntryFile.parse(file), entry.hasKey(key.text) else {
            return nil
        }
        return entry
    }
}
