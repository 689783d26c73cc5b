internal import Glibc

/// Nanoseconds since 1970.
package struct FileTime: Hashable, Comparable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    init(_ time: timespec) {
        // Wrapping, since a file may claim any time at all.
        nanoseconds = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// The time now, to the system clock's tick of a few milliseconds, which costs next to nothing to ask.
    package static var coarseNow: FileTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return FileTime(time)
    }

    /// Whole seconds since 1970.
    package var seconds: Int { Int(nanoseconds / 1_000_000_000) }

    /// Whole seconds from another time to this one; any number where a file claims an absurd time.
    package func seconds(since other: FileTime) -> Int {
        Int((nanoseconds &- other.nanoseconds) / 1_000_000_000)
    }

    package static func < (one: FileTime, other: FileTime) -> Bool { one.nanoseconds < other.nanoseconds }
}

/// The time of day, in whole seconds since 1970: what HTTP's dates are compared with. A value, so that tests can set it.
package struct WallClock: Sendable {
    private let read: @Sendable () -> Int

    /// The system's clock.
    package static let system = WallClock { FileTime.coarseNow.seconds }

    package init(_ read: @escaping @Sendable () -> Int) { self.read = read }

    /// The time now.
    package var seconds: Int { read() }
}
