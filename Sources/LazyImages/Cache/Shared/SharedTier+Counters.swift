extension SharedTier {
    /// What has happened in a tier since it was created.
    public struct Counters: Equatable, Sendable {
        /// Reads that gave a value.
        public internal(set) var hits = 0
        /// Reads of keys that the store does not have.
        public internal(set) var misses = 0
        /// Reads that were skipped: during a pause, without time left, or of a removed key.
        public internal(set) var skips = 0
        /// Values that were refused: changed, truncated, too long, of another key, or with a wrong seal.
        public internal(set) var refusedValues = 0
        /// Requests that failed: no connection, a timeout, or a status that means a failure.
        public internal(set) var failures = 0
        /// Values that were written.
        public internal(set) var writes = 0
        /// Values that were removed.
        public internal(set) var removals = 0
        /// Writes that were dropped: the queue was full, the store had failed, or the value was too large.
        public internal(set) var droppedWrites = 0
        /// Bytes of values that were read.
        public internal(set) var bytesRead = 0
        /// Bytes of values that were written.
        public internal(set) var bytesWritten = 0
        /// Writes and removals in the queue.
        public internal(set) var queuedWrites = 0
        /// Whether reads pause: three in a row have failed.
        public internal(set) var isReadingPaused = false
        /// Whether writes pause.
        public internal(set) var isWritingPaused = false
    }
}
