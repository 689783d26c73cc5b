import Dispatch
import Glibc
import LazyImages
import SystemSupport

/// A queue of messages from other threads to the browser's thread, which waits for them until a deadline. It has one
/// reader.
///
/// The reader waits at a semaphore: a condition variable of glibc can lose a signal (glibc bug 25847).
final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        /// Whether the reader waits. Who clears it signals `arrival` once.
        var isReaderWaiting = false
    }
    private let state = Lock(State())
    private let arrival = DispatchSemaphore(value: 0)

    /// Adds a message and wakes the reader.
    func send(_ message: Message) {
        let wakesReader = state.withLock { state in
            state.messages.append(message)
            defer { state.isReaderWaiting = false }
            return state.isReaderWaiting
        }
        if wakesReader { arrival.signal() }
    }

    /// Waits until there are messages or the deadline (`MonotonicClock`) has come, and takes all messages in order. A
    /// nil deadline waits for ever.
    func take(until deadline: Double?) -> [Message] {
        let hasMessages = state.withLock { state in
            state.isReaderWaiting = state.messages.isEmpty
            return !state.isReaderWaiting
        }
        if !hasMessages { waitForArrival(until: deadline) }
        return state.withLock { state in
            defer { state.messages.removeAll(keepingCapacity: true) }
            return state.messages
        }
    }

    private func waitForArrival(until deadline: Double?) {
        guard let deadline else { return arrival.wait() }
        let left = max(0, deadline - MonotonicClock.now)
        guard arrival.wait(timeout: .now() + left) == .timedOut else { return }
        let isSignaled = state.withLock { state in
            defer { state.isReaderWaiting = false }
            return !state.isReaderWaiting
        }
        // A message came after the deadline. Its signal must not end the next wait.
        if isSignaled { arrival.wait() }
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
