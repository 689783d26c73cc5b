import LazyImages
import SystemSupport

/// Which sources the disk may know, by the names of its files: so that an overloaded service can refuse without asking the
/// disk. What another process stores meanwhile is missed, and what is evicted stays, so this decides nothing else.
final class StoredNames: Sendable {
    private struct State {
        /// The first 64 bits of each key's hash; nil while they are not known.
        var names: Set<UInt64>?
        /// What was stored while the folder is read.
        var stored: [UInt64] = []
        var isReading = false
    }

    private let state = Lock(State())
    private let disk: DiskCache
    /// Names take some 16 bytes each. A folder of more is not kept in mind: then the disk is asked.
    private let limit: Int

    /// - Parameter limit: the most names; 2^18 take 4 MiB.
    init(_ disk: DiskCache, limit: Int = 1 << 18) {
        self.disk = disk
        self.limit = limit
    }

    /// Whether the disk may have something for a key; false only where its folder was read and had nothing.
    func mayHold(_ key: CacheKey) -> Bool {
        state.withLock { $0.names?.contains(key.digest.first) ?? true }
    }

    /// Adds a key, once it is stored. Too many, and the folder is read anew, without what was evicted.
    func insert(_ key: CacheKey) {
        let isFull = state.withLock { state in
            state.names?.insert(key.digest.first)
            if state.isReading { state.stored.append(key.digest.first) }
            guard let names = state.names, names.count > limit else { return false }
            state.names = nil
            return true
        }
        if isFull { Task { await read() } }
    }

    /// Reads the names of the folder.
    func read() async {
        let isFirst = state.withLock { state in
            if state.isReading { return false }
            state.isReading = true
            return true
        }
        guard isFirst else { return }
        // What was stored before this is among the files then; what is stored from now on is noted.
        await disk.flush()
        let digests = await disk.digestPrefixes()
        state.withLock { state in
            state.isReading = false
            if let digests, digests.count + state.stored.count <= limit {
                state.names = Set(digests).union(state.stored)
            }
            state.stored = []
        }
    }
}
