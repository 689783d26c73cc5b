import Dispatch
import Foundation
import Glibc
import SystemSupport
package import Testing

/// Bounds how many tests run at once, and ends a run that stands still.
///
/// Without a bound Swift Testing starts every test at once. Two thousand tests on two cores starve each other: a test
/// of a second ends after three minutes. And a test that hangs would hold the run for good.
package struct Bounded: TestTrait, SuiteTrait, TestScoping {
    /// A suite inside another has the trait twice.
    @TaskLocal private static var hasPlace = false

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if Self.hasPlace { return try await function() }
        let name = test.displayName ?? test.name
        let ticket = await TestRun.shared.enter(name)
        let start = ContinuousClock.now
        defer {
            TestRun.shared.leave(ticket)
            if TestRun.shared.printsTimes {
                print("time \(start.duration(to: .now)) \(test.id.moduleName) \(name)")
            }
        }
        try await Self.$hasPlace.withValue(true) { try await function() }
    }
}

extension Trait where Self == Bounded {
    /// Every suite has this trait, as its first.
    package static var bounded: Self { Self() }
}

/// The tests of this process that run and that wait for a place.
private final class TestRun: Sendable {
    static let shared = TestRun()

    private struct State {
        var lastTicket = 0
        /// The names of the running tests, by ticket.
        var running: [Int: String] = [:]
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// The places that were handed to waiting tests which have not yet continued.
        var promised = 0
        /// The seconds since a test ended.
        var quiet = 0
        var isWatched = false
    }

    private let state = Lock(State())
    /// Tests at once. They mostly wait for programs and sockets: more than the cores, few enough that none starves.
    private let places = TestRun.number("MARQUEE_TESTS_AT_ONCE") ?? 8
    /// The run ends when no test has finished for so many seconds. Seconds in which the whole machine stands still are
    /// not counted.
    private let patience = TestRun.number("MARQUEE_TEST_PATIENCE") ?? 120

    /// Whether each test prints how long it ran. Swift Testing's own times include the wait for a place.
    let printsTimes = ProcessInfo.processInfo.environment["MARQUEE_TEST_TIMES"] != nil

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }

    func enter(_ name: String) async -> Int {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                watch(&state)
                guard state.running.count + state.promised < places else {
                    state.waiting.append(continuation)
                    return false
                }
                state.promised += 1
                return true
            }
            if isFree { continuation.resume() }
        }
        return state.withLock { state in
            state.promised -= 1
            state.lastTicket += 1
            state.running[state.lastTicket] = name
            return state.lastTicket
        }
    }

    func leave(_ ticket: Int) {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.running[ticket] = nil
            state.quiet = 0
            guard !state.waiting.isEmpty else { return nil }
            state.promised += 1
            return state.waiting.removeFirst()
        }
        next?.resume()
    }

    /// Checks the machine, and starts the thread that watches the run. The caller holds the lock.
    private func watch(_ state: inout State) {
        guard !state.isWatched else { return }
        state.isWatched = true
        Machine.check()
        do {
            try BlockingThreads.startThread(name: "test-watch") { [self] in
                let never = DispatchSemaphore(value: 0)
                while true {
                    _ = never.wait(timeout: .now() + 1)
                    endIfStill()
                }
            }
        } catch {
            fatalError("the tests have no thread that watches them: \(error)")
        }
    }

    private func endIfStill() {
        let still = state.withLock { state -> [String]? in
            state.quiet += 1
            guard !state.running.isEmpty, state.quiet > patience else { return nil }
            return state.running.values.sorted()
        }
        guard let still else { return }
        write([
            "gdb", "-p", "\(getpid())", "-batch", "-ex", "set pagination off", "-ex",
            "thread apply all backtrace 30",
        ])
        // Behind the stacks: a log that keeps only its end has them.
        write(["ps", "-o", "pid,etimes,stat,wchan:24,args", "--ppid", "\(getpid())"])
        let text =
            "No test has finished for \(patience) s. Above are the stacks and the programs. These tests run:\n"
            + still.map { "    \($0)\n" }.joined()
        FileHandle.standardError.write(Data(text.utf8))
        _exit(EXIT_FAILURE)
    }

    /// Writes what a program prints to standard error.
    private func write(_ command: [String]) {
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        program.arguments = command
        program.standardInput = FileHandle.nullDevice
        program.standardOutput = FileHandle.standardError
        do {
            try program.run()
            program.waitUntilExit()
        } catch {
            FileHandle.standardError.write(Data("\(command[0]) cannot be started: \(error)\n".utf8))
        }
    }
}
