import Dispatch
import Glibc
import HTTPSemantics
import LazyImages
import TestSupport
import TestTraits
import Testing

@testable import PictureServer

@Suite("The limits on concurrent work", .bounded)
struct WorkGateTests {
    private let log = Shared<[String]>([])
    private let clock = GateClock()
    private let anna = IPAddress("192.0.2.1")
    private let ben = IPAddress("192.0.2.2")

    private func gate(
        workers: Int = 1, memory: Int = 1000, transfers: Int = 1000, sourceMemory: Int = 1 << 30,
        queue: Int? = nil
    ) -> WorkGate {
        WorkGate(
            WorkGate.Limits(
                workers: workers, memory: memory, transfers: transfers, sourceMemory: sourceMemory,
                queueTime: .seconds(5),
                queue: queue), timing: clock.timing)
    }

    /// A source that has a place and asks for a worker. Returns once it waits, or has one.
    private func start(
        _ gate: WorkGate, _ name: String, _ bytes: Int = 1, client: IPAddress? = nil
    ) async throws -> Task<WorkGate.Ticket?, Never> {
        let ticket = try await gate.enter(client)
        let (waiting, workers) = (gate.usage.waiting, gate.usage.workers)
        let task = Task { [log] in
            do throws(PictureFailure) {
                try await gate.acquire(bytes, for: ticket)
                log.change { $0.append(name) }
                return ticket as WorkGate.Ticket?
            } catch {
                log.change { $0.append("\(name) \(error.rule ?? "cancelled")") }
                gate.leave(ticket)
                return nil
            }
        }
        try await eventually { gate.usage.waiting > waiting || gate.usage.workers > workers }
        return task
    }

    /// Ends the decoding of a source.
    private func end(_ gate: WorkGate, _ task: Task<WorkGate.Ticket?, Never>) async throws {
        let ticket = try #require(await task.value)
        gate.release(ticket)
        gate.leave(ticket)
    }

    @Test("a cap on the number of sources refuses the next one, until one leaves")
    func places() async throws {
        let gate = gate(workers: 2, queue: 1)
        let first = try await gate.enter(anna)
        let second = try #require(gate.enterAtOnce())
        _ = try await gate.enter(anna)
        #expect(gate.usage.sources == 3 && gate.enterAtOnce() == nil)
        let refusal = await #expect(throws: PictureFailure.self) { try await gate.enter(ben) }
        #expect(refusal?.rule == "queue" && refusal?.retryAfter == 1)
        gate.leave(first)
        gate.leave(second)
        #expect(gate.usage.sources == 1)
        _ = try await gate.enter(ben)
    }

    @Test("only as many as there are workers run, and the next one is admitted when one leaves")
    func workers() async throws {
        let gate = gate(workers: 2)
        let a = try await start(gate, "a")
        let b = try await start(gate, "b")
        let c = try await start(gate, "c")
        #expect(gate.usage.sources == 3 && gate.usage.waiting == 1 && gate.usage.workers == 2)
        try await end(gate, a)
        _ = await c.value
        #expect(gate.usage.sources == 2 && gate.usage.waiting == 0 && gate.usage.memory == 2)
        try await end(gate, b)
        try await end(gate, c)
        #expect(gate.usage == (sources: 0, waiting: 0, workers: 0, memory: 0, sourceMemory: 0))
    }

    @Test("a large job waits for memory, and those behind it wait in order")
    func memory() async throws {
        let gate = gate(workers: 9, memory: 100)
        let a = try await start(gate, "a", 60)
        let large = try await start(gate, "large", 100)
        let small = try await start(gate, "small", 1)
        #expect(gate.usage.waiting == 2)
        try await end(gate, a)
        _ = await large.value
        #expect(gate.usage.memory == 100 && gate.usage.waiting == 1)
        try await end(gate, large)
        try await end(gate, small)
        #expect(log.value == ["a", "large", "small"])
    }

