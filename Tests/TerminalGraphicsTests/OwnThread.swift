import TestSupport
import Testing

/// Has each test run on a thread of its own: for tests that block while they wait.
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
