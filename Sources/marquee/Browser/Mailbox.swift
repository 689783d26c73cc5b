import Glibc
import LazyImages

/// Messages from other threads to the browser's thread, which waits for them until a deadline.
///
/// Proof for `@unchecked`: `messages` is only touched while `mutex` is held.
@safe final class Mailbox<Message: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var messages: [Message] = []

    init() {
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(changed, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    /// Adds a message and wakes the reader.
    func send(_ message: Message) {
        unsafe pthread_mutex_lock(mutex)
        messages.append(message)
        unsafe pthread_mutex_unlock(mutex)
        unsafe pthread_cond_signal(changed)
    }

    /// Waits until there are messages or the deadline (`MonotonicClock`) has come, and takes all messages in order. A
    /// nil deadline waits for ever.
    func take(until deadline: Double?) -> [Message] {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while messages.isEmpty {
            if let deadline {
                var time = timespec(
                    tv_sec: Int(deadline), tv_nsec: Int((deadline - deadline.rounded(.down)) * 1e9))
                if unsafe pthread_cond_timedwait(changed, mutex, &time) == ETIMEDOUT { break }
            } else {
                unsafe pthread_cond_wait(changed, mutex)
            }
        }
        defer { messages.removeAll(keepingCapacity: true) }
        return messages
    }
}

/// Seconds of the system's monotonic clock.
enum MonotonicClock {
    static var now: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
