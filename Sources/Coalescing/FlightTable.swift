public import SystemSupport

/// The running flights, by which callers of one key are coalesced: at most one for each key.
///
/// The race of a look in a cache with the end of a flight:
///
/// 1. A caller looks in the cache and finds nothing.
/// 2. The running flight stores its value and ends.
/// 3. The caller joins, and begins a second flight.
///
/// So a caller reads `ends` before it looks, and gives the number to `join`. If any flight has ended since, the new
/// flight's work looks in the cache again. Inside the flight the look cannot be outrun: no other flight of the key runs.
///
/// The race of a removal with the end of a flight:
///
/// 1. The flight has its value.
/// 2. `invalidate` makes the flight outdated and unlists it. The caller then removes the value from the cache.
/// 3. The flight's work sees, where it stores, that it is outdated: its callers get the value, and no cache does.
///
/// A flight's generation is the flight itself: what is outdated stays so, and a caller that comes after the removal
/// begins a new flight. An abandoned flight stays listed while its work runs, and is outdated when a newer one begins.
///
/// The race of a removal with work that leads to a flight:
///
/// 1. The work begins: it looks in the cache, and finds nothing.
/// 2. The removal finds no flight.
/// 3. The work joins, and begins a flight, whose value would be in the cache again.
///
/// So the work reads `removals` when it begins, and `join` asks whether it is outdated. Outdated work joins the listed
/// flight, which began after the removal. Without one it begins a flight that is outdated and not listed: callers that
/// come after the removal do not join it.
///
/// Safe for concurrent use. The table's lock may be held when a flight's lock is taken, never the other way round.
public final class FlightTable<
    Key: Hashable & Sendable, Value: Sendable, Failure: Error, Event: FlightEvent
>: Sendable {
    /// A flight of this table.
    public typealias Work = Flight<Value, Failure, Event>

    @usableFromInline struct State {
        @usableFromInline var flights: [Key: Work] = [:]
        @usableFromInline var ends = 0
        @usableFromInline var removals = Removals()
        #if DEBUG
            /// The flights whose work has not ended.
            @usableFromInline var working = 0
        #endif

        @inlinable init() {}

        /// Traps in a debug build if more flights are listed than work. Called at the end of each transition.
        @inlinable func checkInvariants() {
            #if DEBUG
                precondition(flights.count <= working, "FlightTable: listed flights > flights that work")
            #endif
        }
    }

    @usableFromInline let state: Lock<State>

    /// A table without flights.
    @inlinable public init() { state = Lock(State()) }

    /// How many flights have ended.
    @inlinable public var ends: Int { state.withLock { $0.ends } }

    /// The removals so far. Work that began before a removal must store nothing of what was removed.
    @inlinable public var removals: Removals { state.withLock { $0.removals } }

    /// The flights that are not over.
    @inlinable public var running: [Work] {
        state.withLock { Array($0.flights.values) }.filter { !$0.isOver }
    }

    /// The running flight of a key.
    @inlinable public subscript(key: Key) -> Work? {
        state.withLock { $0.flights[key] }.flatMap { $0.isOver ? nil : $0 }
    }

    /// Joins the flight of a key, or begins one.
    /// - Parameters:
    ///   - ends: `ends` before the caller looked in the cache; nil for a caller that wants no look.
    ///   - isOutdated: whether one of these removals outdates the caller. Called under the lock.
    ///   - cancelled: makes the error of a caller that has left.
    ///   - isImmediate: as in `Flight.run`.
    ///   - work: the work of a new flight. `mustLook`: whether to look in the cache again first.
    @inlinable public func join(
        _ key: Key, priority: Int, listener: Work.Listener? = nil, since ends: Int? = nil,
        unless isOutdated: (Removals) -> Bool = { _ in false },
        cancelled: @escaping @Sendable () -> Failure, isImmediate: Bool = false,
        work: @escaping @Sendable (_ flight: Work, _ mustLook: Bool) async throws(Failure) -> Value
    ) -> Work.Caller {
        let (flight, (number, isRaised), mustLook) = state.withLock { state in
            if let flight = state.flights[key] {
                if let joined = flight.add(priority) { return (flight, joined, Bool?.none) }
                flight.invalidate()
                state.ends += 1
            }
            let flight = Work(cancelled: cancelled)
            if isOutdated(state.removals) { flight.invalidate() } else { state.flights[key] = flight }
            #if DEBUG
                state.working += 1
            #endif
            state.checkInvariants()
            guard let joined = flight.add(priority) else { preconditionFailure("a new flight is not over") }
            return (flight, joined, ends.map { $0 != state.ends } ?? false)
        }
        let caller = flight.welcome(number, listener, isRaised)
        guard let mustLook else { return caller }
        flight.run(isImmediate: isImmediate) { () async throws(Failure) in
            try await work(flight, mustLook)
        } unlist: { [weak self] in
            self?.unlist(key, flight)
        }
        return caller
    }

    /// Unlists the flights of some keys, and forbids them to store their values. Later callers begin new flights.
    /// - Parameter names: what is removed, for the work that has no flight yet. Default: nothing.
    @inlinable public func invalidate(_ names: [Substring] = [], where isMeant: (Key) -> Bool) {
        state.withLock { state in
            for name in names { state.removals.add(name) }
            for key in state.flights.keys.filter(isMeant) {
                state.flights.removeValue(forKey: key)?.invalidate()
            }
            state.checkInvariants()
        }
    }

    /// Unlists the flights of some keys. Later callers begin new flights; the old ones may still store their values.
    @inlinable public func retire(where isMeant: (Key) -> Bool) {
        state.withLock { state in
            for key in state.flights.keys.filter(isMeant) { state.flights[key] = nil }
            state.checkInvariants()
        }
    }

    /// Unlists all flights, forbids them to store their values, and outdates all work that has no flight yet.
    @inlinable public func invalidateAll() {
        state.withLock { state in
            state.removals.addAll()
            for flight in state.flights.values { flight.invalidate() }
            state.flights.removeAll()
            state.checkInvariants()
        }
    }

    @inlinable func unlist(_ key: Key, _ flight: Work) {
        state.withLock { state in
            state.ends += 1
            if state.flights[key] === flight { state.flights[key] = nil }
            #if DEBUG
                state.working -= 1
            #endif
            state.checkInvariants()
        }
    }
}

/// The removals from a cache, counted by short hashes of what was removed: few of them outdate other work as well.
public struct Removals: Sendable {
    @usableFromInline var all = 0
    /// By hash; empty before the first removal.
    @usableFromInline var counts: [Int] = []

    @inlinable init() {}

    /// Every name is removed.
    @inlinable mutating func addAll() {
        counts = (counts.isEmpty ? [Int](repeating: 0, count: 256) : counts).map { $0 + 1 }
        all += 1
    }

    @inlinable mutating func add(_ name: Substring) {
        if counts.isEmpty { counts = [Int](repeating: 0, count: 256) }
        all += 1
        counts[Self.index(of: name)] += 1
    }

    /// Whether these removals have one of a name that the earlier ones have not.
    @inlinable public func outdate(_ name: @autoclosure () -> Substring, since earlier: Removals) -> Bool {
        if all == earlier.all { return false }
        let index = Self.index(of: name())
        return counts[index] != (earlier.counts.isEmpty ? 0 : earlier.counts[index])
    }

    @inlinable static func index(of name: Substring) -> Int { name.hashValue & 255 }
}
