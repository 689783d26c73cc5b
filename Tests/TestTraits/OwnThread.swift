internal import TestSupport
package import Testing

/// Runs each test on a thread of its own, for tests that block.
package struct OwnThread: TestTrait, SuiteTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(SingleThreadExecutor()) { try await function() }
    }
}

extension Trait where Self == OwnThread {
    package static var ownThread: Self { Self() }
}
