import CSystem
import Glibc

/// An eventfd that wakes a thread waiting for sockets: it becomes readable on `signal`.
package final class WakeDescriptor: Sendable {
    /// The descriptor to wait for.
    package let descriptor: Int32

    /// Makes the descriptor.
    /// - Throws: when the system gives none.
    package init() throws(ResourceShortage) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        if descriptor < 0 { throw ResourceShortage(missing: .descriptor, code: errno) }
    }

    deinit { close(descriptor) }

    /// Makes the descriptor readable.
    package func signal() {
        // It fails only when the counter is full: the descriptor is readable then.
        _ = eventfd_write(descriptor, 1)
    }

    /// Makes the descriptor not readable again.
    package func reset() {
        var count: eventfd_t = 0
        // It fails without a signal before: there is nothing to reset then.
        _ = unsafe eventfd_read(descriptor, &count)
    }

    /// Blocks until the descriptor is readable.
    package func wait() {
        while !Polling.ready([(descriptor, POLLIN)])[0] {}
    }
}
