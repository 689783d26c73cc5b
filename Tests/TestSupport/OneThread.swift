import LazyImages
import SystemSupport

/// Runs jobs on a thread of its own: for tests that block while they wait, which on the cooperative pool would keep
/// others from running, those that they wait for included.
public final class OneThread: TaskExecutor {
    private let threads = BlockingThreads(count: 1, name: "Test")

    /// Starts the thread, which ends when the object goes.
    public init() {}

    /// Runs a job after those that came before.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        do {
            try threads.enqueue { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        } catch {
            fatalError("a test has no thread of its own: \(error)")
        }
    }
}
