import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import PictureService

@Suite("The limits on concurrent work", .bounded)
struct WorkGateTests {
    private let log = Log()

    private final class Log: Sendable {
        private let entries = Lock<[String]>([])
        var all: [String] { entries.withLock { $0 } }
        func note(_ text: String) { entries.withLock { $0.append(text) } }
    }

    /// Enters the gate under a name. Returns once the entry waits, or has been admitted.
    private func begin(_ gate: WorkGate, _ name: String, _ bytes: Int) async throws -> Task<Bool, Never> {
        let (waiting, workers) = (gate.usage.waiting, gate.usage.workers)
        let task = Task { [log] in
            let isIn = await gate.acquire(bytes)
            log.note("\(name) \(isIn)")
            return isIn
        }
        try await eventually { gate.usage.waiting > waiting || gate.usage.workers > workers }
        return task
    }

    @Test("the gate has room for the workers and the queue, and no more")
    func places() {
        let gate = WorkGate(workers: 2, queue: 1, memory: 100)
        #expect((0..<3).allSatisfy { _ in gate.enter() })
        #expect(!gate.enter() && gate.usage.sources == 3)
        gate.leave()
        #expect(gate.enter() && !gate.enter())
    }

    @Test("only as many as there are workers run, and the next one is admitted when one leaves")
    func workers() async throws {
        let gate = WorkGate(workers: 2, queue: 9, memory: 1000)
        for name in ["a", "b"] { #expect(try await begin(gate, name, 1).value) }
        let c = try await begin(gate, "c", 1)
        #expect(gate.usage == WorkGate.Usage(sources: 0, waiting: 1, workers: 2, memory: 2))
        gate.release(1)
        #expect(await c.value)
        #expect(gate.usage == WorkGate.Usage(sources: 0, waiting: 0, workers: 2, memory: 2))
        for _ in 0..<2 { gate.release(1) }
        #expect(gate.usage == WorkGate.Usage(sources: 0, waiting: 0, workers: 0, memory: 0))
    }

    @Test("a large job waits for memory, and those behind it wait in order")
    func memory() async throws {
        let gate = WorkGate(workers: 9, queue: 9, memory: 100)
        #expect(try await begin(gate, "a", 60).value)
        let large = try await begin(gate, "large", 100)
        let small = try await begin(gate, "small", 1)
        #expect(gate.usage.waiting == 2)
        gate.release(60)
        #expect(await large.value && gate.usage.memory == 100 && gate.usage.waiting == 1)
        gate.release(100)
        #expect(await small.value && gate.usage.memory == 1)
        #expect(log.all == ["a true", "large true", "small true"])
    }

    @Test("a cancelled job holds nothing, and admits those behind it")
    func cancelled() async throws {
        let gate = WorkGate(workers: 9, queue: 9, memory: 100)
        #expect(try await begin(gate, "a", 60).value)
        let large = try await begin(gate, "large", 100)
        let small = try await begin(gate, "small", 40)
        large.cancel()
        #expect(await large.value == false)
        #expect(await small.value && gate.usage.memory == 100 && gate.usage.waiting == 0)
    }

    @Test("a job that was cancelled before does not wait")
    func cancelledBefore() async {
        let gate = WorkGate(workers: 1, queue: 0, memory: 1)
        let task = Task {
            // Waits for the cancellation.
            try? await Tally().wait(for: 1)
            return await gate.acquire(1)
        }
        task.cancel()
        #expect(await task.value == false)
        #expect(gate.usage.workers == 0 && gate.usage.memory == 0)
    }

    @Test("more memory is granted at once if there is some")
    func extended() async throws {
        let gate = WorkGate(workers: 9, queue: 9, memory: 100)
        #expect(await gate.acquire(60))
        #expect(gate.extend(by: 40) && !gate.extend(by: 1) && gate.usage.memory == 100)
        gate.release(100)
        #expect(gate.usage.memory == 0 && gate.usage.workers == 0)
    }

    @Test("no job is lost among many that arrive, leave and are cancelled")
    func many() async {
        let gate = WorkGate(workers: 3, queue: 9, memory: 100)
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<2000 {
                group.addTask {
                    let bytes = 1 + number * 37 % 100
                    let task = Task {
                        guard await gate.acquire(bytes) else { return false }
                        await Task.yield()
                        gate.release(bytes)
                        return true
                    }
                    if number % 3 == 0 { task.cancel() }
                    return await task.value
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(outcomes >= 1333)
        #expect(gate.usage == WorkGate.Usage(sources: 0, waiting: 0, workers: 0, memory: 0))
    }
}
