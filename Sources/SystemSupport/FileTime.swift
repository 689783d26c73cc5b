internal import Glibc

/// Nanoseconds since 1970.
package struct FileTime: Hashable, Comparable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    init(_ time: timespec) {
        // Wrapping, because a file's time can be any number.
        nanoseconds = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// The current time, to the few milliseconds of the system clock's tick. Much cheaper than the exact time.
    package static var coarseNow: FileTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return FileTime(time)
    }

    /// Whole seconds since 1970.
    package var seconds: Int { Int(nanoseconds / 1_000_000_000) }

    /// Whole seconds from another time to this one. Wraps for absurd times of a file.
    package func seconds(since other: FileTime) -> Int {
        Int((nanoseconds &- other.nanoseconds) / 1_000_000_000)
    }

    package static func < (one: FileTime, other: FileTime) -> Bool { one.nanoseconds < other.nanoseconds }
}
