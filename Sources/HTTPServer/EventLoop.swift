import CMarqueeSystem
import HTTPSemantics
import SystemSupport

/// One thread's connections. The thread waits for all of them at once (epoll, edge-triggered), and runs each until it
/// would have to wait.
final class EventLoop {
    let context: ServerContext
    let mailbox: LoopMailbox
    /// Counts the messages that it has seen.
    private let beat: Counter
    /// When the loop last woke up.
    private(set) var now = ContinuousClock.now
    /// The buffer that every connection reads into first. An idle connection holds no buffer.
    var readBuffer = [UInt8](repeating: 0, count: 64 << 10)
    /// The last value of the field Date, which serves all answers of one second.
    private var date = (second: 0, text: "")

    private let poller: Poller
    private var connections: [Connection?] = []
    private var freeSlots: [UInt32] = []
    private var connectionNumber: UInt32 = 0
    private var timers = TimerQueue<ConnectionKey>()
    /// Connections that let others go first, and can run again at once.
    private var yielded: [ConnectionKey] = []
    /// Turns of connections since some were accepted.
    private var turns = 0
    /// When accepting begins again; nil unless it pauses.
    private var acceptPause: ContinuousClock.Instant?
    /// Whether the connections know that the server stops.
    private var isStopping = false

    /// After so many turns of connections the loop accepts at most as many new ones. If it accepted once a round, new
    /// connections would wait for hundreds of answers to busy ones.
    private static let turnsBetweenAccepts = 32
    /// By how many connections a loop that accepts several at once may exceed the average of all loops.
    private static let lead = turnsBetweenAccepts / 2
    /// How long accepting pauses after the system has run out of descriptors.
    private static let exhaustionPause = Duration.milliseconds(100)
    /// The most connections that are still accepted when the server stops: more than the system keeps for one listener.
    private static let lastAccepted = 4096
    /// Keys of descriptors that are not connections.
    private static let wakeKey = UInt64.max
    private static let listenerKeys = UInt64.max - 1 << 16

    /// Makes the epoll descriptor of a loop. It waits for the loop's messages and for connections.
    static func poller(for mailbox: LoopMailbox, _ listeners: [Listener]) throws(ResourceShortage) -> Poller {
        let poller = try Poller()
        guard watch(poller, mailbox.wake.descriptor, key: wakeKey, EPOLLIN.rawValue),
            watch(poller, listeners)
        else { throw ResourceShortage(missing: .descriptor, code: errno) }
        return poller
    }

    init(_ context: ServerContext, _ mailbox: LoopMailbox, _ poller: Poller, _ beat: Counter) {
        self.beat = beat
        self.context = context
        self.mailbox = mailbox
        self.poller = poller
    }

    /// Serves until the server stops. Runs on a thread of its own.
    func run() {
        context.counters.countLoop()
        var events = unsafe [epoll_event](repeating: epoll_event(), count: 256)
        while true {
            let count = unsafe epoll_wait(poller.descriptor, &events, Int32(events.count), waitTime())
            now = .now
            for index in 0..<max(0, Int(count)) {
                let event = unsafe events[index]
                take(key: unsafe event.data.u64, events: unsafe event.events)
            }
            for (key, response) in mailbox.take() ?? [] {
                turn(key) { $0.answer(response, self) }
            }
            fireTimers()
            goOnWithYielded()
            context.trimMemory(now: now)
            if let stopTime = context.stopTime, endsBy(stopTime) { return }
        }
    }

    /// The present value of the field Date.
    func dateText() -> String {
        let second = time(nil)
        if second != date.second { date = (second, HTTPDate.format(second)) }
        return date.text
    }

    private func take(key: UInt64, events: UInt32) {
        switch key {
        case Self.wakeKey:
            mailbox.wake.reset()
            beat.add()
        case Self.listenerKeys...: acceptSome(from: context.listeners[Int(key - Self.listenerKeys)])
        default: turn(ConnectionKey(packed: key)) { $0.becameReady(events, self) }
        }
    }

    // MARK: Connections

    /// Runs `body` on a connection that still exists, and acts on its outcome.
    private func with(_ key: ConnectionKey, _ body: (Connection) -> Connection.Outcome) {
        guard Int(key.slot) < connections.count, let connection = connections[Int(key.slot)],
            connection.key == key
        else { return }
        switch body(connection) {
        case .waits: if let deadline = connection.deadline { schedule(connection, deadline) }
        case .yields: yielded.append(key)
        case .isOver: end(connection)
        }
    }

    /// Runs `body` on a connection as above, and lets new connections have their turn.
    private func turn(_ key: ConnectionKey, _ body: (Connection) -> Connection.Outcome) {
        with(key, body)
        turns += 1
        guard turns >= Self.turnsBetweenAccepts else { return }
        turns = 0
        for listener in context.listeners where acceptPause == nil { acceptSome(from: listener) }
    }

    private func goOnWithYielded() {
        let keys = yielded
        yielded = []
        for key in keys { turn(key) { $0.advance(self) } }
    }

    private func schedule(_ connection: Connection, _ deadline: ContinuousClock.Instant) {
        // A deadline mostly moves later. A timer that fires too early is set again, so there is no new one for each
        // move.
        if let timer = connection.timer, timer <= deadline { return }
        connection.timer = deadline
        timers.insert(connection.key, at: deadline)
    }

    private func fireTimers() {
        if let pause = acceptPause, pause <= now {
            acceptPause = Self.watch(poller, context.listeners) ? nil : now + Self.exhaustionPause
        }
        while let (time, key) = timers.pop(until: now) {
            with(key) { connection in
                guard connection.timer == time else { return .waits }
                connection.timer = nil
                guard let deadline = connection.deadline, deadline <= now else { return .waits }
                return connection.timedOut(self)
            }
        }
    }

