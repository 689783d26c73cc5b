import CSystem
import Glibc
import SystemSupport

/// An epoll descriptor, closed when it goes.
final class Poller: Sendable {
    let descriptor: Int32

    /// - Throws: when the system gives no descriptor.
    init() throws(ResourceShortage) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        if descriptor < 0 { throw ResourceShortage(missing: .descriptor, code: errno) }
    }

    deinit { close(descriptor) }
}
