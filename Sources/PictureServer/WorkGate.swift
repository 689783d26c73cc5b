import Coalescing
import HTTPSemantics
import LazyImages
import SystemSupport

/// Limits the work of making pictures: how long sources wait, how many are decoded at once, and the memory for both.
/// A request that joins a source in progress takes no place.
///
/// A source goes through two lines. Both are in turn by client; see `ClientTurns`.
///
/// 1. `enter` waits until the source may be fetched and there is room for its bytes. So a waiting source has no bytes.
/// 2. `acquire` waits for a worker and the memory to decode. The bytes count until decoding begins.
///
/// A source is refused when it has waited for the queue time, not when it would probably wait so long: the costs of
/// earlier sources say nothing about those of the next ones.
package final class WorkGate: Sendable {
    /// The limits of a gate.
    struct Limits: Sendable {
        /// The number of sources decoded at once.
        var workers = 1
        /// The most bytes for decoding.
        var memory: Int
        /// The most sources fetched at once, in all and of one host. More would wait in the downloader, which does not know
        /// whose they are.
        var transfers: Int
        var transfersPerHost = Int.max
        /// The most bytes of sources that are being fetched, or wait to be decoded. A single larger source is allowed. As
        /// much again is for sources that wait to be fetched.
        var sourceMemory: Int
        /// The longest wait in each line.
        var queueTime: Duration
        /// The most sources besides those that are decoded; nil for any number.
        var queue: Int?
    }

    /// Names a source on its way through the gate.
    final class Ticket: Hashable, Sendable {
        let source: PictureLoader.SourceKey
        /// Host and port. Empty for a source without them, which has no limit of its own.
        let host: String

        init(_ source: PictureLoader.SourceKey, host: String) { (self.source, self.host) = (source, host) }

        static func == (one: Ticket, other: Ticket) -> Bool { one === other }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    private typealias Continuation = CheckedContinuation<PictureFailure?, Never>

    private struct Waiter {
        let ticket: Ticket
        /// The bytes for decoding; nil for a source that must be fetched first.
        let bytes: Int?
        let continuation: Continuation

        /// Those who wait for the same thing stand in one line.
        var line: Line { bytes == nil ? .fetching(host: ticket.host) : .decoding }
    }

    private enum Line: Hashable {
        case fetching(host: String)
        case decoding
    }

    /// What the gate knows of a source.
    private struct Source {
        let host: String
        var client: ClientTurns.Client
        /// Its place in the order until it is decoded.
        var turn: ClientTurns.Turn?
        /// Until when it waits.
        var deadline = Duration.zero
        /// Its share of the memory for sources: an estimate until it is fetched, and nothing while it is decoded.
        var held = 0
        var isFetching = false
        /// The bytes of the fetched file.
        var fileBytes = 0
        /// Its share of the memory for decoding; nil if it has no worker.
        var decodingBytes: Int?
    }

    private struct State {
        let limits: Limits
        var sources: [Ticket: Source] = [:]
        var turns = ClientTurns()
        var lines: [Line: WaitingLine<ClientTurns.Turn, Waiter>] = [:]
        /// How many sources wait, and how many of them to be fetched.
        var waiting = 0, waitingToFetch = 0
        /// The sources of each host that are being fetched.
        var fetching: [String: Int] = [:]
        /// The tickets of the sources in the gate.
        var tickets: [PictureLoader.SourceKey: Ticket] = [:]
        /// The waiters to resume: with nil if they may go on.
        var resumptions: [(continuation: Continuation, failure: PictureFailure?)] = []
        /// The sources that are being decoded, and their memory for it.
        var workers = 0, memory = 0
        /// The sources that are being fetched.
        var transfers = 0
        /// The bytes of sources that are being fetched, or wait to be decoded.
        var held = 0
        var fileBytes = MovingMean(first: Double(WorkGate.leastEstimate))

        // MARK: Sources

        /// Whether a client's next source is refused: there are too many sources, or those that wait take too much
        /// memory. A client that has none there may always enter, so that nobody's crowd keeps it out.
        func isFull(for client: ClientTurns.Client) -> Bool {
            if let queue = limits.queue, sources.count >= limits.workers + queue { return true }
            return waitingToFetch * WorkGate.waitingMemory > limits.sourceMemory && turns.hasTurn(client)
        }

        /// The source's estimated share of the memory until its size is known.
        private var estimate: Int { max(WorkGate.leastEstimate, Int(fileBytes.value)) }

        private mutating func count(_ source: Source, _ sign: Int) {
            held += sign * source.held
            if source.isFetching {
                transfers += sign
                let number = fetching[source.host, default: 0] + sign
                fetching[source.host] = number == 0 ? nil : number
            }
            guard let bytes = source.decodingBytes else { return }
            workers += sign
            memory += sign * bytes
        }

        /// Changes a source, and the totals with it.
        mutating func update(_ ticket: Ticket, _ change: (inout Source) -> Void) {
            guard var source = sources[ticket] else { return }
            count(source, -1)
            change(&source)
            count(source, 1)
            sources[ticket] = source
        }

        mutating func remove(_ ticket: Ticket) {
            guard let source = sources.removeValue(forKey: ticket) else { return }
            if let turn = source.turn { turns.remove(turn) }
            if tickets[ticket.source] === ticket { tickets[ticket.source] = nil }
            count(source, -1)
        }

        mutating func startFetching(_ ticket: Ticket) {
            let estimate = estimate
            update(ticket) { ($0.held, $0.isFetching) = (estimate, true) }
        }

        private mutating func startDecoding(_ ticket: Ticket, _ bytes: Int) {
            if let turn = sources[ticket]?.turn { turns.start(turn) }
            update(ticket) { ($0.turn, $0.held, $0.decodingBytes) = (nil, 0, bytes) }
        }

        // MARK: Lines

        mutating func insert(_ waiter: Waiter) {
            guard let turn = sources[waiter.ticket]?.turn else { return }
            lines[waiter.line, default: WaitingLine()].insert(waiter, at: turn)
            count(waiter, 1)
        }

        private mutating func count(_ waiter: Waiter, _ sign: Int) {
            waiting += sign
            if waiter.bytes == nil { waitingToFetch += sign }
            if lines[waiter.line]?.count == 0 { lines[waiter.line] = nil }
        }

        /// Takes a waiter out of its line; nil if the source does not wait.
        private mutating func removeWaiter(_ ticket: Ticket) -> Waiter? {
            guard let turn = sources[ticket]?.turn,
                let waiter = lines[.fetching(host: ticket.host)]?.remove(turn)
                    ?? lines[.decoding]?.remove(turn)
            else { return nil }
            count(waiter, -1)
            return waiter
        }

        /// The next waiter that may go on: to be decoded, else the first in turn to be fetched. A large one holds up smaller
        /// ones behind it; otherwise it would never get its turn.
        private var next: Waiter? {
            if let first = lines[.decoding]?.first, let bytes = first.bytes, workers < limits.workers,
                memory + bytes <= limits.memory
            {
                return first
            }
            guard hasRoom else { return nil }
            var next: (place: ClientTurns.Turn, waiter: Waiter)?
            for line in lines.values {
                guard let place = line.firstPlace, let first = line.first,
                    next.map({ place < $0.place }) ?? true,
                    first.bytes == nil, mayFetch(first.ticket.host)
                else { continue }
                next = (place, first)
            }
            return next?.waiter
        }

        private var hasRoom: Bool {
            transfers < limits.transfers && (held == 0 || held + estimate <= limits.sourceMemory)
        }

        func mayFetch(_ host: String) -> Bool {
            hasRoom && (host.isEmpty || fetching[host, default: 0] < limits.transfersPerHost)
        }

        mutating func share(_ ticket: Ticket, with client: ClientTurns.Client) {
            guard let old = sources[ticket]?.turn, let new = turns.replace(old, for: client) else { return }
            let waiter = removeWaiter(ticket)
            update(ticket) { ($0.turn, $0.client) = (new, client) }
            if let waiter { insert(waiter) }
        }

        /// Lets a source wait no longer. Does nothing if it does not wait.
        mutating func refuse(_ ticket: Ticket, _ failure: PictureFailure) {
            if let waiter = removeWaiter(ticket) { resumptions.append((waiter.continuation, failure)) }
        }

        /// Resumes the waiters that may go on.
        mutating func admit() {
            while waiting > 0, let first = next {
                lines[first.line]?.removeFirst()
                count(first, -1)
                if let bytes = first.bytes {
                    startDecoding(first.ticket, bytes)
                } else {
                    startFetching(first.ticket)
                }
                resumptions.append((first.continuation, nil))
            }
        }

        // MARK: Invariants

        /// Stops the program if a total is not the sum over the sources. Looks at a few sources each time, and at many
        /// now and then. Only in debug builds.
        func checkInvariants() {
            #if DEBUG
                precondition((0...limits.workers).contains(workers), "the gate's workers: \(workers)")
                precondition(
                    (0...limits.memory).contains(memory), "the gate's memory for decoding: \(memory)")
                precondition((0...limits.transfers).contains(transfers), "the gate's transfers: \(transfers)")
                guard sources.count < 16 || turns.isSampled else { return }
                let all = sources.values
                precondition(workers == all.count { $0.decodingBytes != nil }, "the sum of workers")
                precondition(
                    memory == all.reduce(0) { $0 + ($1.decodingBytes ?? 0) }, "the sum of decoding memory")
                precondition(transfers == all.count(where: \.isFetching), "the sum of transfers")
                precondition(held == all.reduce(0) { $0 + $1.held }, "the sum of the sources' bytes")
                precondition(turns.count == all.count { $0.turn != nil }, "the sum of turns")
                precondition(
                    waiting == lines.values.reduce(0) { $0 + $1.count }, "the sum of the lines")
                precondition(
                    fetching.values.allSatisfy { $0 > 0 } && fetching.values.reduce(0, +) == transfers,
                    "the sum of the hosts' transfers")
                precondition(waiting <= turns.count, "a waiter without a turn")
            #endif
        }
    }

    /// The memory of a source that waits to be fetched, in bytes: tasks and flights; 29 KiB were measured.
    fileprivate static let waitingMemory = 32 << 10
    /// The least estimate of a source's bytes. It also bounds the number of sources fetched ahead.
    fileprivate static let leastEstimate = 256 << 10

    private let limits: Limits
    private let timing: RetryTiming
    private let deadlines: Deadlines
    private let state: Lock<State>

    /// - Parameter timing: the clock of waits and of decoding.
    init(_ limits: Limits, timing: RetryTiming = .system) {
        self.limits = limits
        self.timing = timing
        deadlines = Deadlines(now: timing.now, sleep: timing.sleep)
        state = Lock(State(limits: limits))
    }

    /// The most bytes for decoding.
    var memory: Int { limits.memory }

    // MARK: Entering

    /// Waits for a source's turn, for a transfer, and for room for its bytes. The caller must `leave` afterwards.
    /// - Throws: `.busy` if the wait is too long, or there are too many sources; `.cancelled` if the task was cancelled
    ///   meanwhile. The source then has no place.
    func enter(_ ticket: Ticket, _ client: IPAddress?) async throws(PictureFailure) {
        let client = client?.clientNetwork
        let isFull = change { state in
            if state.isFull(for: client) { return true }
            state.sources[ticket] = Source(
                host: ticket.host, client: client, turn: state.turns.append(client))
            state.tickets[ticket.source] = ticket
            return false
        }
        if isFull { throw .busy(.queue) }
        try await wait(ticket)
    }

    /// Takes a place for a source that need not be fetched now: only if nobody waits.
    /// - Returns: whether it has a place.
    func enterAtOnce(_ ticket: Ticket) -> Bool {
        change { state in
            guard !state.isFull(for: nil), state.waitingToFetch == 0, state.mayFetch(ticket.host) else {
                return false
            }
            state.sources[ticket] = Source(host: ticket.host, client: nil)
            state.startFetching(ticket)
            return true
        }
    }

    /// Lets a waiting source take the turn of another client that asks for it too, if that is earlier. Otherwise it
    /// would wait behind all that the first client has asked for.
    func share(_ source: PictureLoader.SourceKey, with client: IPAddress?) {
        change { state in
            if let ticket = state.tickets[source] { state.share(ticket, with: client?.clientNetwork) }
        }
    }

    /// Gives back everything that a source has.
    func leave(_ ticket: Ticket) { change { $0.remove(ticket) } }

    /// Counts the bytes of a source that has been fetched, instead of the estimate. Call it once.
    /// - Throws: `.busy` if the other sources alone take more than their memory. It has been fetched in vain, which
    ///   happens if sources are much larger than earlier ones.
    func endFetching(_ ticket: Ticket, _ bytes: Int) throws(PictureFailure) {
        let isTooMuch = change { state in
            state.update(ticket) { ($0.held, $0.fileBytes, $0.isFetching) = (bytes, bytes, false) }
            state.fileBytes.add(Double(bytes))
            return state.held - bytes > limits.sourceMemory
        }
        if isTooMuch { throw .busy(.sourceMemory) }
    }

    // MARK: Decoding

    /// Waits for a worker and memory.
    /// - Parameter bytes: at most `memory`.
    /// - Throws: as `enter`. The source then has neither.
    func acquire(_ bytes: Int, for ticket: Ticket) async throws(PictureFailure) {
        change { state in
            guard let source = state.sources[ticket], source.turn == nil else { return }
            // It had a worker before, and waits again for more memory.
            let turn = state.turns.append(source.client)
            state.update(ticket) { ($0.turn, $0.held) = (turn, $0.fileBytes) }
        }
        try await wait(ticket, bytes: bytes)
    }

    /// Takes more memory for a worker, without waiting. Two workers that each hold a part could wait for each other for
    /// ever.
    /// - Returns: false if there is not enough memory.
    func extend(by bytes: Int, for ticket: Ticket) -> Bool {
        change { state in
            guard state.memory + bytes <= limits.memory, let own = state.sources[ticket]?.decodingBytes else {
                return false
            }
            state.update(ticket) { $0.decodingBytes = own + bytes }
            return true
        }
    }

    /// Gives back the worker and its memory.
    func release(_ ticket: Ticket) { change { $0.update(ticket) { $0.decodingBytes = nil } } }

    // MARK: Waiting

    private func wait(_ ticket: Ticket, bytes: Int? = nil) async throws(PictureFailure) {
        let end = timing.now() + limits.queueTime
        var deadline: Int?
        let failure = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                change { state in
                    // Checked under the lock: a cancellation either came before and is seen here, or finds the waiter.
                    if Task.isCancelled { return state.resumptions.append((continuation, .cancelled)) }
                    state.sources[ticket]?.deadline = end
                    state.insert(Waiter(ticket: ticket, bytes: bytes, continuation: continuation))
                }
                // Afterwards: a deadline that passed before the source was in its line would refuse nobody.
                deadline = deadlines.add(after: limits.queueTime) { [self] in refuseLate(ticket) }
            }
        } onCancel: {
            change { $0.refuse(ticket, .cancelled) }
        }
        if let deadline { deadlines.remove(deadline) }
        guard let failure else { return }
        if bytes == nil { leave(ticket) }
        throw failure
    }

    /// Refuses a source that has waited too long. It may wait for something else by now, with a later deadline.
    private func refuseLate(_ ticket: Ticket) {
        let now = timing.now()
        change { state in
            guard let source = state.sources[ticket], source.deadline <= now else { return }
            state.refuse(ticket, .busy(.queueTime, wait: limits.queueTime))
        }
    }

    /// Changes the state, and resumes the waiters that need not wait any longer, outside the lock.
    private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        let (value, resumptions) = state.withLock { state in
            let value = body(&state)
            state.admit()
            state.checkInvariants()
            return (value, exchange(&state.resumptions, with: []))
        }
        for (continuation, failure) in resumptions { continuation.resume(returning: failure) }
        return value
    }

    // MARK: Usage

    /// The present usage: sources in progress, waiting ones included; those that wait for their turn; those that are being
    /// decoded; and the bytes for decoding, and of sources that are being fetched or wait to be decoded.
    package var usage: (sources: Int, waiting: Int, workers: Int, memory: Int, sourceMemory: Int) {
        state.withLock { ($0.sources.count, $0.waiting, $0.workers, $0.memory, $0.held) }
    }
}

