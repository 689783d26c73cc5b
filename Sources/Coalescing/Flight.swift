public import SystemSupport

/// A single flight, which coalesces callers: one piece of work, and one outcome for all who wait for it.
///
///     running --(its work ends)--> finished: every caller gets the outcome
///        `-----(the last caller leaves)--> abandoned: its task is cancelled
///
/// Each caller has a priority, and the flight has the highest of them. A flight that is over refuses callers, which
/// begin a new one.
///
/// Two rules keep old results out of a cache. A flight is `current` until its value was removed from the cache, or a
/// newer flight of its key has begun; the work must store nothing after that. And whoever stores checks this under the
/// lock by which a removal drops the stored value, so that one of them sees the other.
///
/// Public and inlinable, so that each pair of value and event is specialised in the module that uses it: unspecialised, a
/// flight costs five times as much. No product exports this module.
///
/// Safe for concurrent use. One lock guards the state. Continuations, listeners and the observer are called with the
/// lock released.
public final class Flight<Value: Sendable, Failure: Error, Event: FlightEvent>: Sendable {
    /// The value, or the error.
    public typealias Outcome = Result<Value, Failure>
    /// Receives the events.
    public typealias Listener = FlightListener<Event>
    @usableFromInline typealias Continuation = CheckedContinuation<Outcome, Never>

    @usableFromInline struct State {
        @usableFromInline typealias Delivery = (
            event: Event?, listeners: [Listener], waiting: [Continuation]
        )

        @usableFromInline var callers = Callers<Continuation, Listener>()
        /// The errors of callers that have left for a reason of their own.
        @usableFromInline var reasons: [Int: Failure] = [:]
        @usableFromInline var outcome: Outcome?
        @usableFromInline var isAbandoned = false
        @usableFromInline var isCurrent = true
        @usableFromInline var task: Task<Void, Never>?
        @usableFromInline var observer: (@Sendable () -> Void)?
        /// How many listeners demand more.
        @usableFromInline var demands = 0
        /// The events that a late listener receives first.
        @usableFromInline var recent: [Event] = []
        /// Events that are not delivered yet, in order. A nil event is the end. The callers that wait get the outcome
        /// after it: until then their listeners may still receive events.
        @usableFromInline var deliveries: [Delivery] = []
        @usableFromInline var isDelivering = false

        @inlinable init() {}

        @inlinable var isOver: Bool { isAbandoned || outcome != nil }

        @inlinable mutating func add(_ listener: Listener, for caller: Int) {
            for event in recent { deliveries.append((event, [listener], [])) }
            if !isOver, callers.add(listener, for: caller) {
                if listener.isDemanding { demands += 1 }
            } else {
                deliveries.append((nil, [listener], []))
            }
        }

        @inlinable mutating func removeListeners(of caller: Int, where isMeant: @Sendable (Listener) -> Bool)
        {
            demands -= callers.removeListeners(of: caller, where: isMeant).count { $0.isDemanding }
        }

        @inlinable mutating func deliverToAll(_ event: Event?, waiting: [Continuation] = []) {
            if callers.listenerCount == 0, waiting.isEmpty { return }
            deliveries.append((event, callers.listeners, waiting))
        }

        /// Whether all events are delivered.
        @inlinable var isQuiet: Bool { !isDelivering && deliveries.isEmpty }

        /// Releases what only running work needs: a listener may hold what holds this flight.
        @inlinable mutating func end() -> Task<Void, Never>? {
            callers.removeListeners()
            recent.removeAll { !$0.outlivesFlight }
            (demands, observer) = (0, nil)
            return task.take()
        }
    }

    /// Makes the error of a caller that has left.
    public let cancelled: @Sendable () -> Failure
    @usableFromInline let state: Lock<State>
    @usableFromInline let order: ResumeOrder

    /// - Parameter cancelled: makes the error of a caller that has left.
    @inlinable public init(cancelled: @escaping @Sendable () -> Failure) {
        // Here, and not where they are declared: there they would be unspecialised.
        state = Lock(State())
        order = ResumeOrder()
        self.cancelled = cancelled
    }

