public import LazyImages

extension Timeouts {
    /// Timeouts that never end a transfer before the test does. The test may be slow on a busy machine.
    public static let patient = Timeouts(each: .seconds(600))
}