    @Test("a cancelled job holds nothing, and admits those behind it")
    func cancelled() async throws {
        let gate = gate(workers: 9, memory: 100)
        let a = try await start(gate, "a", 60)
        let large = try await start(gate, "large", 100)
        let small = try await start(gate, "small", 40)
        large.cancel()
        #expect(await large.value == nil)
        _ = await small.value
        #expect(gate.usage.memory == 100 && gate.usage.waiting == 0 && gate.usage.sources == 2)
        try await end(gate, a)
        try await end(gate, small)
    }

    @Test("a job that was cancelled before does not wait, neither for its turn nor for a worker")
    func cancelledBefore() async throws {
        let gate = gate()
        for hasPlace in [false, true] {
            let task = Task {
                let ticket = hasPlace ? try await gate.enter(nil) : nil
                // Waits for the cancellation.
                try? await Tally().wait(for: 1)
                if let ticket {
                    try await gate.acquire(1, for: ticket)
                } else {
                    _ = try await gate.enter(nil)
                }
            }
            if hasPlace { try await eventually { gate.usage.sources == 1 } }
            task.cancel()
            await #expect(throws: PictureFailure.cancelled) { try await task.value }
        }
        #expect(gate.usage.workers == 0 && gate.usage.memory == 0 && gate.usage.waiting == 0)
    }

    @Test("more memory is granted at once if there is some, and a source may wait for a worker again")
    func extended() async throws {
        let gate = gate(workers: 9, memory: 100)
        let ticket = try await gate.enter(nil)
        try gate.endFetching(ticket, 77)
        #expect(gate.usage.sourceMemory == 77)
        try await gate.acquire(60, for: ticket)
        // Decoding has its own memory.
        #expect(gate.usage.sourceMemory == 0)
        #expect(gate.extend(by: 40, for: ticket) && !gate.extend(by: 1, for: ticket))
        #expect(gate.usage.memory == 100)
        gate.release(ticket)
        #expect(gate.usage.memory == 0 && gate.usage.workers == 0)
        try await gate.acquire(10, for: ticket)
        #expect(gate.usage.memory == 10 && gate.usage.sourceMemory == 0)
        gate.release(ticket)
        gate.leave(ticket)
        #expect(gate.usage == (sources: 0, waiting: 0, workers: 0, memory: 0, sourceMemory: 0))
    }

