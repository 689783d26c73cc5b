internal import CMarqueeSystem

/// A file descriptor, closed with the end of its lifetime.
package struct Descriptor: ~Copyable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    // Ignored: an error of close. It reports a write that failed late (network file systems), and the checksum
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

/// An eventfd that wakes a thread waiting for sockets: it becomes readable on `signal`.
@usableFromInline package final class WakeDescriptor: Sendable {
    /// The descriptor to wait for.
    package let descriptor: Int32
    /// The event to wait for with `Polling`.
    static let readable = POLLIN

    /// Makes the descriptor.
    /// - Throws: when the system gives none.
    package init() throws(ResourceShortage) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        if descriptor < 0 { throw ResourceShortage(missing: .descriptor, code: errno) }
    }

    deinit { close(descriptor) }

    /// Makes the descriptor readable.
    @usableFromInline package func signal() {
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
        while !Polling.ready([(descriptor, Self.readable)])[0] {}
    }
}

/// A file without a name, for bytes that do not fit in memory. The system removes it when it is closed, so a crash
/// leaves nothing behind.
///
/// Proof for `@unchecked`: only `append` changes `count`, and one thread at a time calls it, before others read the
/// file.
@safe package final class UnnamedFile: @unchecked Sendable {
    /// Open for reading and writing.
    package let descriptor: Descriptor
    private let calls: FileCalls
    /// Bytes written so far.
    package private(set) var count = 0

    /// Creates a file in `folder`.
    package init(in folder: String, calls: FileCalls = FileCalls()) throws(FileFault) {
        descriptor = try calls.openUnnamed(in: folder)
        self.calls = calls
    }

    /// Appends bytes.
    package func append(_ bytes: Span<UInt8>) throws(FileFault) {
        try calls.write(descriptor, bytes, at: count)
        count += bytes.count
    }

    /// All bytes, in memory.
    package func contents() throws(FileFault) -> [UInt8] { try calls.contents(of: descriptor, count: count) }
}