    // MARK: Callers

    /// One caller of a flight.
    public struct Caller: Sendable {
        /// The flight.
        public let flight: Flight
        @usableFromInline let number: Int
        /// Whether the flight began with this caller.
        public var isFirst: Bool { number == 1 }

        @inlinable init(_ flight: Flight, _ number: Int) { (self.flight, self.number) = (flight, number) }
    }

    /// Adds a caller. Nil if the flight is over.
    @inlinable public func join(_ priority: Int, listener: Listener? = nil) -> Caller? {
        guard let (number, isRaised) = add(priority) else { return nil }
        return welcome(number, listener, isRaised)
    }

    /// Adds the first caller of a flight that nobody else knows yet.
    @inlinable public func firstCaller(_ priority: Int) -> Caller {
        guard let caller = join(priority) else { preconditionFailure("the flight is over") }
        return caller
    }

    /// Adds a caller, under the caller's own lock. `welcome` must follow, without it.
    @inlinable func add(_ priority: Int) -> (number: Int, isRaised: Bool)? {
        state.withLock { state in
            guard !state.isOver else { return nil }
            let isRaised = !state.callers.isEmpty && priority > state.callers.highestPriority
            return (state.callers.add(priority), isRaised)
        }
    }

    @inlinable func welcome(_ number: Int, _ listener: Listener?, _ isRaised: Bool) -> Caller {
        let caller = Caller(self, number)
        if let listener { caller.listen(listener) }
        if isRaised { observe() }
        return caller
    }

    /// The highest priority of the callers; 0 without any.
    @inlinable public var priority: Int { state.withLock { $0.callers.highestPriority } }

    /// How many callers wait.
    @inlinable public var callerCount: Int { state.withLock { $0.outcome == nil ? $0.callers.count : 0 } }

    // MARK: Work

    /// Runs the work in a new task, and then finishes the flight.
    /// - Parameters:
    ///   - isImmediate: whether the work runs on the calling thread until it first waits.
    ///   - unlist: called before the flight finishes: later callers must not find it.
    @inlinable public func run(
        isImmediate: Bool = false, _ work: @escaping @Sendable () async throws(Failure) -> Value,
        unlist: @escaping @Sendable () -> Void = {}
    ) {
        @Sendable func fly() async {
            let outcome: Outcome
            do {
                outcome = .success(try await work())
            } catch {
                outcome = .failure(error)
            }
            unlist()
            _ = end(with: outcome)
        }
        let task = isImmediate ? Task.immediate { await fly() } : Task { @concurrent in await fly() }
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
    }

    /// Sets what observes the callers: it is called whenever the highest priority or the demand of the listeners may
    /// have changed. It reads both anew: calls may overtake each other.
    @inlinable public func observe(by observer: @escaping @Sendable () -> Void) {
        state.withLock { if !$0.isOver { $0.observer = observer } }
    }

    @inlinable func observe() { state.withLock { $0.observer }?() }

    /// Ends the flight: all callers get the outcome, in the order in which they joined. Cancels the work if it still
    /// runs. Does nothing if the flight is over.
    @inlinable public func finish(_ outcome: Outcome) { end(with: outcome)?.cancel() }

