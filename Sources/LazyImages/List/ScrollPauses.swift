/// How long a list that moves leaves alone what went wrong.
public struct ScrollPauses: Sendable, Hashable {
    /// After a failure the row is tried again when it comes back on the screen, but not before this has passed since.
    public var afterFailure: Duration
    /// After a memory warning nothing is prefetched for this long.
    public var afterWarning: Duration

    /// Pauses of these lengths. Default: 30 seconds each.
    public init(afterFailure: Duration = .seconds(30), afterWarning: Duration = .seconds(30)) {
        self.afterFailure = afterFailure
        self.afterWarning = afterWarning
    }
}
