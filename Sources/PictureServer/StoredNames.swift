import LazyImages
import SystemSupport

/// The sources that the disk may have, by the names of its files. An overloaded service can then refuse without reading
/// the disk. The names may be out of date: other processes add files and eviction removes them. So they decide nothing
/// else.
final class StoredNames: Sendable {
    private struct State {
        /// The first 64 bits of each key's hash.
        var names: Set<UInt64> = []
        /// Whether the folder was read, and had not too many files.
        var isKnown = false
        var isReading = false
    }

    private let state = Lock(State())
    private let disk: DiskCache
    /// The most names in memory, some 16 bytes each. A larger folder is not remembered, and every key may be on disk.
    private let limit: Int

    /// - Parameter limit: the most names; 2^18 take 4 MiB.
    init(_ disk: DiskCache, limit: Int = 1 << 18) {
        self.disk = disk
        self.limit = limit
    }

    /// Whether the disk may have a file for a key; false only if the folder was read and had none.
    func mayHold(_ key: CacheKey) -> Bool {
        state.withLock { !$0.isKnown || $0.names.contains(key.digest.first) }
    }

    /// Adds a stored key. If there are too many names, the folder is read again, which drops evicted files.
    func insert(_ key: CacheKey) {
        let isFull = state.withLock { state in
            if state.isKnown || state.isReading { state.names.insert(key.digest.first) }
            guard state.isKnown, state.names.count > limit else { return false }
            state.isKnown = false
            return true
        }
        if isFull { Task { await read() } }
    }

    /// Reads the names of the folder's files.
    func read() async {
        let isFirst = state.withLock { state in
            guard !state.isReading else { return false }
            (state.names, state.isReading) = ([], true)
            return true
        }
        guard isFirst else { return }
        // Files stored before this are in the folder then; later ones are inserted.
        await disk.flush()
        let digests = await disk.digestPrefixes()
        state.withLock { state in
            state.isReading = false
            state.isKnown = digests.map { $0.count + state.names.count <= limit } ?? false
            if state.isKnown { state.names.formUnion(digests ?? []) } else { state.names = [] }
        }
    }
}
