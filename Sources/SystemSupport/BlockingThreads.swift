import CMarqueeSystem
import Dispatch
import Synchronization

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
        start: @escaping Starter = BlockingThreads.startThread(name:_:)
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

    /// Work for one thread. Until it has begun it can be given up, and then holds nothing.
    package final class Job: Sendable {
        /// Nil once it has begun or was given up.
        private let work: Lock<(@Sendable () -> Void)?>
        fileprivate let isGivenUp = Atomic(false)

        /// The job that this thread runs. Not a task-local value: a task that the work begins would inherit that.
        private static let ofThread: pthread_key_t = {
            var key = pthread_key_t()
            unsafe pthread_key_create(&key, nil)
            return key
        }()

        fileprivate static var current: Job? {
            unsafe pthread_getspecific(ofThread).map {
                unsafe Unmanaged<Job>.fromOpaque($0).takeUnretainedValue()
            }
        }

        package init(_ work: @escaping @Sendable () -> Void) { self.work = Lock(work) }

        /// Whether it waits for a thread.
        package var isWaiting: Bool { work.withLock { $0 != nil } }

        /// Says that nobody needs the work: it does not begin, and if it runs, `BlockingThreads.isGivenUp` is true there.
        package func giveUp() {
            isGivenUp.store(true, ordering: .releasing)
            _ = work.withLock { $0.take() }
        }

        fileprivate func run() {
            guard let work = work.withLock({ $0.take() }) else { return }
            unsafe pthread_setspecific(Self.ofThread, Unmanaged.passUnretained(self).toOpaque())
            work()
            pthread_setspecific(Self.ofThread, nil)
        }
    }

    /// Whether the job that the calling thread runs was given up, or its task cancelled. Long work asks from time to time.
    package static var isGivenUp: Bool {
        Task.isCancelled || Job.current?.isGivenUp.load(ordering: .acquiring) ?? false
    }

    /// Queues `work` for one of the threads and returns at once.
    /// - Throws: when there is no thread and none can be started. `work` does not run then.
    package func enqueue(_ work: @escaping @Sendable () -> Void) throws(ResourceShortage) {
        try enqueue(Job(work))
    }

    /// As above.
    package func enqueue(_ job: Job) throws(ResourceShortage) { try queue.append(job) }

    /// Runs `work` on one of the threads and returns its result. Cancellation does not interrupt running work, so that
    /// no file operation stops halfway.
    /// - Throws: when there is no thread and none can be started. `work` does not run then.
    package func run<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value
    ) async throws(ResourceShortage) -> Value {
        try queue.startThreadIfNeeded()
        return await withTaskExecutorPreference(queue) { work() }
    }

    /// Runs work that may throw.
    /// - Parameter shortage: makes the error if there is no thread and none can be started.
    package func run<Value: Sendable, Failure: Error>(
        _ shortage: (ResourceShortage) -> Failure, _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let outcome: Result<Value, Failure>
        do {
            outcome = try await run { Result { () throws(Failure) in try work() } }
        } catch {
            throw shortage(error)
        }
        return try outcome.get()
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

/// The waiting jobs and their threads.
///
/// The runtime holds a task executor unowned, and a job may be the last owner of its pool:
///
/// 1. `enqueue` makes a job visible.
/// 2. A thread runs the job. The awaiting task continues, releases the pool, and the pool closes the queue.
/// 3. The threads end and release the queue.
/// 4. `enqueue` still has to unlock and to wake a thread.
///
/// So `enqueue` retains the queue for the whole call. After the unlock every method touches only what it owns itself.
///
/// Each thread waits at a semaphore of its own, and who takes it from `idle` signals it exactly once. A condition
/// variable of glibc can lose a signal while several threads wait (glibc bug 25847), and a job would stay in the queue.
private final class Queue: TaskExecutor {
    private struct State {
        var jobs: [BlockingThreads.Job] = []
        var next = 0
        /// At so many jobs those that have left are dropped.
        var crowd = State.leastCrowd
        var isClosed = false
        var threads = 0
        /// The semaphores of the threads that wait for a job. The last one waited most recently.
        var idle: [DispatchSemaphore] = []

        static let leastCrowd = 1024

        /// Jobs that have begun or were given up hold nothing, and are dropped when there are as many as others.
        mutating func append(_ job: BlockingThreads.Job) {
            if jobs.count >= crowd {
                jobs = jobs[next...].filter(\.isWaiting)
                next = 0
                crowd = max(Self.leastCrowd, jobs.count * 2)
            }
            jobs.append(job)
        }

        mutating func takeJob() -> BlockingThreads.Job? {
            guard next < jobs.count else { return nil }
            let job = jobs[next]
            next += 1
            if next == jobs.count {
                jobs.removeAll(keepingCapacity: true)
                next = 0
            }
            return job
        }
    }

    private enum Step {
        case run(BlockingThreads.Job)
        case wait
        case end
    }

    private let state = Lock(State())
    private let threadLimit: Int
    private let name: String
    private let start: BlockingThreads.Starter

    init(threadLimit: Int, name: String, start: @escaping BlockingThreads.Starter) {
        self.threadLimit = max(1, threadLimit)
        self.name = name
        self.start = start
    }

    /// Appends a job, and starts a thread if no thread is idle.
    func append(_ job: BlockingThreads.Job) throws(ResourceShortage) {
        let idle = try state.withLock { state throws(ResourceShortage) in
            let idle = try idleThread(&state)
            state.append(job)
            return idle
        }
        idle?.signal()
    }

    /// Makes sure that there is a thread for the job that the caller enqueues next.
    fileprivate func startThreadIfNeeded() throws(ResourceShortage) {
        try state.withLock { state throws(ResourceShortage) in
            if state.threads == 0 { try startThread(&state) }
        }
    }

    /// Takes a task's job. A thread exists: `startThreadIfNeeded` ran before.
    func enqueue(_ job: consuming ExecutorJob) {
        let owner = unsafe Unmanaged.passRetained(self)
        defer { unsafe owner.release() }
        let task = UnownedJob(job)
        let job = BlockingThreads.Job { [self] in unsafe task.runSynchronously(on: asUnownedTaskExecutor()) }
        let idle = state.withLock { state in
            // Ignored: the system gives no further thread. A running one does the job.
            let idle = try? idleThread(&state)
            state.append(job)
            return idle
        }
        idle?.signal()
    }

    /// Lets the threads end once no job is left.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle.removeAll() }
            return state.idle
        }
        for thread in idle { thread.signal() }
    }

    /// Takes the thread that is to be woken for one more job. Without an idle thread it starts one: under the lock,
    /// because otherwise two callers could each rely on the thread that the other fails to start.
    private func idleThread(_ state: inout State) throws(ResourceShortage) -> DispatchSemaphore? {
        if let idle = state.idle.popLast() { return idle }
        if state.threads < threadLimit {
            do throws(ResourceShortage) {
                try startThread(&state)
            } catch {
                // The other threads do its work.
                if state.threads == 0 { throw error }
            }
        }
        return nil
    }

    private func startThread(_ state: inout State) throws(ResourceShortage) {
        try start(name) { [self] in runUntilClosed() }
        state.threads += 1
    }

    /// Runs jobs until the queue is closed and empty.
    private func runUntilClosed() {
        let wake = DispatchSemaphore(value: 0)
        while true {
            let step = state.withLock { state -> Step in
                if let job = state.takeJob() { return .run(job) }
                if state.isClosed { return .end }
                state.idle.append(wake)
                return .wait
            }
            switch step {
            case .run(let job): job.run()
            case .wait: wake.wait()
            case .end: return
            }
        }
    }
}

#if THREAD_SANITIZER
    /// Orders two threads: everything before one thread's `mark` happens before everything after the other's. Every
    /// continuation orders its threads so. But when one is resumed before its task waits for it, the Swift runtime does
    /// not tell the thread sanitizer, which then reports false races.
    public struct ResumeOrder: Sendable {
        private final class Passage: Sendable {
            let lock = Lock(())
        }
        private let passage = Passage()

        /// Orders no threads yet.
        public init() {}

        /// Marks this point of the thread.
        public func mark() { passage.lock.withLock { _ in } }
    }
#else
    /// Does nothing: only the thread sanitizer must be told that a continuation orders two threads.
    public struct ResumeOrder: Sendable {
        /// Orders no threads yet.
        public init() {}

        /// Marks this point of the thread.
        public func mark() {}
    }
#endif
