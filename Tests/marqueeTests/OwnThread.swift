import LazyImages
import Testing

/// Has each test run on a thread of its own: for tests that block while they wait, which on the cooperative pool would
/// keep others from running, those that they wait for included.
struct OwnThread: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(OneThread()) { try await function() }
    }
}

extension Trait where Self == OwnThread {
    static var ownThread: Self { Self() }
}

private final class OneThread: TaskExecutor {
    private let threads = BlockingThreads(count: 1)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        do {
            try threads.enqueue { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        } catch {
            fatalError("a test has no thread of its own: \(error)")
        }
    }
}
