package import SystemSupport

/// A disk tier: one self-describing, checksummed file for each value, in one folder that any number of instances
/// and processes share.
///
/// **Opening** looks at the folder but scans nothing, fails never, and makes nothing: the folder is made, for this
/// user alone (0700), by the first store. A folder that is a symbolic link, a file or another user's is refused.
///
/// **Reading** gives a whole value that was stored for exactly that key, or nothing. An entry that fails any check
/// is counted, removed and a miss; one of a later version of the format is left alone and a miss.
///
/// **Storing** is staged: the value can be read through this instance from the moment ``store(_:metadata:expiry:for:)``
/// returns, and by all others as soon as it is in its place, which ``flush()`` waits for. Staged bytes are bounded;
/// without room ``store(_:metadata:expiry:for:)`` waits. Of two stores for one key the later wins.
///
/// **Atomicity.** An entry is written beside its place and renamed into it. A reader finds the old value or the
/// new one, whole; a crash, a full disk or a kill at any moment loses at most values that were not flushed.
///
/// **Durability.** Nothing is synced: after ``flush()`` a value survives the end of the process. A power cut may lose
/// or damage what was written in the last seconds before it; the checksum turns damage into a miss.
///
/// **Size.** The limit counts the lengths of files, of all processes together. A store that crosses it first removes
/// what has expired and then the least recently used entries, down to nine tenths; of a large cache, folder after folder
/// until there is room. The counts are hints that a crash can leave a little too high; every scan corrects them. Recency
/// is each file's access time, set when it is stored and at a hit once a minute; its time of change repeats the expiry, or
/// lies in 1970 where there is none, so that nothing need be opened to make room.
///
/// **Faults** of the disk never reach a caller: they are misses and lost stores, counted and explained in ``counters``.
/// So is a thread that the system does not give. A folder that was wiped, moved or made read-only, or a disk that was
/// full, works again as soon as it can.
///
/// Safe for concurrent use. Synchronous calls block for a few microseconds to milliseconds and belong on threads
/// that may block; asynchronous ones do their work on threads of the cache's own.
public final class DiskCache: Sendable {
    /// A value as it was stored.
    public struct Entry: Sendable {
        /// The caller's own bytes beside the body.
        public let metadata: [UInt8]
        /// The value itself, shared and not copied.
        public let body: ImageBytes
        /// From when on it is of little use, in seconds since 1970, as it was stored; nil where nobody knows.
        public let expiry: Int?
    }

    /// 512 MiB.
    public static let defaultLimit = 512 << 20

    /// The absolute path of the cache's folder.
    public let path: String
    /// The most bytes all entries together may have.
    public let limit: Int

    let calls: FileCalls
    let touchInterval: Int
    let largeCount: Int
    let state: Lock<State>
    /// One thread, so that stores reach the disk in the order they were made.
    let writer: BlockingThreads
    let readers: BlockingThreads

    /// Opens the cache in a folder, which need not exist yet. Never fails: whatever stands in the way is a counted
    /// fault, and every lookup a miss until it is gone.
    /// - Parameters:
    ///   - folder: a path; a relative one is taken from the working directory of now.
    ///   - limit: in bytes; 512 MiB by default.
    public convenience init(folder: String, limit: Int = DiskCache.defaultLimit) {
        self.init(folder: folder, limit: limit, calls: FileCalls())
    }

    /// - Parameters:
    ///   - stagingLimit: the most bytes that wait for the disk.
    ///   - touchInterval: by how many seconds an access time may be late.
    ///   - largeCount: the number of entries above which eviction goes folder by folder.
    ///   - startThread: starts the cache's own threads.
    package init(
        folder: String, limit: Int, stagingLimit: Int = 32 << 20, touchInterval: Int = 60,
        largeCount: Int = 4_000,
        calls: FileCalls,
        startThread: @escaping BlockingThreads.Starter = { name, body throws(ResourceShortage) in
            try BlockingThreads.startThread(name: name, body)
        }
    ) {
        path = Self.absolutePath(folder)
        self.limit = limit
        self.calls = calls
        self.touchInterval = touchInterval
        self.largeCount = largeCount
        writer = BlockingThreads(count: 1, start: startThread)
        readers = BlockingThreads(count: 2, start: startThread)
        state = Lock(State(stagingLimit: stagingLimit))
        _ = currentFolder()
    }

    /// What there is for a key, verified, or nil. Blocks for one read of the file: call it where that is allowed.
    /// - Parameter key: the entry's key.
    public func entry(for key: CacheKey) -> Entry? {
        if let staged = state.withLock({ $0.stagedHit(key) }) {
            return Entry(metadata: staged.metadata, body: ImageBytes(staged.body), expiry: staged.expiry)
        }
        let file = lookUp(key)
        let host = key.host
        state.withLock { $0.countLookup(isHit: file != nil, host: host) }
        return file.map { Entry(metadata: $0.metadata, body: ImageBytes($0), expiry: $0.expiry) }
    }

    /// What there is for a key, verified, or nil. Reads on a thread of the cache's own.
    /// - Parameter key: the entry's key.
    public func entry(for key: CacheKey) async -> Entry? {
        await run(on: readers, orElse: nil) { [self] in entry(for: key) }
    }

    /// Whether there seems to be an entry for the key: looks at the header of its file and not at the checksum, counts
    /// nothing and touches nothing. Blocks for one small read.
    /// - Parameter key: the entry's key.
    public func contains(_ key: CacheKey) -> Bool { bodyLength(for: key) != nil }

    /// How many bytes the body for a key seems to have, as ``contains(_:)`` looks; nil if there is no entry, and 0
    /// where all that is known of a picture is that there is none.
    /// - Parameter key: the entry's key.
    public func bodyLength(for key: CacheKey) -> Int? {
        if let staged = state.withLock({ $0.staging[key] }) { return staged.body.count }
        guard let folder = currentFolder() else { return nil }
        do throws(FileFault) { return try folder.bodyLength(for: key) } catch {
            note(error, writing: false)
            return nil
        }
    }

    /// How often what happened in this instance, and what the folder holds by the last count.
    public var counters: Counters {
        var counters = state.withLock { $0.currentCounters }
        counters.lastFault = counters.lastFault.map { "cache folder \(path): \($0)" }
        return counters
    }

    private func lookUp(_ key: CacheKey) -> EntryFile? {
        guard let folder = currentFolder() else { return nil }
        do throws(FileFault) {
            switch try folder.read(key, maximum: limit, touchInterval: touchInterval) {
            case .entry(let file):
                return file
            case .newer: return nil
            case .corrupt(let identity):
                removeCorrupt(key, identity, in: folder)
                return nil
            case .absent:
                guard folder.isGone else { return nil }
                // Another may have been made in its place.
                forget(folder)
                return lookUp(key)
            }
        } catch {
            note(error, writing: false)
            return nil
        }
    }
}
