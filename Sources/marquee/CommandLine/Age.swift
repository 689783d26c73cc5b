/// How long ago something was, in words.
enum Age {
    /// `40 seconds`, `1 minute`, `3 hours`, `2 days`: whole units, rounded down.
    static func text(_ seconds: Int) -> String {
        let units = [("day", 86_400), ("hour", 3600), ("minute", 60)]
        // A clock that was set back makes nothing younger than now.
        let seconds = max(0, seconds)
        let (name, length) = units.first { seconds >= $0.1 } ?? ("second", 1)
        let count = seconds / length
        return "\(count) \(name)\(count == 1 ? "" : "s")"
    }
}
