import HTTPSemantics
import LazyImages
import SystemSupport

/// Limits the work of making pictures: how long sources wait, how many are decoded at once, and the memory for both.
/// A request that joins a source in progress takes no place.
///
/// A source goes through two lines. Both are in turn by client; see `ClientTurns`.
///
/// 1. `enter` waits until the source may be fetched and there is room for its bytes. So a waiting source holds nothing.
/// 2. `acquire` waits for a worker and the memory to decode. The bytes count until decoding begins.
///
/// The expected wait follows from the sources that are decoded earlier and from the mean time of decoding. A source
/// whose wait would exceed the queue time is refused at once, so that its client can come back in time or go elsewhere.
/// A source that has waited longer is refused too.
package final class WorkGate: Sendable {
    /// The limits of a gate.
    struct Limits: Sendable {
        /// The number of sources decoded at once.
        var workers = 1
        /// The most bytes for decoding.
        var memory: Int
        /// The most sources fetched at once. More would wait in the downloader, which does not know whose they are.
        var transfers: Int
        /// The most bytes of sources that are being fetched, or wait to be decoded. A single larger source is allowed.
        var sourceMemory: Int
        /// The longest wait in each line.
        var queueTime: Duration
        /// The most sources besides those that are decoded; nil for any number.
        var queue: Int?
    }

    /// Names a source on its way through the gate.
    final class Ticket: Hashable, Sendable {
        static func == (one: Ticket, other: Ticket) -> Bool { one === other }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    /// Resumes a waiter: with nil if it may go on.
    private typealias Resumption = (
        continuation: CheckedContinuation<PictureFailure?, Never>, failure: PictureFailure?
    )

    private struct Waiter {
        let ticket: Ticket
        /// The bytes for decoding.
        let bytes: Int
        let deadline: Duration
        let continuation: CheckedContinuation<PictureFailure?, Never>
    }

    /// What the gate knows of a source.
    private struct Source {
        var client: ClientTurns.Client
        /// Its place in the order until it is decoded.
        var turn: ClientTurns.Turn?
        /// Its share of the memory for sources: an estimate until it is fetched, and nothing while it is decoded.
        var held = 0
        var isFetching = false
        /// The bytes of the fetched file.
        var fileBytes = 0
        /// Its share of the memory for decoding, and when decoding began; nil if it has no worker.
        var decoding: (bytes: Int, start: Duration)?
    }

    private struct State {
        let limits: Limits
        var sources: [Ticket: Source] = [:]
        var turns = ClientTurns()
        var toFetch = WaitingLine<Waiter>()
        var toDecode = WaitingLine<Waiter>()
        var workers: Int
        var memory: Int
        /// The bytes of sources that are being fetched, or wait to be decoded.
        var held = 0
        /// The sources that are being fetched.
        var transfers = 0
        var decodingTime = MovingMean(first: WorkGate.assumedDecodingTime)
        var fileBytes = MovingMean(first: Double(WorkGate.leastEstimate))
        /// No waiter's deadline is earlier; nil if nobody waits.
        var firstDeadline: Duration?
        /// Whether a task watches the deadlines.
        var isWatched = false

        init(_ limits: Limits) {
            self.limits = limits
            (workers, memory) = (limits.workers, limits.memory)
        }

        // MARK: Refusals

        func expectedWait(of client: ClientTurns.Client) -> Duration {
            .seconds(Double(turns.countAhead(of: client)) * decodingTime.value / Double(limits.workers))
        }

        func refusal(of client: ClientTurns.Client) -> PictureFailure? {
            let wait = expectedWait(of: client)
            let isFull = limits.queue.map { sources.count >= limits.workers + $0 } ?? false
            return isFull || wait > limits.queueTime ? .busy(.queue, wait: wait) : nil
        }

        // MARK: Lines

        /// The source's estimated share of the memory until its size is known.
        private var estimate: Int { max(WorkGate.leastEstimate, Int(fileBytes.value)) }

        var hasRoom: Bool {
            transfers < limits.transfers && (held == 0 || held + estimate <= limits.sourceMemory)
        }

        mutating func add(_ ticket: Ticket, _ client: ClientTurns.Client) {
            sources[ticket] = Source(client: client, turn: turns.append(client))
        }

        mutating func remove(_ ticket: Ticket) {
            guard let source = sources.removeValue(forKey: ticket) else { return }
            if let turn = source.turn { turns.remove(turn) }
            held -= source.held
            if source.isFetching { transfers -= 1 }
            endDecoding(source)
        }

        mutating func setHeld(_ bytes: Int, by ticket: Ticket) {
            held += bytes - (sources[ticket]?.held ?? 0)
            sources[ticket]?.held = bytes
        }

        mutating func beginFetching(_ ticket: Ticket) {
            setHeld(estimate, by: ticket)
            sources[ticket]?.isFetching = true
            transfers += 1
        }

        mutating func endFetching(_ ticket: Ticket, _ bytes: Int) {
            setHeld(bytes, by: ticket)
            sources[ticket]?.fileBytes = bytes
            sources[ticket]?.isFetching = false
            transfers -= 1
            fileBytes.add(Double(bytes))
        }

        mutating func beginDecoding(_ ticket: Ticket, _ bytes: Int, now: Duration) {
            workers -= 1
            memory -= bytes
            setHeld(0, by: ticket)
            sources[ticket]?.decoding = (bytes, now)
            if let turn = sources[ticket]?.turn.take() { turns.begin(turn) }
        }

        mutating func endDecoding(_ source: Source?) {
            guard let decoding = source?.decoding else { return }
            workers += 1
            memory += decoding.bytes
        }

        mutating func wait(_ waiter: Waiter, isFetched: Bool) {
            guard let turn = sources[waiter.ticket]?.turn else { return }
            if isFetched {
                toDecode.insert(waiter, at: turn)
            } else {
                toFetch.insert(waiter, at: turn)
            }
            firstDeadline = min(firstDeadline ?? waiter.deadline, waiter.deadline)
        }

        mutating func share(_ ticket: Ticket, with client: ClientTurns.Client) {
            guard let old = sources[ticket]?.turn, let new = turns.replace(old, for: client) else { return }
            sources[ticket]?.turn = new
            sources[ticket]?.client = client
            if let waiter = toFetch.remove(old) { toFetch.insert(waiter, at: new) }
            if let waiter = toDecode.remove(old) { toDecode.insert(waiter, at: new) }
        }

        /// The waiters that may go on, and those that have waited too long. A large waiter holds up smaller ones behind
        /// it; otherwise it would never get its turn.
        mutating func admit(now: Duration) -> [Resumption] {
            var resumptions = expire(now: now)
            while let first = toDecode.first, workers > 0, first.bytes <= memory {
                toDecode.removeFirst()
                beginDecoding(first.ticket, first.bytes, now: now)
                resumptions.append((first.continuation, nil))
            }
            while let first = toFetch.first, hasRoom {
                toFetch.removeFirst()
                beginFetching(first.ticket)
                resumptions.append((first.continuation, nil))
            }
            return resumptions
        }

        private mutating func expire(now: Duration) -> [Resumption] {
            guard let firstDeadline, now >= firstDeadline else { return [] }
            let late =
                toFetch.removeAll { $0.deadline <= now } + toDecode.removeAll { $0.deadline <= now }
            self.firstDeadline = (toFetch.all + toDecode.all).map(\.deadline).min()
            return late.map { waiter in
                let client = sources[waiter.ticket]?.client
                return (waiter.continuation, .busy(.queueTime, wait: expectedWait(of: client ?? nil)))
            }
        }

        mutating func cancel(_ ticket: Ticket) -> Resumption? {
            guard let turn = sources[ticket]?.turn,
                let waiter = toFetch.remove(turn) ?? toDecode.remove(turn)
            else { return nil }
            return (waiter.continuation, .cancelled)
        }
    }

    /// The decoding time of a source before any is measured, in seconds: a poster on a slow machine.
    fileprivate static let assumedDecodingTime = 0.01
    /// The least estimate of a source's bytes. It also bounds the number of sources fetched ahead.
    fileprivate static let leastEstimate = 256 << 10

    private let limits: Limits
    private let timing: RetryTiming
    private let state: Lock<State>

    /// - Parameter timing: the clock of waits and of decoding.
    init(_ limits: Limits, timing: RetryTiming = .system) {
        self.limits = limits
        self.timing = timing
        state = Lock(State(limits))
    }

    /// The most bytes for decoding.
    var memory: Int { limits.memory }

    // MARK: Entering

    /// Why a source of this client would be refused now; nil if it may enter. Takes no place.
    func refusal(of client: IPAddress?) -> PictureFailure? {
        state.withLock { $0.refusal(of: client?.clientNetwork) }
    }

    /// Waits for a source's turn, for a transfer, and for room for its bytes. The caller must `leave` afterwards.
    /// - Throws: `.busy` if the wait is or would be too long; `.cancelled` if the task was cancelled meanwhile. The
    ///   source then has no place.
    func enter(_ ticket: Ticket, _ client: IPAddress?) async throws(PictureFailure) {
        let client = client?.clientNetwork
        let refusal = state.withLock { state in
            let refusal = state.refusal(of: client)
            if refusal == nil { state.add(ticket, client) }
            return refusal
        }
        if let refusal { throw refusal }
        do throws(PictureFailure) {
            try await wait(ticket, bytes: 0, isFetched: false)
        } catch {
            leave(ticket)
            throw error
        }
    }

    /// Takes a place for a source that need not be fetched now: only if nobody waits.
    func enterAtOnce() -> Ticket? {
        state.withLock { state in
            let isFull = limits.queue.map { state.sources.count >= limits.workers + $0 } ?? false
            guard !isFull, state.toFetch.count == 0, state.hasRoom else { return nil }
            let ticket = Ticket()
            state.sources[ticket] = Source(client: nil)
            state.beginFetching(ticket)
            return ticket
        }
    }

    /// Lets a waiting source take the turn of another client that asks for it too, if that is earlier. Otherwise it
    /// would wait behind all that the first client has asked for.
    func share(_ ticket: Ticket, with client: IPAddress?) {
        change { state in
            state.share(ticket, with: client?.clientNetwork)
            return []
        }
    }

    /// Gives back everything that a source has.
    func leave(_ ticket: Ticket) {
        change { state in
            state.remove(ticket)
            return []
        }
    }

    /// Counts the bytes of a source that has been fetched, instead of the estimate. Call it once.
    /// - Throws: `.busy` if the other sources alone take more than their memory. It has been fetched in vain, which
    ///   happens if sources are much larger than earlier ones.
    func endFetching(_ ticket: Ticket, _ bytes: Int) throws(PictureFailure) {
        var failure: PictureFailure?
        change { state in
            state.endFetching(ticket, bytes)
            if state.held - bytes > limits.sourceMemory {
                let client = state.sources[ticket]?.client
                failure = .busy(.sourceMemory, wait: state.expectedWait(of: client ?? nil))
            }
            return []
        }
        if let failure { throw failure }
    }

    // MARK: Decoding

    /// Waits for a worker and memory.
    /// - Parameter bytes: at most `memory`.
    /// - Throws: as `enter`. The source then has neither.
    func acquire(_ bytes: Int, for ticket: Ticket) async throws(PictureFailure) {
        state.withLock { state in
            guard let source = state.sources[ticket], source.turn == nil else { return }
            // It had a worker before, and waits again for more memory.
            state.sources[ticket]?.turn = state.turns.append(source.client)
            state.setHeld(source.fileBytes, by: ticket)
        }
        try await wait(ticket, bytes: bytes, isFetched: true)
    }

    /// Takes more memory for a worker, without waiting. Two workers that each hold a part could wait for each other for
    /// ever.
    /// - Returns: false if there is not enough memory.
    func extend(by bytes: Int, for ticket: Ticket) -> Bool {
        state.withLock { state in
            guard bytes <= state.memory, state.sources[ticket]?.decoding != nil else { return false }
            state.memory -= bytes
            state.sources[ticket]?.decoding?.bytes += bytes
            return true
        }
    }

    /// Gives back the worker and its memory.
    func release(_ ticket: Ticket) {
        let now = timing.now()
        change { state in
            guard let decoding = state.sources[ticket]?.decoding else { return [] }
            state.endDecoding(state.sources[ticket])
            state.sources[ticket]?.decoding = nil
            state.decodingTime.add((now - decoding.start).seconds)
            return []
        }
    }

    // MARK: Waiting

    private func wait(_ ticket: Ticket, bytes: Int, isFetched: Bool) async throws(PictureFailure) {
        let deadline = timing.now() + limits.queueTime
        let failure = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                change { state in
                    // Checked under the lock: a cancellation either came before and is seen here, or finds the waiter.
                    if Task.isCancelled { return [(continuation, .cancelled)] }
                    state.wait(
                        Waiter(ticket: ticket, bytes: bytes, deadline: deadline, continuation: continuation),
                        isFetched: isFetched)
                    return []
                }
            }
        } onCancel: {
            change { state in state.cancel(ticket).map { [$0] } ?? [] }
        }
        if let failure { throw failure }
    }

    /// Changes the state, and resumes the waiters that may go on, outside the lock.
    private func change(_ body: (inout State) -> [Resumption]) {
        let now = timing.now()
        let (resumptions, isUnwatched) = state.withLock { state in
            let resumptions = body(&state) + state.admit(now: now)
            let isUnwatched = state.firstDeadline != nil && !state.isWatched
            if isUnwatched { state.isWatched = true }
            return (resumptions, isUnwatched)
        }
        for (continuation, failure) in resumptions { continuation.resume(returning: failure) }
        if isUnwatched { watch() }
    }

    /// Refuses waiters at their deadlines, until nobody waits.
    private func watch() {
        Task { [self] in
            while let pause = refuseLateWaiters() {
                // Ignored: this task is never cancelled.
                try? await timing.sleep(pause)
            }
        }
    }

    /// - Returns: the time until the next deadline; nil if nobody waits, so that nobody need watch.
    private func refuseLateWaiters() -> Duration? {
        var pause: Duration?
        let now = timing.now()
        change { state in
            let resumptions = state.admit(now: now)
            state.isWatched = state.firstDeadline != nil
            pause = state.firstDeadline.map { max($0 - now, .milliseconds(1)) }
            return resumptions
        }
        return pause
    }

    // MARK: Usage

    /// The present usage.
    package struct Usage: Hashable, Sendable {
        /// Sources in progress, waiting ones included.
        package let sources: Int
        /// The sources among them that wait for their turn: to be fetched or to be decoded.
        package let waiting: Int
        /// Sources that are being decoded.
        package let workers: Int
        /// The bytes that decoding takes.
        package let memory: Int
        /// The bytes of sources that are being fetched, or wait to be decoded.
        package let sourceMemory: Int
    }

    package var usage: Usage {
        state.withLock { state in
            Usage(
                sources: state.sources.count, waiting: state.toFetch.count + state.toDecode.count,
                workers: limits.workers - state.workers, memory: limits.memory - state.memory,
                sourceMemory: state.held)
        }
    }
}

/// The mean of about the last 256 values. It changes slowly: the connections of a burst compete with decoding for the
/// processors, and the first slow pictures must not have the rest of the burst refused.
private struct MovingMean {
    private(set) var value: Double
    /// How many values it is the mean of. The first mean, before there are any, counts as this many.
    private var count = 32.0
    private static let most = 256.0

    init(first: Double) { value = first }

    mutating func add(_ new: Double) {
        count = min(count + 1, Self.most)
        value += (new - value) / count
    }
}