    /// - Returns: the task of the work.
    @inlinable func end(with outcome: Outcome) -> Task<Void, Never>? {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard !state.isOver else { return nil }
            state.outcome = outcome
            state.deliverToAll(nil, waiting: state.callers.takeWaiting())
            return state.end()
        }
        order.mark()
        deliver()
        return task
    }

    /// Whether the flight is finished or abandoned. Its work may still run.
    @inlinable public var isOver: Bool { state.withLock { $0.isOver } }

    /// Whether the work may still store its result.
    @inlinable public var isCurrent: Bool { state.withLock { $0.isCurrent } }

    /// Forbids to store the result. The callers get it all the same.
    @inlinable public func invalidate() { state.withLock { $0.isCurrent = false } }

    // MARK: Events

    /// Passes an event to all listeners.
    @inlinable public func emit(_ event: Event) {
        let isObserved = state.withLock { state in
            guard !state.isOver else { return false }
            event.record(in: &state.recent)
            state.deliverToAll(event)
            return !state.deliveries.isEmpty
        }
        if isObserved { deliver() }
    }

    /// The events that a late listener receives first.
    @inlinable public var recentEvents: [Event] { state.withLock { $0.recent } }

    /// Whether a listener demands more than the events that come anyway.
    @inlinable public var isDemanded: Bool { state.withLock { $0.demands > 0 } }

    /// Delivers the waiting events. One thread at a time does so: no listener receives an event twice, or after a later
    /// one.
    @inlinable func deliver() {
        while true {
            let (next, outcome) = state.withLock { state in
                guard !state.isDelivering, !state.deliveries.isEmpty else {
                    return (State.Delivery?.none, state.outcome)
                }
                state.isDelivering = true
                return (state.deliveries.removeFirst(), state.outcome)
            }
            guard let next else { return }
            for listener in next.listeners { listener.receive(next.event) }
            if let outcome { for continuation in next.waiting { continuation.resume(returning: outcome) } }
            state.withLock { $0.isDelivering = false }
        }
    }
}

extension Flight.Caller {
    /// Waits for the outcome. Cancelling the calling task makes the caller leave.
    /// - Throws: the flight's error; `cancelled` for a caller that has left.
    @inlinable public var value: Value {
        get async throws(Failure) {
            // All events must be delivered before.
            if flight.state.withLock({ $0.isQuiet }), let outcome { return try outcome.get() }
            return try await waitForOutcome().get()
        }
    }

