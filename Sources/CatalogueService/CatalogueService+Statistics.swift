extension CatalogueService {
    /// What a service has done since it was made.
    public struct Statistics: Sendable, Hashable {
        /// Requests answered or being answered, refused ones included. A request is counted before the first
        /// byte of its answer leaves, so whoever has read an answer finds it counted.
        public internal(set) var requests = 0
        /// The same requests by the status of their answer.
        public internal(set) var byStatus: [Int: Int] = [:]
        /// Bytes handed to the system, heads included; it may lag behind what a client has read.
        public internal(set) var bytesSent = 0
        /// Connections open at this moment.
        public internal(set) var connectionsNow = 0
        /// Connections accepted in all, those turned away included.
        public internal(set) var connectionsInAll = 0
    }
}
