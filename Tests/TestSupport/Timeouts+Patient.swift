public import LazyImages

extension Timeouts {
    /// No phase ends before the test does: for transfers that wait for the test, which waits for a machine that may be busy.
    public static let patient = Timeouts(each: .seconds(600))
}
