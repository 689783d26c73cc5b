extension SharedTier {
    /// What happened in one tier since it was made.
    public struct Counters: Equatable, Sendable {
        /// Reads that brought a value.
        public internal(set) var hits = 0
        /// Reads of what the store does not have.
        public internal(set) var misses = 0
        /// Reads that were left out: the store is left alone for a while, or had no time left, or the key was removed.
        public internal(set) var skips = 0
        /// Values that were refused: changed, cut, too long, of another key, or with a wrong seal.
        public internal(set) var refusedValues = 0
        /// Requests that failed: no connection, too late, or a status that says that something is wrong.
        public internal(set) var failures = 0
        /// Values that were written.
        public internal(set) var writes = 0
        /// Values that were removed.
        public internal(set) var removals = 0
        /// Writes that were given up: no room in the queue, the store is left alone, or the value is too large.
        public internal(set) var droppedWrites = 0
        /// Bytes of values that were read.
        public internal(set) var bytesRead = 0
        /// Bytes of values that were written.
        public internal(set) var bytesWritten = 0
        /// Writes and removals that wait.
        public internal(set) var queuedWrites = 0
        /// Whether the store is left alone by those who read: it failed three times in a row.
        public internal(set) var isReadingPaused = false
        /// Whether it is left alone by those who write.
        public internal(set) var isWritingPaused = false
    }
}
