import Coalescing
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("SlotQueue", .bounded)
struct SlotQueueTests {
    private let queue = SlotQueue(
        perHost: 1, total: 1, breaker: HostCircuitBreaker(failures: 1, pause: .seconds(2)), now: { .zero })
    private let begun = Shared<[String]>([])

    /// A task that takes a slot, and leaves it at once.
    private func waiter(
        _ name: String, _ report: HostReport = .answered, priority: @escaping @Sendable () -> Int = { 2 }
    ) async throws -> Task<SlotQueue.Refusal?, Never> {
        let number = queue.makeNumber()
        let asked = Tally()
        let task = Task { () -> SlotQueue.Refusal? in
            do throws(SlotQueue.Refusal) {
                let slot = try await queue.enter(number, host: "h") {
                    asked.add()
                    return priority()
                }
                begun.change { $0.append(name) }
                slot.leave(report)
                return nil
            } catch {
                return error
            }
        }
        // Its priority is read under the lock, before it waits.
        try await asked.wait(for: 1)
        return task
    }

    @Test("work begins in order, and a raised priority is read anew while it waits")
    func order() async throws {
        let first = try await queue.enter(queue.makeNumber(), host: "h") { 2 }
        let raised = Shared(1)
        let number = Lock(0)
        let x = try await waiter("x")
        number.withLock { $0 = queue.makeNumber() + 1 }
        let y = try await waiter("y") { raised.value }
        raised.change { $0 = 4 }
        queue.reorder(number.withLock { $0 })
        first.leave(.answered)
        for task in [x, y] { #expect(await task.value == nil) }
        #expect(begun.value == ["y", "x"])
    }

    @Test("a cancelled waiter leaves at once, and the next gets the slot, in either order")
    func cancellation() async throws {
        for cancelsFirst in [true, false] {
            let held = try await queue.enter(queue.makeNumber(), host: "h") { 2 }
            let y = try await waiter("y")
            let z = try await waiter("z")
            if cancelsFirst {
                y.cancel()
                #expect(await y.value == .cancelled)
                held.leave(.answered)
            } else {
                held.leave(.answered)
                y.cancel()
                _ = await y.value
            }
            #expect(await z.value == nil)
        }
    }

    @Test("a task that is cancelled before it enters never waits")
    func cancelledBefore() async throws {
        let held = try await queue.enter(queue.makeNumber(), host: "h") { 2 }
        let gate = Tally()
        let task = Task { () -> SlotQueue.Refusal? in
            try? await gate.wait(for: 1)
            do throws(SlotQueue.Refusal) {
                let slot = try await queue.enter(queue.makeNumber(), host: "h") { 4 }
                slot.leave(.answered)
                return nil
            } catch { return error }
        }
        task.cancel()
        #expect(await task.value == .cancelled)
        held.leave(.answered)
    }

    @Test("a failed host refuses those that wait, with the time of the pause")
    func refusal() async throws {
        let held = try await queue.enter(queue.makeNumber(), host: "h") { 2 }
        let next = try await waiter("next")
        held.leave(.failed)
        #expect(await next.value == .hostFails(pause: .seconds(2)))
    }

    @Test("a revoked slot is free at once, and leaving it later frees no other")
    func revocation() async throws {
        let number = queue.makeNumber()
        let stuck = try await queue.enter(number, host: "h") { 2 }
        queue.revoke(number)
        let second = try await queue.enter(queue.makeNumber(), host: "h") { 2 }
        stuck.leave(.answered)
        let third = try await waiter("third")
        #expect(begun.value.isEmpty)
        second.leave(.answered)
        #expect(await third.value == nil)
    }
}
