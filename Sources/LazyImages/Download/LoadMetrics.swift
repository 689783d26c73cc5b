/// What a load cost. A shared load has the same metrics for all its callers, counted from its first.
public struct LoadMetrics: Sendable, Hashable {
    /// Where the image came from; nil for a load that failed.
    public var source: LoadedFile.Source?
    /// From the beginning of the load to its end.
    public var total: Duration
    /// How long its transfer has waited for slots.
    public var queued: Duration
    /// From the beginning to the first byte of the body; nil if none has come.
    public var firstByte: Duration?
    /// The bytes of the file that a transfer has received; 0 for a file from a cache.
    public var received: Int
    /// From the beginning until the file was there; nil if it was not.
    public var file: Duration?
    /// How long decoding and processing took, with the wait for a thread; nil if the load failed before.
    public var decoding: Duration?

    /// Metrics, for loaders of other programs.
    /// - Parameters:
    ///   - source: where the image came from.
    ///   - total: from the beginning to the end.
    ///   - queued: how long the transfer has waited.
    ///   - firstByte: from the beginning to the first byte.
    ///   - received: the bytes received.
    ///   - file: from the beginning until the file was there.
    ///   - decoding: how long decoding and processing took.
    public init(
        source: LoadedFile.Source? = nil, total: Duration = .zero, queued: Duration = .zero,
        firstByte: Duration? = nil, received: Int = 0, file: Duration? = nil, decoding: Duration? = nil
    ) {
        self.source = source
        self.total = total
        self.queued = queued
        self.firstByte = firstByte
        self.received = received
        self.file = file
        self.decoding = decoding
    }
}
