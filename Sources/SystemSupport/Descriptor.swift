internal import Glibc

/// An open file, closed when it goes.
package struct Descriptor: ~Copyable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    // An error of close tells of a write that failed late (network file systems); the checksum finds such an entry.
    deinit { close(number) }
}

/// Waits for descriptors by `poll`. Blocks: not for the cooperative pool.
package enum Polling {
    /// Waits until one of the descriptors is ready for its events (`POLLIN`, `POLLOUT`), or has failed, and says which are;
    /// none when the deadline came first. Nil, the default, waits for ever.
    package static func ready(
        _ descriptors: [(number: Int32, events: Int32)], until deadline: ContinuousClock.Instant? = nil
    ) -> [Bool] {
        var polled = descriptors.map { pollfd(fd: $0.number, events: Int16($0.events), revents: 0) }
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