    @inlinable func waitForOutcome() async -> Flight.Outcome {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: Flight.Continuation) in
                let known = flight.state.withLock { state -> Flight.Outcome? in
                    guard state.callers.contains(number) else {
                        return .failure(state.reasons[number] ?? flight.cancelled())
                    }
                    if state.outcome == nil {
                        state.callers.wait(number, continuation)
                    } else if state.isQuiet {
                        return state.outcome
                    } else {
                        state.deliveries.append((nil, [], [continuation]))
                    }
                    return nil
                }
                flight.deliver()
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            leave()
        }
        flight.order.mark()
        return outcome
    }

    /// The outcome; nil before the flight is finished. `cancelled` for a caller that has left.
    @inlinable public var outcome: Flight.Outcome? {
        let (isPresent, outcome, reason) = flight.state.withLock { state in
            (state.callers.contains(number), state.outcome, state.reasons[number])
        }
        return isPresent ? outcome : .failure(reason ?? flight.cancelled())
    }

    /// Leaves: this caller gets `cancelled`. Does nothing once the flight is finished. Decides in one section whether the
    /// caller was the last one: nobody can join in between.
    /// - Parameter reason: the error in place of `cancelled`. Default: nil, none.
    @inlinable public func leave(because reason: Failure? = nil) {
        let left = flight.state.withLock {
            state -> (waiting: [Flight.Continuation], task: Task<Void, Never>?, isLast: Bool)? in
            guard state.outcome == nil else { return nil }
            let listeners = state.callers.listeners(of: number)
            state.removeListeners(of: number) { _ in true }
            guard let waiting = state.callers.remove(number) else { return nil }
            if let reason { state.reasons[number] = reason }
            if !listeners.isEmpty { state.deliveries.append((nil, listeners, [])) }
            guard state.callers.isEmpty else { return (waiting, nil, false) }
            state.isAbandoned = true
            return (waiting, state.end(), true)
        }
        guard let left else { return }
        flight.deliver()
        for continuation in left.waiting {
            continuation.resume(returning: .failure(reason ?? flight.cancelled()))
        }
        left.task?.cancel()
        if !left.isLast { flight.observe() }
    }

    /// This caller's priority; nil if it has left.
    @inlinable public var priority: Int? { flight.state.withLock { $0.callers.priority(of: number) } }

    /// Changes this caller's priority.
    /// - Parameter priority: called under the lock, so that the later of two changes wins.
    @inlinable public func setPriority(_ priority: () -> Int) {
        let hasChanged = flight.state.withLock { state in
            let before = state.callers.highestPriority
            state.callers.setPriority(priority(), of: number)
            return state.callers.highestPriority != before
        }
        if hasChanged { flight.observe() }
    }

    /// Adds a listener. It receives the recent events, all later ones, and the end.
    @inlinable public func listen(_ listener: Flight.Listener) {
        flight.state.withLock { $0.add(listener, for: number) }
        flight.deliver()
        if listener.isDemanding { flight.observe() }
    }

    /// Adds a demanding listener, unless this caller has one.
    @inlinable public func demand(_ makeListener: () -> Flight.Listener) {
        flight.state.withLock { state in
            if state.callers.listeners(of: number).contains(where: { $0.isDemanding }) { return }
            state.add(makeListener(), for: number)
        }
        flight.deliver()
    }

    /// Removes this caller's demanding listener.
    @inlinable public func endDemand() { flight.removeListeners(of: number) { $0.isDemanding } }

    /// A stream of events for one reader. It ends with the flight. When its reader stops, its listener is removed.
    /// - Parameters:
    ///   - first: what the reader gets at once; nil for nothing.
    ///   - element: what the reader gets of an event, and of the end, which is nil.
    @inlinable public func stream<Element: Sendable>(
        _ policy: AsyncStream<Element>.Continuation.BufferingPolicy, isDemanding: Bool = false,
        beginningWith first: Element? = nil, of element: @escaping @Sendable (Event?) -> Element?
    ) -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: policy) { reader in
            if let first { reader.yield(first) }
            let listener = Flight.Listener(isDemanding: isDemanding) { event in
                if let element = element(event) { reader.yield(element) }
                if event == nil { reader.finish() }
            }
            reader.onTermination = { [weak flight, number] _ in
                flight?.removeListeners(of: number) { $0 === listener }
            }
            listen(listener)
        }
    }
}

extension Flight {
    /// A removed listener may still receive an event that happens meanwhile.
    @inlinable func removeListeners(of caller: Int, where isMeant: @Sendable (Listener) -> Bool) {
        let isDemandChanged = state.withLock { state in
            let demands = state.demands
            state.removeListeners(of: caller, where: isMeant)
            return (state.demands == 0) != (demands == 0)
        }
        if isDemandChanged { observe() }
    }
}

/// An event of a flight.
public protocol FlightEvent: Sendable {
    /// Adds the event to the recent ones, in place of those that it makes outdated.
    func record(in recent: inout [Self])

    /// Whether a listener that comes after the flight's end receives the event too.
    var outlivesFlight: Bool { get }
}

extension FlightEvent {
    /// False.
    public var outlivesFlight: Bool { false }
}

/// The event of a flight without events.
extension Never: FlightEvent {
    /// Never happens.
    public func record(in recent: inout [Self]) {}
}

/// Receives the events of a flight in their order, on any thread, one at a time.
public final class FlightListener<Event: Sendable>: Sendable {
    /// Called with each event, and with nil at the end: the flight is over, or the listener's caller has left.
    public let receive: @Sendable (Event?) -> Void
    @usableFromInline let isDemanding: Bool

    /// - Parameter isDemanding: whether the work has to do more for this listener: see `Flight.isDemanded`.
    @inlinable public init(isDemanding: Bool = false, _ receive: @escaping @Sendable (Event?) -> Void) {
        self.isDemanding = isDemanding
        self.receive = receive
    }
}

