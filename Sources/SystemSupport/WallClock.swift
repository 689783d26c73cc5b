/// The time of day, in whole seconds since 1970: what HTTP's dates are compared with. A value, so that tests can set it.
package struct WallClock: Sendable {
    private let read: @Sendable () -> Int

    /// The system's clock.
    package static let system = WallClock { FileTime.coarseNow.seconds }

    package init(_ read: @escaping @Sendable () -> Int) { self.read = read }

    /// The time now.
    package var seconds: Int { read() }
}
