import CSystem
import Glibc

/// A thing that happens once and that threads wait for beside their sockets: an eventfd that is never read.
final class Event: Sendable {
    let descriptor: Int32

    init() throws(CatalogueServiceError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .system(call: "eventfd", errno: errno) }
    }

    deinit { close(descriptor) }

    /// Lets it have happened, for everyone and for good.
    func set() {
        var one: UInt64 = 1
        // A counter so high that this fails is set.
        _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits for it however long it takes.
    func wait() {
        while !Self.poll([(descriptor, POLLIN)], until: nil)[0] {}
    }

    /// Which of the descriptors are ready, or have failed; none when the deadline came first. Nil waits for ever.
    static func poll(_ descriptors: [(Int32, Int32)], until deadline: ContinuousClock.Instant?) -> [Bool] {
        var polled = descriptors.map { pollfd(fd: $0.0, events: Int16($0.1), revents: 0) }
        while true {
            let milliseconds = deadline.map(milliseconds(until:)) ?? -1
            let count = unsafe Glibc.poll(&polled, nfds_t(polled.count), milliseconds)
            if count > 0 { return polled.map { $0.revents != 0 } }
            // A deadline too far for one call is waited for in several.
            if count == 0, let deadline, ContinuousClock.now < deadline { continue }
            if count == 0 || errno != EINTR { return polled.map { _ in false } }
        }
    }

    /// Rounded up, so that a wait never ends just before its time and starts anew.
    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let (seconds, attoseconds) = (deadline - .now).components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return Int32(min(seconds, 1_000_000)) * 1000
            + Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
