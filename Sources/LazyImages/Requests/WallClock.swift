import SystemSupport

/// The time of day. A loader compares HTTP's dates with it. A test or a program can replace it:
///
///     ImageLoader(clock: WallClock { 1_763_714_400 })
public struct WallClock: Sendable {
    private let read: @Sendable () -> Int

    /// The system's clock.
    public static let system = WallClock { FileTime.coarseNow.seconds }

    /// A clock that reads the time from a closure.
    /// - Parameter read: returns the whole seconds since 1970. Called often, on any thread.
    public init(_ read: @escaping @Sendable () -> Int) { self.read = read }

    /// The time now, in whole seconds since 1970. No clock is so wrong that a sum of times overflows.
    package var seconds: Int { min(max(read(), -Self.farthest), Self.farthest) }

    /// Beyond the age of the universe, which is 4.4e17 seconds.
    private static let farthest = 1 << 60
}
