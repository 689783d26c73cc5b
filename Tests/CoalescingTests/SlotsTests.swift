import Coalescing
import TestTraits
import Testing

@Suite("Slots", .bounded)
struct SlotsTests {
    @Test("the highest priority goes first, and arrival order holds within a priority")
    func order() {
        var slots = slots(perHost: 10, total: 10)
        slots.enter(1, host: "a", priority: 1)
        slots.enter(2, host: "b", priority: 3)
        slots.enter(3, host: "a", priority: 3)
        slots.enter(4, host: "a", priority: 4)
        slots.enter(5, host: "b", priority: 1)
        #expect(drain(&slots) == [4, 2, 3, 1, 5])
        #expect(slots.waitingCount == 0)
    }

    @Test("a host at its limit lets other hosts pass, and a freed slot is used")
    func hostLimit() {
        var slots = slots(perHost: 2, total: 10)
        for number in 1...4 { slots.enter(number, host: "a", priority: 3) }
        slots.enter(5, host: "b", priority: 0)
        #expect(drain(&slots) == [1, 2, 5])
        slots.leave(5, .answered, now: .zero)
        #expect(next(&slots) == nil)
        slots.leave(1, .answered, now: .zero)
        #expect(drain(&slots) == [3])
    }

    @Test("the total limit holds over all hosts")
    func totalLimit() {
        var slots = slots(perHost: 2, total: 3)
        for number in 1...8 { slots.enter(number, host: "host \(number % 4)", priority: 2) }
        #expect(drain(&slots) == [1, 2, 3])
        slots.leave(1, .answered, now: .zero)
        #expect(drain(&slots) == [4])
    }

    @Test("a change of priority moves a waiting task, and arrival order holds within the new priority")
    func changedPriority() {
        var slots = slots(perHost: 10, total: 10)
        for number in 1...3 { slots.enter(number, host: "a", priority: 2) }
        slots.enter(4, host: "a", priority: 3)
        slots.enter(5, host: "b", priority: 3)
        slots.reorder(3, 3)
        slots.reorder(99, 3)
        slots.reorder(1, 1)
        #expect(drain(&slots) == [3, 4, 5, 2, 1])
    }

    @Test("a priority that is raised and lowered again changes nothing")
    func priorityThereAndBack() {
        var slots = slots(perHost: 10, total: 10)
        for number in 1...3 { slots.enter(number, host: "a", priority: 2) }
        slots.enter(4, host: "b", priority: 2)
        for _ in 0..<3 {
            slots.reorder(2, 3)
            slots.reorder(2, 2)
        }
        #expect(drain(&slots) == [1, 2, 3, 4])
        #expect(slots.waitingCount == 0)
    }

    @Test("a removed task never starts, and is removed once")
    func removal() {
        var slots = slots(perHost: 10, total: 10)
        for number in 1...3 { slots.enter(number, host: "a", priority: 2) }
        #expect(cancel(2, in: &slots))
        #expect(!cancel(2, in: &slots))
        #expect(slots.waitingCount == 2)
        #expect(drain(&slots) == [1, 3])
        #expect(!cancel(1, in: &slots))
    }

    @Test("a task that is queued again after a redirect goes before those that came after it")
    func secondHop() {
        var slots = slots(perHost: 1, total: 10)
        for number in 1...4 { slots.enter(number, host: "a", priority: 2) }
        slots.enter(5, host: "b", priority: 2)
        #expect(drain(&slots) == [1, 5])
        slots.enter(1, host: "b", priority: 2)
        slots.enter(6, host: "b", priority: 2)
        slots.leave(1, .answered, now: .zero)
        slots.leave(5, .answered, now: .zero)
        #expect(drain(&slots) == [1, 2])
        slots.enter(2, host: "a", priority: 2)
        slots.leave(2, .answered, now: .zero)
        #expect(drain(&slots) == [2])
    }

    @Test("removed tasks that are still in the queue do not count against their host")
    func staleNumbers() {
        var slots = slots(perHost: 1, total: 100)
        for number in 1...200 { slots.enter(number, host: "a", priority: 2) }
        for number in 1...199 { #expect(cancel(number, in: &slots)) }
        #expect(drain(&slots) == [200])
        slots.enter(201, host: "a", priority: 2)
        #expect(next(&slots) == nil)
        slots.leave(200, .answered, now: .zero)
        #expect(next(&slots) == 201)
    }

    @Test("limits below one count as one, so that no task waits for ever")
    func smallestLimits() {
        var slots = slots(perHost: 0, total: -1)
        slots.enter(1, host: "a", priority: 2)
        #expect(next(&slots) == 1)
    }

    @Test("thousands of hosts are served in order of arrival")
    func manyHosts() {
        var slots = slots(perHost: 6, total: 32)
        let count = 2000
        for number in 1...count { slots.enter(number, host: "host \(number)", priority: 2) }
        var running: [Int] = []
        for number in 1...64 {
            if running.count == 32 { slots.leave(running.removeFirst(), .answered, now: .zero) }
            guard let next = next(&slots) else { break }
            #expect(next == number)
            running.append(next)
        }
        #expect(slots.waitingCount == count - 64)
    }

    @Test("a slot that was given back twice frees no other")
    func leavingTwice() {
        var slots = slots(perHost: 1, total: 10)
        for number in 1...3 { slots.enter(number, host: "a", priority: 2) }
        #expect(drain(&slots) == [1])
        slots.leave(1, .answered, now: .zero)
        #expect(drain(&slots) == [2])
        slots.leave(1, .answered, now: .zero)
        #expect(drain(&slots) == [])
    }

    private func slots(perHost: Int, total: Int) -> Slots {
        Slots(perHost: perHost, total: total, breaker: HostCircuitBreaker(failures: .max, pause: .zero))
    }

    private func next(_ slots: inout Slots) -> Int? { slots.next(now: .zero)?.number }

    private func cancel(_ number: Int, in slots: inout Slots) -> Bool { slots.cancel(number) }

    private func drain(_ slots: inout Slots) -> [Int] {
        var started: [Int] = []
        while let number = next(&slots) { started.append(number) }
        return started
    }
}
