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
