import CSystem
import Glibc

/// A small pool of threads for blocking calls (files, name service), so that these never hold a thread of Swift's
/// cooperative pool. Jobs start in order of arrival. The threads end when the object is deallocated.
///
/// A job starts a thread if no other is idle. If the system refuses a thread, the running ones do the work; if none
/// runs, the job is refused and the next one tries again.
package final class BlockingThreads: Sendable {
    /// Starts a thread with a name and a body. Tests pass one that fails.
    package typealias Starter =
        @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws(ResourceShortage) -> Void

    private let queue: Queue

    /// - Parameters:
    ///   - count: the maximum number of threads. They start on demand.
    ///   - name: the name of each thread.
    ///   - niceness: the threads' nice value, 0 (the default) to 19.
    ///   - start: starts a thread. Default: the system.
    package init(
        count: Int, name: String = "LazyImages", niceness: Int32 = 0,
        start: @escaping Starter = { name, body throws(ResourceShortage) in
            try BlockingThreads.startThread(name: name, body)
        }
    ) {
        queue = Queue(threadLimit: count, name: name) { name, body throws(ResourceShortage) in
            guard niceness > 0 else { return try start(name, body) }
            try start(name) {
                // On Linux each thread has its own nice value.
                _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
                body()
            }
        }
    }

    deinit { queue.close() }

    /// Queues `work` for one of the threads and returns at once.
    /// - Throws: when there is no thread and none can be started. `work` does not run then.
    package func enqueue(_ work: @escaping @Sendable () -> Void) throws(ResourceShortage) {
        try queue.append(work)
    }

    /// Runs `work` on one of the threads and returns its result. Cancellation does not interrupt running work, so that
    /// no file operation stops halfway.
    /// - Throws: when there is no thread and none can be started. `work` does not run then.
    package func run<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value
    ) async throws(ResourceShortage) -> Value {
        try queue.startThreadIfNeeded()
        return await withTaskExecutorPreference(queue) { work() }
    }

    /// Runs `work` on a new thread or, if the system gives none, on the calling thread. For work that must be done
    /// before the process ends.
    package static func runOnOwnThread(_ work: @escaping @Sendable () -> Void) async {
        do {
            try await BlockingThreads(count: 1).run(work)
        } catch {
            work()
        }
    }

    /// Starts a detached thread of the operating system that runs `body` and ends with it.
    /// - Parameter name: shown by `ps -L`, `perf` and debuggers; Linux keeps its first 15 bytes.
    /// - Throws: when the system gives no thread. `body` does not run then.
    package static func startThread(
        name: String = "LazyImages", _ body: @escaping @Sendable () -> Void
    ) throws(ResourceShortage) {
        final class Body {
            let run: @Sendable () -> Void
            init(_ run: @escaping @Sendable () -> Void) { self.run = run }
        }
        // Created detached: pthread_detach could come after the thread's end.
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { unsafe pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let named = { @Sendable in
            unsafe name.withCString { unsafe csystem_name_thread($0) }
            body()
        }
        let context = unsafe Unmanaged.passRetained(Body(named))
        let failure = unsafe pthread_create(
            &thread, &attributes,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard failure == 0 else {
            unsafe context.release()
            throw ResourceShortage(missing: .thread, code: failure)
        }
    }
}

/// The waiting jobs and their threads. Proof for `@unchecked`: every access to a variable holds `mutex`.
@safe private final class Queue: TaskExecutor, @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [(@Sendable () -> Void)?] = []
    private var next = 0
    private var isClosed = false
    private var threads = 0
    /// Threads that wait for a job.
    private var idle = 0
    private let threadLimit: Int
    private let name: String
    private let start: BlockingThreads.Starter

    init(threadLimit: Int, name: String, start: @escaping BlockingThreads.Starter) {
        self.threadLimit = max(1, threadLimit)
        self.name = name
        self.start = start
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(changed, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    /// Appends a job, and starts a thread if no thread is idle. It holds the lock meanwhile: otherwise two callers
    /// could each rely on the thread that the other fails to start.
    func append(_ job: @escaping @Sendable () -> Void) throws(ResourceShortage) {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_mutex_unlock(mutex)
            unsafe pthread_cond_signal(changed)
        }
        try startThread()
        jobs.append(job)
    }

    /// Starts a thread for one more job, unless one is idle. The caller holds the lock.
    private func startThread() throws(ResourceShortage) {
        guard jobs.count - next >= idle, threads < threadLimit else { return }
        do throws(ResourceShortage) {
            try start(name) { [self] in runUntilClosed() }
            threads += 1
        } catch {
            // The other threads do its work.
            if threads == 0 { throw error }
        }
    }

    /// Makes sure that there is a thread for the job that the caller enqueues next.
    func startThreadIfNeeded() throws(ResourceShortage) {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        try startThread()
    }

    /// Takes a task's job. A thread exists: `startThreadIfNeeded` ran before.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        unsafe pthread_mutex_lock(mutex)
        // Losing the error is right: if the system gives no thread, a running one does the job.
        try? startThread()
        jobs.append { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        unsafe pthread_mutex_unlock(mutex)
        unsafe pthread_cond_signal(changed)
    }

    func close() {
        unsafe pthread_mutex_lock(mutex)
        isClosed = true
        unsafe pthread_mutex_unlock(mutex)
        unsafe pthread_cond_broadcast(changed)
    }

    /// Runs jobs until the queue is closed and empty.
    private func runUntilClosed() {
        while let job = take() { job() }
    }

    private func take() -> (@Sendable () -> Void)? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while next == jobs.count {
            if isClosed { return nil }
            idle += 1
            unsafe pthread_cond_wait(changed, mutex)
            idle -= 1
        }
        let job = jobs[next].take()
        next += 1
        if next == jobs.count || next > 1024 {
            jobs.removeFirst(next)
            next = 0
        }
        return job
    }
}

#if THREAD_SANITIZER
    /// Orders two threads: everything before one thread's `mark` happens before everything after the other's. Every
    /// continuation orders its threads so. But when one is resumed before its task waits for it, the Swift runtime does
    /// not tell the thread sanitizer, which then reports false races.
    package struct ResumeOrder: Sendable {
        private final class Passage: Sendable {
            let lock = Lock(())
        }
        private let passage = Passage()

        package init() {}

        package func mark() { passage.lock.withLock { _ in } }
    }
#else
    /// Does nothing: only the thread sanitizer must be told that a continuation orders two threads.
    package struct ResumeOrder: Sendable {
        package init() {}

        package func mark() {}
    }
#endif
