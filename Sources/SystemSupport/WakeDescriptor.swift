import CSystem
import Glibc

/// A descriptor that becomes readable when somebody signals: it wakes a thread that waits for sockets. An eventfd.
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
        // It can fail only when the counter is full: then it is readable already.
        _ = eventfd_write(descriptor, 1)
    }

    /// Makes the descriptor unreadable again.
    package func reset() {
        var count: eventfd_t = 0
        // It fails when nobody has signalled: then there is nothing to reset.
        _ = unsafe eventfd_read(descriptor, &count)
    }

    /// Blocks until the descriptor is readable.
    package func wait() {
        while !Polling.ready([(descriptor, POLLIN)])[0] {}
    }
}
