#if THREAD_SANITIZER
    import Glibc

    /// A lock around a value. In sanitizer builds (`-Xswiftc -DTHREAD_SANITIZER`) it is a pthread mutex, because the
    /// thread sanitizer does not understand `Synchronization.Mutex` and reports false races.
    public struct Lock<State>: ~Copyable, Sendable {
        /// Proof for `@unchecked`: `state` is accessed only between lock and unlock of `mutex`.
        @safe private final class Storage: @unchecked Sendable {
            let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
            var state: State
            init(_ state: consuming sending State) {
                self.state = state
                unsafe pthread_mutex_init(mutex, nil)
            }
            deinit {
                unsafe pthread_mutex_destroy(mutex)
                unsafe mutex.deallocate()
            }
        }
        private let storage: Storage

        /// A lock around `state`.
        public init(_ state: consuming sending State) { storage = Storage(state) }

        /// Calls `body` with the value while no other thread has it.
        public borrowing func withLock<Result, Failure: Error>(
            _ body: (inout sending State) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            unsafe pthread_mutex_lock(storage.mutex)
            defer { unsafe pthread_mutex_unlock(storage.mutex) }
            return try body(&storage.state)
        }
    }
#else
    public import Synchronization

    /// A lock around a value, which only `withLock` can reach. Decide inside, act outside.
    ///
    /// Public and inlinable, so that generic code with a lock can be specialised in other modules.
    public struct Lock<State>: ~Copyable, Sendable {
        @usableFromInline let mutex: Mutex<State>

        /// A lock around `state`.
        @inlinable public init(_ state: consuming sending State) { mutex = Mutex(state) }

        /// Calls `body` with the value while no other thread has it.
        @inlinable public borrowing func withLock<Result, Failure: Error>(
            _ body: (inout sending State) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock(body)
        }
    }
#endif
