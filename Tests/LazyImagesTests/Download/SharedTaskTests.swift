import FoundationEssentials
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("SharedTask", .bounded)
struct SharedTaskTests {
    private let work = SharedTask<Int>(url: URL(filePath: "/a"))
    private let cancelled = ImageLoadingError.cancelled(url: "file:///a")

    private func outcome(_ caller: Int) async -> Result<Int, ImageLoadingError> {
        await Result.of { () async throws(ImageLoadingError) in try await work.value(for: caller) }
    }

    @Test("a task has the highest priority of its present callers")
    func priority() throws {
        let first = try #require(work.join(.low))
        #expect(work.priority == .low)
        let second = try #require(work.join(.veryHigh))
        let third = try #require(work.join(.normal))
        #expect(work.priority == .veryHigh)
        work.setPriority(of: second) { .veryLow }
        #expect(work.priority == .normal && work.priority(of: second) == .veryLow)
        work.leave(third)
        #expect(work.priority == .low)
        work.setPriority(of: first) { .high }
        #expect(work.priority == .high)
        work.leave(first)
        #expect(work.priority == .veryLow)
    }

    @Test("the owner is told when the priority changes and when the last caller leaves")
    func owner() throws {
        let told = Lock<[String]>([])
        work.addOwner { change in told.withLock { $0.append("\(change)") } }
        let first = try #require(work.join(.low))
        let second = try #require(work.join(.veryLow))
        work.setPriority(of: second) { .low }
        let third = try #require(work.join(.high))
        #expect(told.withLock { $0 } == ["priority"])
        for caller in [first, second, third] { work.leave(caller) }
        #expect(told.withLock { $0.last } == "abandoned")
    }

    @Test("a linked task gets the priority at once and with every change")
    func passing() throws {
        let other = SharedTask<Int>(url: URL(filePath: "/b"))
        let first = try #require(work.join(.high))
        let caller = try #require(other.join(.low))
        work.passPriority(to: other, caller: caller)
        #expect(other.priority == .high)
        work.setPriority(of: first) { .veryLow }
        #expect(other.priority == .veryLow)
        _ = work.join(.normal)
        #expect(other.priority == .normal)
    }

    @Test("every caller gets the outcome, whenever and as often as it asks")
    func finishing() async throws {
        let (first, second) = (try #require(work.join(.normal)), try #require(work.join(.normal)))
        async let early = outcome(first)
        try await eventually { work.callerCount == 2 }
        work.finish(.success(7))
        work.finish(.success(8))
        #expect(await early == .success(7))
        for caller in [first, second] { #expect(await outcome(caller) == .success(7)) }
        #expect(work.join(.normal) == nil && work.isOver && work.callerCount == 0)
    }

    @Test("a cancelled caller does not affect the others, and the last one cancels the task")
    func leaving() async throws {
        let (first, second) = (try #require(work.join(.normal)), try #require(work.join(.normal)))
        let task = Task<Void, Never> {}
        work.setTask(task)
        work.leave(first)
        work.leave(first)
        #expect(await outcome(first) == .failure(cancelled))
        #expect(!work.isOver && !task.isCancelled)
        work.leave(second)
        #expect(work.isOver && task.isCancelled)
        work.finish(.success(7))
        #expect(await outcome(second) == .failure(cancelled))
        let late = Task<Void, Never> {}
        work.setTask(late)
        #expect(late.isCancelled)
    }

    @Test("a caller that has the outcome cannot leave any more")
    func lateLeaving() async throws {
        let caller = try #require(work.join(.normal))
        work.finish(.success(7))
        work.leave(caller)
        #expect(await outcome(caller) == .success(7))
    }

    @Test(
        "every listener is told; a late one gets the present progress at once, and one that left gets no more"
    )
    func listening() async throws {
        let (leaver, stayer, late) = (ProgressLog(), ProgressLog(), ProgressLog())
        let first = try #require(work.join(.normal, listener: leaver.listener))
        _ = work.join(.normal, listener: stayer.listener)
        work.tell(.progress(TransferProgress(received: 1, expected: 2), nil))
        work.leave(first)
        work.tell(.progress(TransferProgress(received: 2, expected: 2), nil))
        _ = work.join(.normal, listener: late.listener)
        work.finish(.success(7))
        #expect(await leaver.untilFinished().map(\.received) == [1])
        #expect(await stayer.untilFinished().map(\.received) == [1, 2])
        #expect(await late.untilFinished().map(\.received) == [2])
    }

    @Test("a listener gets nothing before the first bytes arrive, and its stream finishes at the end")
    func listeningToNothing() async throws {
        let (early, late) = (ProgressLog(), ProgressLog())
        let caller = try #require(work.join(.normal, listener: early.listener))
        work.finish(.success(7))
        work.listen(late.listener, for: caller)
        #expect(await early.untilFinished().isEmpty)
        #expect(await late.untilFinished().isEmpty)
    }

    @Test("an event that happens while a listener is added is heard after the earlier ones")
    func lateEvent() throws {
        let caller = try #require(work.join(.normal))
        work.tell(.progress(TransferProgress(received: 1, expected: 2), nil))
        let heard = Lock<[Int]>([])
        let listener = TaskListener { [work] event in
            guard case .progress(let progress, _) = event else { return }
            if progress.received == 1 {
                work.tell(.progress(TransferProgress(received: 2, expected: 2), nil))
            }
            heard.withLock { $0.append(progress.received) }
        }
        work.listen(listener, for: caller)
        #expect(heard.withLock { $0 } == [1, 2])
    }

    @Test("a finished task keeps its callers, without their listeners")
    func releasing() async throws {
        final class Heard: Sendable {}
        weak var heard: Heard?
        let caller: Int?
        do {
            let strong = Heard()
            heard = strong
            caller = work.join(.normal, listener: TaskListener { _ in withExtendedLifetime(strong) {} })
        }
        #expect(heard != nil)
        work.finish(.success(7))
        #expect(heard == nil)
        #expect(await outcome(try #require(caller)) == .success(7))
    }

    @Test("bytes are summed over all bodies, without those of partial bodies")
    func traffic() {
        for received in [25, 50] {
            work.tell(.progress(TransferProgress(received: received, expected: 100), nil))
        }
        #expect(work.traffic.arrived == 25)
        work.tell(.started(queued: .zero))
        #expect(work.traffic.progress == nil)
        for received in [0, 10] {
            work.tell(.progress(TransferProgress(received: received, expected: 10), nil))
        }
        #expect(work.traffic.arrived == 35)
    }
}