    @Test("clients take turns: one with many sources does not hold up another with few")
    func turns() async throws {
        let gate = gate()
        let running = try await start(gate, "running")
        var tasks: [Task<WorkGate.Ticket?, Never>] = []
        for number in 1...5 { tasks.append(try await start(gate, "a\(number)", client: anna)) }
        for number in 1...2 { tasks.append(try await start(gate, "b\(number)", client: ben)) }
        tasks.append(try await start(gate, "local", client: nil))
        tasks.append(try await start(gate, "v6", client: IPAddress("2001:db8::1")))
        tasks.append(try await start(gate, "v6 of the same network", client: IPAddress("2001:db8::2")))
        try await end(gate, running)
        // Each of them ends as soon as it has begun.
        for task in tasks {
            Task {
                guard let ticket = await task.value else { return }
                gate.release(ticket)
                gate.leave(ticket)
            }
        }
        try await eventually { gate.usage.sources == 0 }
        #expect(
            log.value == [
                "running", "a1", "b1", "local", "v6", "a2", "b2", "v6 of the same network", "a3", "a4", "a5",
            ])
    }

    @Test("a waiting source takes the turn of a second client that asks for it, if that is earlier")
    func shared() async throws {
        let gate = gate()
        let running = try await start(gate, "running")
        var tasks: [Task<WorkGate.Ticket?, Never>] = []
        var tickets: [WorkGate.Ticket] = []
        for _ in 1...4 { tickets.append(try await gate.enter(anna)) }
        for (number, ticket) in tickets.enumerated() {
            let waiting = gate.usage.waiting
            tasks.append(
                Task { [log] in
                    try? await gate.acquire(1, for: ticket)
                    log.change { $0.append("a\(number + 1)") }
                    return ticket
                })
            try await eventually { gate.usage.waiting > waiting }
        }
        // The first one's turn is not later than any of Ben's.
        for number in [3, 0, 2] { gate.share(tickets[number].source, with: ben) }
        #expect(gate.usage.waiting == 4)
        try await end(gate, running)
        for number in [0, 3, 1, 2] { try await end(gate, tasks[number]) }
        #expect(log.value == ["running", "a1", "a4", "a2", "a3"])
    }

    @Test("sources of a host beyond its limit wait, and those of other hosts do not wait for them")
    func hosts() async throws {
        let gate = WorkGate(
            WorkGate.Limits(
                memory: 1000, transfers: 3, transfersPerHost: 2, sourceMemory: 1 << 30,
                queueTime: .seconds(5)), timing: clock.timing)
        func enter(_ host: String) async throws -> (WorkGate.Ticket, Task<Void, Never>) {
            let ticket = WorkGate.Ticket(host: host)
            let sources = gate.usage.sources
            let task = Task { [log, anna] in
                try? await gate.enter(ticket, anna)
                log.change { $0.append(host) }
            }
            try await eventually { gate.usage.sources > sources }
            return (ticket, task)
        }
        var slow: [(WorkGate.Ticket, Task<Void, Never>)] = []
        for _ in 0..<4 { slow.append(try await enter("slow")) }
        for (_, task) in slow[..<2] { await task.value }
        #expect(gate.usage.waiting == 2 && !gate.enterAtOnce(WorkGate.Ticket(host: "other")))
        let other = try await enter("other")
        await other.1.value
        #expect(gate.usage.waiting == 2)
        // The limit of all transfers holds for other hosts too.
        let last = try await enter("last")
        try await eventually { gate.usage.waiting == 3 }
        gate.leave(slow[0].0)
        await slow[2].1.value
        gate.leave(other.0)
        await last.1.value
        #expect(log.value == ["slow", "slow", "other", "slow", "last"] && gate.usage.waiting == 1)
        gate.leave(slow[1].0)
        await slow[3].1.value
        for ticket in [slow[2].0, slow[3].0, last.0] { gate.leave(ticket) }
        #expect(gate.usage == (sources: 0, waiting: 0, workers: 0, memory: 0, sourceMemory: 0))
    }

    @Test("slow sources that were decoded earlier do not get a burst of others refused")
    func burst() async throws {
        let gate = gate(workers: 2)
        for _ in 1...3 {
            let ticket = try await gate.enter(nil)
            try await gate.acquire(1, for: ticket)
            clock.advance(by: .seconds(60))
            gate.release(ticket)
            gate.leave(ticket)
        }
        for _ in 1...100 { _ = try await gate.enter(anna) }
        #expect(gate.usage.sources == 100)
    }

    @Test("a source that has waited for the queue time is refused then, and makes room for others")
    func late() async throws {
        let gate = gate(memory: 100)
        let running = try await start(gate, "running", 60)
        let early = try await start(gate, "early", 100)
        // The watching task sleeps from the moment when it begins.
        try await eventually { clock.sleepers == 1 }
        clock.advance(by: .seconds(3))
        let later = try await start(gate, "later", 50, client: anna)
        try await eventually { clock.sleepers == 1 }
        clock.advance(by: .seconds(2))
        #expect(await early.value == nil)
        #expect(log.value == ["running", "early queue-time"] && gate.usage.waiting == 1)
        try await eventually { clock.sleepers == 1 }
        clock.advance(by: .seconds(3))
        #expect(await later.value == nil && gate.usage.waiting == 0)
        try await end(gate, running)
        // Nobody watches while nobody waits.
        try await eventually { clock.sleepers == 0 }
    }

    @Test(
        "a source is refused late even if its time runs out while it enters the line",
        arguments: 1...3)
    func lateWhileEntering(reading: Int) async throws {
        // The test's part between two steps of the source that enters.
        let meanwhile = Shared<@Sendable () -> Void>({})
        let (readings, isHeld) = (Shared(0), Shared(false))
        // That of the source.
        let thread = Shared<pthread_t?>(nil)
        let timing = RetryTiming(
            now: { [clock] in
                if thread.value == pthread_self(),
                    readings.change({ readings in
                        readings += 1
                        return readings
                    }) == reading
                {
                    meanwhile.value()
                }
                return clock.timing.now()
            }, sleep: clock.timing.sleep, random: { 0.5 })
        let gate = WorkGate(
            WorkGate.Limits(
                memory: 1000, transfers: 0, sourceMemory: 1 << 30, queueTime: .seconds(5)), timing: timing)
        meanwhile.change { [clock, ben] in
            $0 = {
                isHeld.change { $0 = true }
                let end = DispatchSemaphore(value: 0)
                // Another source waits for the whole time, and is refused, so the clock's task has done its work.
                Task.detached {
                    let waiting = gate.usage.waiting
                    let other = Task { try await gate.enter(ben) }
                    try await eventually { gate.usage.waiting > waiting && clock.sleepers == 1 }
                    clock.advance(by: .seconds(5))
                    _ = await other.result
                    end.signal()
                }
                end.wait()
                isHeld.change { $0 = false }
            }
        }
        let executor = SingleThreadExecutor()
        let entering = Task(executorPreference: executor) { [anna] () async throws in
            thread.change { $0 = pthread_self() }
            return try await gate.enter(anna)
        }
        try await eventually { !isHeld.value && gate.usage.waiting == 1 && clock.sleepers == 1 }
        clock.advance(by: .seconds(5))
        let failure = await #expect(throws: PictureFailure.self) {
            _ = try await entering.value
        }
        #expect(failure?.rule == "queue-time" && failure?.retryAfter == 5 && gate.usage.sources == 0)
    }

    @Test("a source waits for room for its bytes, and is late there too")
    func room() async throws {
        // Room for two estimates of 256 KiB.
        let gate = gate(sourceMemory: 600 << 10)
        let first = try await gate.enter(anna)
        let second = try await gate.enter(anna)
        #expect(gate.usage.sourceMemory == 512 << 10)
        let third = Task { try await gate.enter(anna) }
        try await eventually { gate.usage.waiting == 1 }
        #expect(gate.enterAtOnce() == nil)
        // A small file leaves room for the next source.
        try gate.endFetching(first, 1000)
        let ticket = try await third.value
        #expect(gate.usage.waiting == 0 && gate.usage.sourceMemory == 512 << 10 + 1000)
        let fourth = Task { try await gate.enter(ben) }
        try await eventually { gate.usage.waiting == 1 && clock.sleepers == 1 }
        clock.advance(by: .seconds(5))
        let failure = await #expect(throws: PictureFailure.self) { try await fourth.value }
        #expect(failure?.rule == "queue-time" && gate.usage.sources == 3)
        for ticket in [first, second, ticket] { gate.leave(ticket) }
        #expect(gate.usage.sourceMemory == 0 && gate.usage.sources == 0)
    }

    @Test("waiting sources take bounded memory, and a client without any may still enter")
    func waitingMemory() async throws {
        // Two sources of 32 KiB.
        let gate = gate(transfers: 0, sourceMemory: 64 << 10)
        var waiting = (1...3).map { _ in Task { try await gate.enter(anna) } }
        try await eventually { gate.usage.waiting == 3 }
        let refusal = await #expect(throws: PictureFailure.self) { try await gate.enter(anna) }
        #expect(refusal?.rule == "queue" && refusal?.retryAfter == 1)
        waiting.append(Task { try await gate.enter(ben) })
        try await eventually { gate.usage.waiting == 4 }
        for task in waiting {
            task.cancel()
            _ = await task.result
        }
        #expect(gate.usage.sources == 0)
    }

    @Test("only as many sources are fetched at once as there are transfers, and the next one is in turn")
    func transfers() async throws {
        let gate = gate(transfers: 2)
        let first = [try await gate.enter(anna), try await gate.enter(anna)]
        let third = Task { try await gate.enter(anna) }
        try await eventually { gate.usage.waiting == 1 }
        let other = Task { try await gate.enter(ben) }
        try await eventually { gate.usage.waiting == 2 }
        #expect(gate.enterAtOnce() == nil)
        // A fetched source waits for a worker; its transfer is free. Ben's turn is before Anna's third.
        try gate.endFetching(first[0], 1000)
        let ticket = try await other.value
        #expect(gate.usage.waiting == 1)
        gate.leave(ticket)
        let last = try await third.value
        for ticket in first + [last] { gate.leave(ticket) }
        #expect(gate.usage == (sources: 0, waiting: 0, workers: 0, memory: 0, sourceMemory: 0))
    }

    @Test("one source may be larger than the memory for sources; the next one does not fit beside it")
    func large() async throws {
        let gate = gate(sourceMemory: 1000)
        let first = try await gate.enter(anna)
        try gate.endFetching(first, 5000)
        #expect(gate.usage.sourceMemory == 5000)
        try await gate.acquire(1, for: first)
        // While the first is decoded, there is room for another.
        let second = try await gate.enter(anna)
        try gate.endFetching(second, 500)
        let third = Task { try await gate.enter(anna) }
        try await eventually { gate.usage.waiting == 1 }
        gate.leave(second)
        let ticket = try await third.value
        gate.leave(ticket)
        gate.leave(first)
        #expect(gate.usage == (sources: 0, waiting: 0, workers: 0, memory: 0, sourceMemory: 0))
    }

    @Test("a source that turns out large is refused if the others alone take too much memory")
    func overflow() async throws {
        let gate = gate(sourceMemory: 600 << 10)
        let first = try await gate.enter(anna)
        let second = try await gate.enter(anna)
        try gate.endFetching(first, 700 << 10)
        let failure = #expect(throws: PictureFailure.self) { try gate.endFetching(second, 1) }
        #expect(failure?.rule == "source-memory" && failure?.status == .serviceUnavailable)
    }

    @Test("no job is lost among many that arrive, leave and are cancelled")
    func many() async throws {
        let gate = gate(workers: 3, memory: 100, sourceMemory: 1 << 20)
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<2000 {
                group.addTask {
                    let bytes = 1 + number * 37 % 100
                    let task = Task {
                        let ticket = try await gate.enter(IPAddress.v4(UInt32(number % 7)))
                        defer { gate.leave(ticket) }
                        try gate.endFetching(ticket, number % 5 * 50_000)
                        try await gate.acquire(bytes, for: ticket)
                        await Task.yield()
                        gate.release(ticket)
                    }
                    if number % 3 == 0 { task.cancel() }
                    return (try? await task.value) != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(outcomes > 0)
        #expect(gate.usage == (sources: 0, waiting: 0, workers: 0, memory: 0, sourceMemory: 0))
    }
}

extension WorkGate {
    /// Enters a source of its own.
    func enter(_ client: IPAddress?) async throws(PictureFailure) -> Ticket {
        let ticket = Ticket()
        try await enter(ticket, client)
        return ticket
    }

    /// Takes a place for a source of its own; nil if there is none.
    func enterAtOnce() -> Ticket? {
        let ticket = Ticket()
        return enterAtOnce(ticket) ? ticket : nil
    }
}

extension WorkGate.Ticket {
    private static let number = Tally()

    /// The ticket of a source that is no other's.
    convenience init(host: String = "") {
        Self.number.add()
        self.init(PictureLoader.SourceKey(file: CacheKey(id: "\(Self.number.count)")), host: host)
    }
}
