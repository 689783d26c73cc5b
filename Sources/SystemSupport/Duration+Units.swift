extension Duration {
    /// The duration in whole nanoseconds, clamped to the range of `Int64`.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        return whole.addingSaturating(attoseconds / 1_000_000_000)
    }

    /// The duration in seconds.
    package var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

extension Int64 {
    /// The time `duration` later, in nanoseconds, clamped to the range of `Int64`.
    package func adding(_ duration: Duration) -> Int64 { addingSaturating(duration.nanoseconds) }

    fileprivate func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
