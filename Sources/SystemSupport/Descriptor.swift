internal import Glibc

/// A file descriptor, closed with the end of its lifetime.
package struct Descriptor: ~Copyable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    // Losing the error of close is right: it reports a write that failed late (network file systems), and the checksum
    // finds such an entry.
    deinit { close(number) }
}

/// Waits for descriptors with `poll`. Blocks: do not call it on the cooperative pool.
package enum Polling {
    /// Waits until a descriptor is ready for its events (`POLLIN`, `POLLOUT`) or has failed.
    /// - Parameter deadline: when to stop waiting. Nil, the default, waits without end.
    /// - Returns: for each descriptor, whether it is ready; all false after the deadline.
    package static func ready(
        _ descriptors: [(number: Int32, events: Int32)], until deadline: ContinuousClock.Instant? = nil
    ) -> [Bool] {
        var polled = descriptors.map { pollfd(fd: $0.number, events: Int16($0.events), revents: 0) }
        while true {
            let milliseconds = deadline.map(milliseconds(until:)) ?? -1
            let count = unsafe Glibc.poll(&polled, nfds_t(polled.count), milliseconds)
            if count > 0 { return polled.map { $0.revents != 0 } }
            // A deadline beyond the longest timeout of one call takes several calls.
            if count == 0, let deadline, ContinuousClock.now < deadline { continue }
            if count == 0 || errno != EINTR { return polled.map { _ in false } }
        }
    }

    /// Rounded up, so that no wait ends just before the deadline and starts again.
    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let (seconds, attoseconds) = (deadline - .now).components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return Int32(min(seconds, 1_000_000)) * 1000
            + Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
