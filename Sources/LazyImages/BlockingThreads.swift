import CSystem
import Glibc

/// A few threads of our own for calls that block (files, name service), so that none of them ever holds a thread
/// of Swift's cooperative pool. Jobs start in the order they were given. The threads end when the object goes.
package final class BlockingThreads: Sendable {
    private let queue = Queue()

    /// Starts `count` threads of this name; each costs only its stack until it is used.
    package init(count: Int, name: String = "LazyImages") {
        for _ in 0..<count { Self.startThread(name: name) { [queue] in queue.runUntilClosed() } }
    }

    deinit { queue.close() }

    /// Runs `work` on one of the threads, now or as soon as one is free, and does not wait for it.
    package func enqueue(_ work: @escaping @Sendable () -> Void) {
        queue.append(work)
    }

    /// Runs `work` on one of the threads and returns what it returns. Not interrupted by cancellation: work that
    /// has begun ends, so that no caller can leave half a file operation behind.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        let order = ResumeOrder()
        defer { order.mark() }
        return await withCheckedContinuation { continuation in
            enqueue {
                let value = work()
                order.mark()
                continuation.resume(returning: value)
            }
        }
    }

    /// Starts a detached thread of the operating system that runs `body` and ends with it.
    /// - Parameter name: what `ps -L`, `perf` and debuggers show; Linux takes 15 bytes of it.
    package static func startThread(
        name: String = "LazyImages", _ body: @escaping @Sendable () -> Void
    ) {
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
        let context = unsafe Unmanaged.passRetained(Body(named)).toOpaque()
        let failure = unsafe pthread_create(
            &thread, &attributes,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context)
        // Only a machine that cannot give one more thread comes here; the library cannot work on it.
        precondition(failure == 0, "the system gave no thread (errno \(failure))")
    }
}

/// The jobs that wait. Proof for `@unchecked`: every access to `jobs`, `next` and `isClosed` holds `mutex`.
@safe private final class Queue: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [(@Sendable () -> Void)?] = []
    private var next = 0
    private var isClosed = false

    init() {
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(changed, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    func append(_ job: @escaping @Sendable () -> Void) {
        unsafe pthread_mutex_lock(mutex)
        jobs.append(job)
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
    func runUntilClosed() {
        while let job = take() { job() }
    }

    private func take() -> (@Sendable () -> Void)? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while next == jobs.count {
            if isClosed { return nil }
            unsafe pthread_cond_wait(changed, mutex)
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