/// The callers of a flight, in the order in which they joined. One that leaves costs the same however many there are: its
/// gap stays until there are as many gaps as callers.
@usableFromInline struct Callers<Continuation, Listener> {
    @usableFromInline struct Caller {
        /// A caller that joined earlier has a smaller number. The first one has 1.
        @usableFromInline let number: Int
        @usableFromInline var priority: Int
        @usableFromInline var waiting: [Continuation] = []
        @usableFromInline var listeners: [Listener] = []
        @usableFromInline var hasLeft = false

        @inlinable init(number: Int, priority: Int) { (self.number, self.priority) = (number, priority) }

        @inlinable mutating func takeWaiting() -> [Continuation] {
            defer { waiting = [] }
            return waiting
        }
    }

    /// In ascending order of their numbers.
    @usableFromInline var all: [Caller] = []
    /// How many have not left.
    @usableFromInline var count = 0
    @usableFromInline var listenerCount = 0
    @usableFromInline var lastNumber = 0
    /// How many callers have each priority. Saves a search for the highest one.
    @usableFromInline var counts = SIMD8<Int32>()

    @inlinable init() {}

    @inlinable var isEmpty: Bool { count == 0 }

    @inlinable var highestPriority: Int { counts.indices.last { counts[$0] > 0 } ?? 0 }

    @inlinable mutating func add(_ priority: Int) -> Int {
        lastNumber += 1
        count += 1
        all.append(Caller(number: lastNumber, priority: priority))
        counts[priority] += 1
        return lastNumber
    }

    /// Removes a caller, which has no listeners any more, and returns its continuations; nil if it has left already.
    @inlinable mutating func remove(_ number: Int) -> [Continuation]? {
        guard let index = index(of: number) else { return nil }
        all[index].hasLeft = true
        count -= 1
        counts[all[index].priority] -= 1
        defer { if all.count > 2 * count { all.removeAll { $0.hasLeft } } }
        return all[index].takeWaiting()
    }

    /// Removes the continuations of all callers, which stay: each may ask for the outcome later.
    @inlinable mutating func takeWaiting() -> [Continuation] {
        if all.count == 1 { return all[0].takeWaiting() }
        return all.indices.flatMap { all[$0].takeWaiting() }
    }

    @inlinable func contains(_ number: Int) -> Bool { index(of: number) != nil }

    @inlinable func priority(of number: Int) -> Int? { index(of: number).map { all[$0].priority } }

    @inlinable mutating func setPriority(_ priority: Int, of number: Int) {
        guard let index = index(of: number) else { return }
        counts[all[index].priority] -= 1
        counts[priority] += 1
        all[index].priority = priority
    }

    @inlinable mutating func wait(_ number: Int, _ continuation: Continuation) {
        if let index = index(of: number) { all[index].waiting.append(continuation) }
    }

    // MARK: Listeners

    @inlinable var listeners: [Listener] { all.count == 1 ? all[0].listeners : all.flatMap { $0.listeners } }

    @inlinable func listeners(of number: Int) -> [Listener] {
        index(of: number).map { all[$0].listeners } ?? []
    }

    /// Adds a listener; false if its caller has left.
    @inlinable mutating func add(_ listener: Listener, for number: Int) -> Bool {
        guard let index = index(of: number) else { return false }
        all[index].listeners.append(listener)
        listenerCount += 1
        return true
    }

    /// Removes and returns listeners of a caller.
    @inlinable mutating func removeListeners(of number: Int, where isMeant: @Sendable (Listener) -> Bool)
        -> [Listener]
    {
        guard let index = index(of: number) else { return [] }
        let removed = all[index].listeners.filter(isMeant)
        all[index].listeners.removeAll(where: isMeant)
        listenerCount -= removed.count
        return removed
    }

    @inlinable mutating func removeListeners() {
        if listenerCount > 0 { for index in all.indices { all[index].listeners = [] } }
        listenerCount = 0
    }

    /// Where a caller stands; nil if it has left. A binary search.
    @inlinable func index(of number: Int) -> Int? {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < all.count && all[low].number == number && !all[low].hasLeft ? low : nil
    }
}
