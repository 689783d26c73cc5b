import TestTraits
import Testing

@testable import LazyImages

@Suite("DownloadQueue", .bounded)
struct DownloadQueueTests {
    @Test("the highest priority goes first, and arrival order holds within a priority")
    func order() {
        var queue = DownloadQueue(perHost: 10, total: 10)
        queue.append(1, host: "a", priority: .low)
        queue.append(2, host: "b", priority: .high)
        queue.append(3, host: "a", priority: .high)
        queue.append(4, host: "a", priority: .veryHigh)
        queue.append(5, host: "b", priority: .low)
        #expect(drain(&queue) == [4, 2, 3, 1, 5])
        #expect(queue.waitingCount == 0)
    }

    @Test("a host at its limit lets other hosts pass, and a freed slot is used")
    func hostLimit() {
        var queue = DownloadQueue(perHost: 2, total: 10)
        for number in 1...4 { queue.append(number, host: "a", priority: .high) }
        queue.append(5, host: "b", priority: .veryLow)
        #expect(drain(&queue) == [1, 2, 5])
        queue.release(host: "b")
        #expect(next(&queue) == nil)
        queue.release(host: "a")
        #expect(drain(&queue) == [3])
    }

    @Test("the total limit holds over all hosts")
    func totalLimit() {
        var queue = DownloadQueue(perHost: 2, total: 3)
        for number in 1...8 { queue.append(number, host: "host \(number % 4)", priority: .normal) }
        #expect(drain(&queue) == [1, 2, 3])
        queue.release(host: "host 1")
        #expect(drain(&queue) == [4])
    }

    @Test("a change of priority moves a waiting task, and arrival order holds within the new priority")
    func changedPriority() {
        var queue = DownloadQueue(perHost: 10, total: 10)
        for number in 1...3 { queue.append(number, host: "a", priority: .normal) }
        queue.append(4, host: "a", priority: .high)
        queue.append(5, host: "b", priority: .high)
        queue.setPriority(.high, of: 3)
        queue.setPriority(.high, of: 99)
        queue.setPriority(.low, of: 1)
        #expect(drain(&queue) == [3, 4, 5, 2, 1])
    }

    @Test("a priority that is raised and lowered again changes nothing")
    func priorityThereAndBack() {
        var queue = DownloadQueue(perHost: 10, total: 10)
        for number in 1...3 { queue.append(number, host: "a", priority: .normal) }
        queue.append(4, host: "b", priority: .normal)
        for _ in 0..<3 {
            queue.setPriority(.high, of: 2)
            queue.setPriority(.normal, of: 2)
        }
        #expect(drain(&queue) == [1, 2, 3, 4])
        #expect(queue.waitingCount == 0)
    }

    @Test("a removed task never starts, and is removed once")
    func removal() {
        var queue = DownloadQueue(perHost: 10, total: 10)
        for number in 1...3 { queue.append(number, host: "a", priority: .normal) }
        #expect(remove(2, from: &queue))
        #expect(!remove(2, from: &queue))
        #expect(queue.waitingCount == 2)
        #expect(drain(&queue) == [1, 3])
        #expect(!remove(1, from: &queue))
    }

    @Test("a task that is queued again after a redirect goes before those that came after it")
    func secondHop() {
        var queue = DownloadQueue(perHost: 1, total: 10)
        for number in 1...4 { queue.append(number, host: "a", priority: .normal) }
        queue.append(5, host: "b", priority: .normal)
        #expect(drain(&queue) == [1, 5])
        queue.append(1, host: "b", priority: .normal)
        queue.append(6, host: "b", priority: .normal)
        queue.release(host: "a")
        queue.release(host: "b")
        #expect(drain(&queue) == [1, 2])
        queue.append(2, host: "a", priority: .normal)
        queue.release(host: "a")
        #expect(drain(&queue) == [2])
    }

    @Test("removed tasks that are still in the queue do not count against their host")
    func staleNumbers() {
        var queue = DownloadQueue(perHost: 1, total: 100)
        for number in 1...200 { queue.append(number, host: "a", priority: .normal) }
        for number in 1...199 { #expect(remove(number, from: &queue)) }
        #expect(drain(&queue) == [200])
        queue.append(201, host: "a", priority: .normal)
        #expect(next(&queue) == nil)
        queue.release(host: "a")
        #expect(next(&queue) == 201)
    }

    @Test("limits below one count as one, so that no task waits for ever")
    func smallestLimits() {
        var queue = DownloadQueue(perHost: 0, total: -1)
        queue.append(1, host: "a", priority: .normal)
        #expect(next(&queue) == 1)
    }

    @Test("thousands of hosts are served in order of arrival")
    func manyHosts() {
        var queue = DownloadQueue(perHost: 6, total: 32)
        let count = 2000
        for number in 1...count { queue.append(number, host: "host \(number)", priority: .normal) }
        var running: [Int] = []
        for number in 1...64 {
            if running.count == 32 { queue.release(host: "host \(running.removeFirst())") }
            guard let next = queue.next() else { break }
            #expect(next == number)
            running.append(next)
        }
        #expect(queue.waitingCount == count - 64)
    }

    private func next(_ queue: inout DownloadQueue) -> Int? { queue.next() }

    private func remove(_ number: Int, from queue: inout DownloadQueue) -> Bool { queue.remove(number) }

    private func drain(_ queue: inout DownloadQueue) -> [Int] {
        var started: [Int] = []
        while let number = queue.next() { started.append(number) }
        return started
    }
}
