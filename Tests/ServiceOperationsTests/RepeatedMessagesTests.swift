import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import ServiceOperations

@Suite("RepeatedMessages", .bounded)
struct RepeatedMessagesTests {
    /// A second passes when the test says so.
    private final class Clock: Sendable {
        let printed = Shared<[String]>([])
        let seconds = Shared(1_795_362_574)
        /// The seconds that the messages wait for.
        let waits = Tally()
        private let passed: AsyncStream<Void>
        private let passing: AsyncStream<Void>.Continuation

        init() { (passed, passing) = AsyncStream.makeStream(of: Void.self) }

        func messages() -> RepeatedMessages {
            RepeatedMessages(
                time: { [seconds] in seconds.value * 1000 },
                pause: { [waits, passed] in
                    waits.add()
                    for await _ in passed { return }
                },
                print: { [printed] line in printed.change { $0.append(line) } })
        }

        /// Lets the second pass that is waited for, and returns when its counts are printed.
        func pass(_ number: Int, isLast: Bool = false) async throws {
            try await waits.wait(for: number)
            seconds.change { $0 += 1 }
            passing.yield()
            if !isLast { try await waits.wait(for: number + 1) }
        }
    }

    @Test("a message is printed at once, and its repetitions once a second as a count")
    func repetitions() async throws {
        let clock = Clock()
        let messages = clock.messages()
        for _ in 0..<2746 { messages.report("Too many open files") }
        messages.report("the disk is full")
        #expect(clock.printed.value == ["Too many open files", "the disk is full"])
        try await clock.pass(1)
        #expect(clock.printed.value.count == 3)
        #expect(clock.printed.value[2] == "Too many open files (2745 times since 2026-11-22T15:49:34.000Z)")
        messages.report("Too many open files")
        // It was silent for a second, so it is printed at once.
        messages.report("the disk is full")
        #expect(clock.printed.value.dropFirst(3) == ["the disk is full"])
        try await clock.pass(2)
        #expect(
            clock.printed.value.dropFirst(4) == ["Too many open files (once since 2026-11-22T15:49:35.000Z)"])
    }

    @Test("messages that differ in a detail are one, and its line has the detail of the last")
    func details() {
        let clock = Clock()
        let messages = clock.messages()
        for client in 1...200 { messages.report("tokens are refused", ", the last from 10.0.0.\(client)") }
        messages.flush()
        #expect(
            clock.printed.value == [
                "tokens are refused, the last from 10.0.0.1",
                "tokens are refused, the last from 10.0.0.200 (199 times since 2026-11-22T15:49:34.000Z)",
            ])
    }

    @Test("a second without messages ends the waiting")
    func silence() async throws {
        let clock = Clock()
        var messages: RepeatedMessages? = clock.messages()
        weak let waiting = messages
        messages?.report("Too many open files")
        messages = nil
        try await clock.pass(1, isLast: true)
        try await eventually { waiting == nil }
        #expect(clock.printed.value == ["Too many open files"])
    }

    @Test("the end of the program prints the counts that no line has reported")
    func flush() {
        let clock = Clock()
        let messages = clock.messages()
        for _ in 0..<3 { messages.report("a") }
        messages.flush()
        messages.flush()
        #expect(clock.printed.value == ["a", "a (2 times since 2026-11-22T15:49:34.000Z)"])
    }

    @Test("a flood of different messages is printed as one count after the first hundred, from any thread")
    func different() async throws {
        let clock = Clock()
        let messages = clock.messages()
        let ended = Tally()
        for thread in 0..<4 {
            try BlockingThreads.startThread {
                for number in 0..<250 { messages.report("\(thread) \(number)") }
                ended.add()
            }
        }
        try await ended.wait(for: 4)
        #expect(clock.printed.value.count <= 101)
        messages.flush()
        let last = try #require(clock.printed.value.last)
        let count = clock.printed.value.count - 1
        #expect(
            last == "further errors of other kinds (\(1000 - count) times since 2026-11-22T15:49:34.000Z)")
    }
}
