import CSystem
import Glibc

/// A few threads of our own for calls that block (files, name service), so that none of them ever holds a thread
/// of Swift's cooperative pool. Jobs start in the order they were given. The threads end when the object goes.
///
/// A thread starts with the first job that no other is free for. Where the system gives none, those that run do its
/// work; where none runs, the job is refused, and the next one tries to start a thread again.
package final class BlockingThreads: Sendable {
    /// Starts a thread of a name that runs a body; tests put a system without threads in its place.
    package typealias Starter =
        @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws(ResourceShortage) -> Void

    private let queue: Queue

    /// - Parameters:
    ///   - count: the most threads there are at once; none is started yet.
    ///   - name: what each of them is called.
    ///   - niceness: how far they give way to other threads for the processor, 0 (the default) to 19.
    ///   - start: starts a thread. Default: the system.
    package init(
        count: Int, name: String = "LazyImages", niceness: Int32 = 0,
        start: @escaping Starter = { name, body throws(ResourceShortage) in
            try BlockingThreads.startThread(name: name, body)
        }
    ) {
        queue = Queue(mostThreads: count, name: name) { name, body throws(ResourceShortage) in
            guard niceness > 0 else { return try start(name, body) }
            try start(name) {
                // On Linux a thread has a niceness of its own.
                _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
                body()
            }
        }
    }

    deinit { queue.close() }

    /// Runs `work` on one of the threads, now or as soon as one is free, and does not wait for it.
    /// - Throws: when there is no thread and none can be started. `work` is not run then.
    package func enqueue(_ work: @escaping @Sendable () -> Void) throws(ResourceShortage) {
        try queue.append(work)
    }

    /// Runs `work` on one of the threads and returns what it returns. Not interrupted by cancellation: work that
    /// has begun ends, so that no caller can leave half a file operation behind.
    /// - Throws: when there is no thread and none can be started. `work` is not run then.
    package func run<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value
    ) async throws(ResourceShortage) -> Value {
        try queue.startThreadIfNeeded()
        return await withTaskExecutorPreference(queue) { work() }
    }

    /// Runs `work` on a thread started for it, or, where there is none, on the caller's: for what must be done before a
    /// program ends.
    package static func runInAnyCase(_ work: @escaping @Sendable () -> Void) async {
        do {
            try await BlockingThreads(count: 1).run(work)
        } catch {
            work()
        }
    }

    /// Starts a detached thread of the operating system that runs `body` and ends with it.
    /// - Parameter name: what `ps -L`, `perf` and debuggers show; Linux takes 15 bytes of it.
    /// - Throws: when the system gives no thread. `body` is not run then.
    package static func startThread(
        name: String = "LazyImages", _ body: @escaping @Sendable () -> Void
    ) throws(ResourceShortage) {
        final class Body {
            let run: @Sendable () -> Void
            init(_ run: @escaping @Sendable () -> Void) { self.run = run }
        }
        // Detached from its beginning: afterwards it may have ended already, while the process does.
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

/// The jobs that wait, and the threads that do them. Proof for `@unchecked`: every access to a variable holds `mutex`.
@safe private final class Queue: TaskExecutor, @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [(@Sendable () -> Void)?] = []
    private var next = 0
    private var isClosed = false
    private var threads = 0
    /// Threads that wait for a job.
    private var idle = 0
    private let mostThreads: Int
    private let name: String
    private let start: BlockingThreads.Starter

    init(mostThreads: Int, name: String, start: @escaping BlockingThreads.Starter) {
        self.mostThreads = max(1, mostThreads)
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

    /// Appends a job, and starts a thread if more jobs wait than threads. The lock is held meanwhile: were it not, two
    /// callers could each count on the thread that the other fails to start.
    func append(_ job: @escaping @Sendable () -> Void) throws(ResourceShortage) {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_mutex_unlock(mutex)
            unsafe pthread_cond_signal(changed)
        }
        try startThread()
        jobs.append(job)
    }

    /// Starts a thread for one more job, unless one is free for it. With the lock held.
    private func startThread() throws(ResourceShortage) {
        guard jobs.count - next >= idle, threads < mostThreads else { return }
        do throws(ResourceShortage) {
            try start(name) { [self] in runUntilClosed() }
            threads += 1
        } catch {
            // Where there are others, they do its work.
            if threads == 0 { throw error }
        }
    }

    /// Makes sure that there is a thread for the job that the caller is about to enqueue.
    func startThreadIfNeeded() throws(ResourceShortage) {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        try startThread()
    }

    /// Takes a task's job. There is a thread already: `startThreadIfNeeded` has seen to that.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        unsafe pthread_mutex_lock(mutex)
        // Losing the error is right: where the system gives no other thread, one that runs does the job.
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

    /// Runs jobs until the queue is closed and empty: what was enqueued is done even then.
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
    /// Makes all that a thread did before its `mark` happen before all that another does after its own. Every continuation
    /// does so. But where one is resumed before its task waits for it, the Swift runtime does not tell the thread sanitizer,
    /// which then reports races that are none.
    package struct ResumeOrder: Sendable {
        private final class Passage: Sendable {
            let lock = Lock(())
        }
        private let passage = Passage()

        package init() {}

        package func mark() { passage.lock.withLock { _ in } }
    }
#else
    /// Does nothing: only the thread sanitizer needs to be told that a continuation orders two threads.
    package struct ResumeOrder: Sendable {
        package init() {}

        package func mark() {}
    }
#endif
