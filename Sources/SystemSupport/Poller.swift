internal import CSystem
internal import Glibc

/// An epoll descriptor, closed on deallocation.
package final class Poller: Sendable {
    package let descriptor: Int32

    /// - Throws: when the system gives no descriptor.
    package init() throws(ResourceShortage) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        if descriptor < 0 { throw ResourceShortage(missing: .descriptor, code: errno) }
    }

    deinit { close(descriptor) }
}
