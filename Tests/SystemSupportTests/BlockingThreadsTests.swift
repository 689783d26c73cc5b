import Foundation
import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("BlockingThreads", .bounded)
struct BlockingThreadsTests {
    private let shortage = ResourceShortage(missing: .thread, code: EAGAIN)

    @Test("without a thread a job is refused, and it runs once there is a thread")
    func none() async throws {
        let system = LimitedThreads(0)
        let threads = BlockingThreads(count: 2, start: system.start)
        for _ in 0..<3 {
            await #expect(throws: shortage) { try await threads.run { 1 } }
            #expect(throws: shortage) { try threads.enqueue { Issue.record("refused work was done") } }
        }
        system.give(1)
        #expect(try await threads.run { 1 } == 1)
    }

    @Test("if one of two threads cannot start, the other runs its jobs")
    func oneFewer() async throws {
        let system = LimitedThreads(1)
        let threads = BlockingThreads(count: 2, start: system.start)
        let (busy, goOn) = (Tally(), Gate())
        try threads.enqueue {
            busy.add()
            goOn.wait()
        }
        try await busy.wait(for: 1)
        let done = Tally()
        for _ in 0..<20 { try threads.enqueue { done.add() } }
        #expect(done.count == 0)
        goOn.open()
        try await done.wait(for: 20)
        #expect(system.started == 1)
    }

    @Test("a thread starts when a job finds none free, up to the limit")
    func lazy() async throws {
        let system = LimitedThreads(100)
        let threads = BlockingThreads(count: 3, start: system.start)
        #expect(system.started == 0)
        let (busy, goOn) = (Tally(), Gate())
        for number in 1...3 {
            try threads.enqueue {
                busy.add()
                goOn.wait()
            }
            try await busy.wait(for: number)
            #expect(system.started == number)
        }
        let done = Tally()
        for _ in 0..<10 { try threads.enqueue { done.add() } }
        #expect(system.started == 3)
        goOn.open()
        try await done.wait(for: 10)
    }

    @Test("a job that is given up lets go of all that it holds at once; the others keep their order")
    func givenUp() async throws {
        final class Held: Sendable {}
        let threads = BlockingThreads(count: 1)
        let (begun, gate, done) = (Tally(), Gate(), Tally())
        let order = Shared<[Int]>([])
        try threads.enqueue {
            begun.add()
            gate.wait()
        }
        try await begun.wait(for: 1)
        weak var last: Held?
        weak var first: BlockingThreads.Job?
        var kept: [BlockingThreads.Job] = []
        for number in 0..<10_000 {
            let held = Held()
            last = held
            let job = BlockingThreads.Job {
                order.change { $0.append(number) }
                withExtendedLifetime(held) {}
                done.add()
            }
            if number == 1 { first = job }
            try threads.enqueue(job)
            if number.isMultiple(of: 1000) { kept.append(job) } else { job.giveUp() }
            #expect(job.isWaiting == number.isMultiple(of: 1000))
        }
        #expect(last == nil)
        #expect(first == nil, "the queue has dropped it")
        gate.open()
        try await done.wait(for: 10)
        #expect(order.value == (0..<10).map { $0 * 1000 })
        for job in kept { #expect(!job.isWaiting) }
    }

    @Test("a job that runs learns that it was given up; its thread's next job and its own tasks do not")
    func givenUpWhileRunning() async throws {
        let threads = BlockingThreads(count: 1)
        let (begun, gate, done) = (Tally(), Gate(), Tally())
        let seen = Shared<[Bool]>([])
        let job = BlockingThreads.Job {
            seen.change { $0.append(BlockingThreads.isGivenUp) }
            begun.add()
            gate.wait()
            seen.change { $0.append(BlockingThreads.isGivenUp) }
            Task {
                // It runs elsewhere.
                seen.change { $0.append(BlockingThreads.isGivenUp) }
                done.add()
            }
        }
        try threads.enqueue(job)
        try await begun.wait(for: 1)
        job.giveUp()
        #expect(!BlockingThreads.isGivenUp)
        gate.open()
        try await done.wait(for: 1)
        #expect(try await !threads.run { BlockingThreads.isGivenUp })
        #expect(seen.value == [false, true, false])
    }

    @Test("a mandatory job runs even without a thread")
    func inAnyCase() async {
        let done = Tally()
        await BlockingThreads.runOnOwnThread { done.add() }
        #expect(done.count == 1)
    }

    /// A race of 2026: `enqueue` made a job visible, unlocked, then signaled. In between the job ran, the awaiting task
    /// continued and released the pool, and the signal went into freed memory. glibc's malloc checks saw it
    /// (Tests/Faults/memory-checks.sh), with many rounds.
    @Test("pools can end with their last job")
    func endWithLastJob() async throws {
        let count = Rounds.count(3_000, many: 100_000)
        let done = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<count / 8 {
                        let pool = BlockingThreads(count: 1 + number % 3)
                        if (task + number).isMultiple(of: 2) {
                            try await pool.run { done.add() }
                        } else {
                            // The last owner lets go while the job may run.
                            try pool.enqueue { done.add() }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await done.wait(for: count / 8 * 8)
    }
}