    private func end(_ connection: Connection) {
        connections[Int(connection.key.slot)] = nil
        freeSlots.append(connection.key.slot)
        let wasTurnedAway = connection.isTurnedAway
        connection.close(self)
        // In this order: when the count says that no connection is left, its descriptor is free.
        context.counters.leave(wasTurnedAway: wasTurnedAway)
    }

    /// Whether no connection is left. All of them end by `stopTime`; those that owe no answer end before.
    private func endsBy(_ stopTime: ContinuousClock.Instant) -> Bool {
        if !isStopping {
            isStopping = true
            for connection in connections.compactMap(\.self) { with(connection.key) { $0.stop(self) } }
        }
        acceptLast()
        if now >= stopTime {
            for connection in connections.compactMap(\.self) { end(connection) }
        }
        return connections.count == freeSlots.count
    }

    private func waitTime() -> Int32 {
        if !yielded.isEmpty { return 0 }
        let times = [timers.next, acceptPause, context.stopTime, context.answerMemory.trimTime].compactMap(
            \.self)
        guard let next = times.min() else { return -1 }
        let milliseconds = (next - .now) / .milliseconds(1)
        // Rounded up, so that a wait does not end just before its time.
        return Int32(min(max(0, milliseconds.rounded(.up)), 60_000))
    }

    // MARK: Accepting

    /// Accepts several of the connections that wait. A loop that has more than its share accepts one: the other loops
    /// get the next ones, unless they are busy for long.
    private func acceptSome(from listener: Listener) {
        for _ in 0..<Self.turnsBetweenAccepts {
            guard acceptOne(from: listener),
                connections.count - freeSlots.count <= context.counters.connectionsPerLoop + Self.lead
            else { return }
        }
    }

    /// Accepts one connection. Returns whether there may be more.
    private func acceptOne(from listener: Listener) -> Bool {
        switch listener.accept() {
        case .success((let socket, let peer)):
            add(socket, peer)
            return true
        case .failure(let failure) where failure.isExhaustion:
            acceptPause = now + Self.exhaustionPause
            for listener in context.listeners { listener.waitable.map(unwatch) }
            return false
        // The client went away before it was accepted, or another loop has taken it.
        case .failure(let failure): return !failure.isEmpty
        }
    }

    /// Accepts the connections that wait in the system's queue and may have sent their requests. Then stops listening.
    private func acceptLast() {
        for listener in context.listeners where listener.waitable != nil {
            for _ in 0..<Self.lastAccepted where acceptPause == nil {
                if !acceptOne(from: listener) { break }
            }
            // When the system has no free descriptor, the next connection that ends frees one.
            if acceptPause == nil { listener.stop() }
        }
    }

    private func add(_ socket: Int32, _ peer: Peer) {
        let admission = context.counters.admit(socket, atMost: context.configuration.maximumConnections)
        guard admission != .drop else {
            Glibc.close(socket)
            return
        }
        let slot = freeSlots.popLast() ?? UInt32(connections.count)
        if Int(slot) == connections.count { connections.append(nil) }
        connectionNumber &+= 1
        let key = ConnectionKey(slot: slot, number: connectionNumber & 0x7FFF_FFFF)
        let connection = Connection(socket, key: key, peer: peer, isTurnedAway: admission == .turnAway)
        connections[Int(slot)] = connection
        let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        guard Self.watch(poller, socket, key: key.packed, events) else { return end(connection) }
        with(key) { $0.begin(self) }
        if isStopping { with(key) { $0.stop(self) } }
    }

    /// Whether the system accepts all listeners that have not stopped.
    private static func watch(_ poller: Poller, _ listeners: [Listener]) -> Bool {
        for (index, listener) in listeners.enumerated() {
            guard let descriptor = listener.waitable else { continue }
            // The system wakes one loop for a connection, not all.
            let events = EPOLLIN.rawValue | EPOLLEXCLUSIVE.rawValue
            let isWatched = watch(poller, descriptor, key: listenerKeys + UInt64(index), events)
            guard isWatched || errno == EEXIST else { return false }
        }
        return true
    }

    private static func watch(_ poller: Poller, _ descriptor: Int32, key: UInt64, _ events: UInt32) -> Bool {
        var event = unsafe epoll_event(events: events, data: epoll_data_t(u64: key))
        return unsafe epoll_ctl(poller.descriptor, EPOLL_CTL_ADD, descriptor, &event) == 0
    }

    private func unwatch(_ descriptor: Int32) {
        var event = unsafe epoll_event()
        _ = unsafe epoll_ctl(poller.descriptor, EPOLL_CTL_DEL, descriptor, &event)
    }
}

/// Timers, the earliest first: a binary heap.
struct TimerQueue<Key> {
    private var entries: [(time: ContinuousClock.Instant, key: Key)] = []

    /// The earliest instant.
    var next: ContinuousClock.Instant? { entries.first?.time }

    mutating func insert(_ key: Key, at time: ContinuousClock.Instant) {
        entries.append((time, key))
        var child = entries.count - 1
        while child > 0, entries[child].time < entries[(child - 1) / 2].time {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the earliest entry, if it is due.
    mutating func pop(until now: ContinuousClock.Instant) -> (time: ContinuousClock.Instant, key: Key)? {
        guard let first = entries.first, first.time <= now else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return first
    }

    /// Moves the root down until the heap is in order.
    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child].time < entries[least].time { least = child }
            if least == parent { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
