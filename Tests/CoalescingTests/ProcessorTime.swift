import Glibc

/// The processor time of the calling thread: other load on the machine does not count.
enum ProcessorTime {
    /// How many times as long `work` takes for four times as many items: about 4 if the time is linear, 16 if it is
    /// quadratic. The best of three: the processor's caches may be too small for the larger number.
    /// - Parameter count: the smaller number of items.
    static func growth(from count: Int = 8_000, of work: (_ count: Int) throws -> Void) rethrows -> Double {
        var best = Double.infinity
        for _ in 0..<3 where best > 6 {
            let small = try seconds { try work(count) }
            best = min(best, try seconds { try work(4 * count) } / small)
        }
        return best
    }

    private static func seconds(of work: () throws -> Void) rethrows -> Double {
        let start = now
        try work()
        return now - start
    }

    private static var now: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