/// The mean of about the last 256 values.
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

/// The order of waiting sources, fair between clients: round robin. In each round every client has one turn, so a
/// client with a thousand sources does not hold up another with five. A plain struct, not safe for concurrent use.
///
///     arrival   a1 a2 a3 b1 b2 c1
///     order     a1 b1 c1 | a2 b2 | a3
///
/// A client that comes later begins in the round that is being served, and does not catch up on earlier rounds
/// (start-time fair queueing, Goyal, Vin and Cheng 1996).
struct ClientTurns {
    /// An IPv4 address, or the network of an IPv6 address; nil for all programs at a local socket.
    typealias Client = IPAddress?

    /// A source's place in the order.
    struct Turn: Comparable, Sendable {
        let client: Client
        fileprivate let round: Int
        /// Distinguishes all turns, in order of arrival.
        fileprivate let number: Int

        static func < (one: Turn, other: Turn) -> Bool {
            (one.round, one.number) < (other.round, other.number)
        }
    }

    private struct Line {
        var count: Int
        let lastRound: Int
    }

    /// The clients with waiting sources.
    private var lines: [Client: Line] = [:]
    /// The round that is being served.
    private var round = 0
    private var number = 0

    /// Adds a source, behind the client's other sources.
    mutating func append(_ client: Client) -> Turn {
        number += 1
        let next = nextRound(of: client)
        lines[client] = Line(count: (lines[client]?.count ?? 0) + 1, lastRound: next)
        return Turn(client: client, round: next, number: number)
    }

    /// The turn of another client that asks for the same source, in place of this one; nil if it would not be earlier.
    mutating func replace(_ turn: Turn, for client: Client) -> Turn? {
        guard client != turn.client, nextRound(of: client) < turn.round else { return nil }
        remove(turn)
        return append(client)
    }

    private func nextRound(of client: Client) -> Int { max(round, (lines[client]?.lastRound ?? -1) + 1) }

    /// Removes a source that waits no more.
    mutating func remove(_ turn: Turn) {
        guard let count = lines[turn.client]?.count else { return }
        lines[turn.client]?.count = count - 1
        if count == 1 { lines[turn.client] = nil }
    }

    /// Removes a source whose turn has come.
    mutating func start(_ turn: Turn) {
        round = max(round, turn.round)
        remove(turn)
    }

    fileprivate func hasTurn(_ client: Client) -> Bool { lines[client] != nil }
    /// The number of turns.
    fileprivate var count: Int { lines.values.reduce(0) { $0 + $1.count } }
    /// True after every 64th turn was given.
    fileprivate var isSampled: Bool { number % 64 == 0 }
}
