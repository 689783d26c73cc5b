extension SharedTier {
    /// What has happened in a tier since it was created.
    package struct Traffic: Equatable, Sendable {
        /// Reads that gave a value.
        package internal(set) var hits = 0
        /// Reads of keys that the store does not have.
        package internal(set) var misses = 0
        /// Reads that were skipped: during a pause, without time left, or of a removed key.
        package internal(set) var skips = 0
        /// Values that were refused: changed, truncated, too long, of another key, or with a wrong seal.
        package internal(set) var refusedValues = 0
        /// Requests that failed: no connection, a timeout, or a status that means a failure.
        package internal(set) var failures = 0
        /// Those of them that were reads.
        package internal(set) var failedReads = 0
        /// Values that were written.
        package internal(set) var writes = 0
        /// Values that were removed.
        package internal(set) var removals = 0
        /// Writes that were dropped: the queue was full, the store had failed, or the value was too large.
        package internal(set) var droppedWrites = 0
        /// Bytes of values that were read.
        package internal(set) var bytesRead = 0
        /// Bytes of values that were written.
        package internal(set) var bytesWritten = 0
        /// Writes and removals in the queue.
        package internal(set) var queuedWrites = 0
        /// Whether reads pause: three in a row have failed.
        package internal(set) var isReadingPaused = false
        /// Whether writes pause.
        package internal(set) var isWritingPaused = false
    }

    /// What has happened since the tier was created.
    public var counters: CacheCounters {
        let traffic = traffic
        var counters = CacheCounters()
        counters.hits = traffic.hits
        counters.misses = traffic.misses + traffic.skips + traffic.refusedValues + traffic.failedReads
        counters.stores = traffic.writes
        counters.corrupt = traffic.refusedValues
        counters.faults = traffic.failures
        return counters
    }
}
