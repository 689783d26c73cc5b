/// A period in words.
enum Age {
    /// `40 seconds`, `1 minute`, `3 hours`, `2 days`: whole units, rounded down.
    static func text(_ seconds: Int) -> String {
        let units = [("day", 86_400), ("hour", 3600), ("minute", 60)]
        // If the clock was set back, the period is zero, never negative.
        let seconds = max(0, seconds)
        let (name, length) = units.first { seconds >= $0.1 } ?? ("second", 1)
        let count = seconds / length
        return "\(count) \(name)\(count == 1 ? "" : "s")"
    }
}
