/// The system's monotonic clock (CLOCK_MONOTONIC), for what needs its numbers. `ContinuousClock` is for all other times.
package enum MonotonicClock {
    package static var nanoseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    package static var seconds: Double { Double(nanoseconds) * 1e-9 }
}
