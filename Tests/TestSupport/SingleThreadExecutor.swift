import SystemSupport

/// Runs jobs on a thread of its own. A test that blocks must not hold a thread of the cooperative pool, which
/// the code it waits for may need.
public final class SingleThreadExecutor: TaskExecutor {
    private let threads = BlockingThreads(count: 1, name: "Test")

    /// Starts the thread, which ends when the object is released.
    public init() {}

    /// Runs a job after the earlier ones. The runtime holds the executor unowned, and the job may release its last
    /// owner, so the call retains it.
    public func enqueue(_ job: consuming ExecutorJob) {
        let owner = unsafe Unmanaged.passRetained(self)
        defer { unsafe owner.release() }
        let job = UnownedJob(job)
        do {
            try threads.enqueue { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        } catch {
            fatalError("a test has no thread of its own: \(error)")
        }
    }
}
