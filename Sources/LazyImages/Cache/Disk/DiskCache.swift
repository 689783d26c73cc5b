import Synchronization
package import SystemSupport

/// A disk tier: one checksummed file for each value, in one folder that any number of instances and processes share.
///
/// **Opening** never fails, scans nothing and creates nothing. The first store, or a loader's first transfer, creates
/// the folder, for this user only (mode 0700). The cache refuses a symbolic link, a file, or another user's folder.
///
/// **Reading** returns a complete value that was stored for exactly this key, or nil. An entry that fails a check is a
/// miss; it is counted and removed. An entry in a later version of the format is a miss too, but stays.
///
/// **Storing** is staged. This instance can read the value when ``store(_:metadata:expiry:for:)`` returns; others can
/// read it when the file is written, for which ``flush()`` waits. Staged bytes are bounded: without room
/// ``store(_:metadata:expiry:for:)`` waits. Of two stores for one key the later one wins.
///
/// **Atomicity.** A store writes a temporary file and renames it. A reader finds the complete old value or the complete
/// new one. A crash, a full disk or a kill loses at most values that were not flushed.
///
/// **Durability.** After ``flush()`` a value survives the end of the process. Nothing is synced: a power cut may lose
/// or damage the writes of the last seconds. The checksum turns damage into a miss.
///
/// **Size.** The limit counts the lengths of all files, of all processes. A store that exceeds it evicts expired
/// entries, then the least recently used ones, down to nine tenths of the limit; in a large cache, one subfolder after
/// the other until there is room. A crash can leave the counts a little too high; every scan corrects them. A file's
/// access time is its last use, set by a store and, once a minute, by a hit. Its modification time is its expiry, or in
/// 1970 without one. So eviction need not open files.
///
/// **Faults** of the disk, and a lack of threads, never reach a caller. They are misses and lost stores, counted and
/// explained in ``counters``. After a folder was wiped, moved or made read-only, or a disk was full, the cache works
/// again as soon as it can.
///
/// Safe for concurrent use. Synchronous calls block for microseconds to milliseconds: call them on threads that may
/// block. Asynchronous calls work on the cache's threads.
public final class DiskCache: Sendable {
    /// A stored value.
    public struct Entry: Sendable {
        /// The caller's bytes besides the body.
        public let metadata: [UInt8]
        /// The value, shared and not copied.
        public let body: ImageBytes
        /// The expiry that was stored, in seconds since 1970; nil for none.
        package let expiry: Int?
    }

    /// 512 MiB.
    package static let defaultLimit = 512 << 20

    /// The absolute path of the cache's folder.
    public let path: String
    /// The most bytes that all entries may have; 0 or more. The next store evicts what exceeds a lower limit.
    public var limit: Int {
        get { currentLimit.load(ordering: .relaxed) }
        set { currentLimit.store(max(0, newValue), ordering: .relaxed) }
    }

    private let currentLimit: Atomic<Int>
    let calls: FileCalls
    let touchInterval: Int
    let largeCount: Int
    let state: Lock<State>
    /// One thread, so that stores reach the disk in their order.
    let writer: BlockingThreads
    let readers: BlockingThreads

    /// Opens the cache in a folder, which need not exist yet. Never fails: a folder that cannot be used is a counted
    /// fault, and every lookup a miss until the folder works.
    /// - Parameters:
    ///   - folder: the path of the folder. A relative path starts at the present working directory. Default: the
    ///     program's own, `images` in a folder with the name of the program, below `XDG_CACHE_HOME`, or below `~/.cache`
    ///     if that variable is not set or not absolute (XDG Base Directory Specification).
    ///   - limit: the most bytes that all entries may have. Default: nil, 512 MiB.
    public convenience init(folder: String? = nil, limit: Int? = nil) {
        self.init(folder: folder ?? Self.ownFolder, limit: limit ?? Self.defaultLimit, calls: FileCalls())
    }

    /// - Parameters:
    ///   - stagingLimit: the most bytes that wait for the disk.
    ///   - touchInterval: by how many seconds an access time may be too old.
    ///   - largeCount: the number of entries above which eviction works subfolder by subfolder.
    ///   - startThread: starts the cache's threads.
    package init(
        folder: String, limit: Int, stagingLimit: Int = 32 << 20, touchInterval: Int = 60,
        largeCount: Int = 4_000,
        calls: FileCalls,
        startThread: @escaping BlockingThreads.Starter = { name, body throws(ResourceShortage) in
            try BlockingThreads.startThread(name: name, body)
        }
    ) {
        path = Self.absolutePath(folder)
        currentLimit = Atomic(limit)
        self.calls = calls
        self.touchInterval = touchInterval
        self.largeCount = largeCount
        writer = BlockingThreads(count: 1, start: startThread)
        readers = BlockingThreads(count: 2, start: startThread)
        state = Lock(State(stagingLimit: stagingLimit))
        _ = currentFolder()
    }

    /// The verified value of a key, or nil. Blocks for one read of a file.
    /// - Parameter key: the entry's key.
    package func readEntry(for key: CacheKey) -> Entry? {
        if let staged = state.withLock({ $0.stagedHit(key) }) {
            return Entry(metadata: staged.metadata, body: ImageBytes(staged.body), expiry: staged.expiry)
        }
        let file = lookUp(key)
        let host = key.host
        state.withLock { $0.countLookup(isHit: file != nil, host: host) }
        return file.map { Entry(metadata: $0.metadata, body: ImageBytes($0), expiry: $0.expiry) }
    }

    /// The verified value of a key, or nil. Reads on a thread of the cache.
    /// - Parameter key: the entry's key.
    public func entry(for key: CacheKey) async -> Entry? {
        await run(on: readers, orElse: nil) { [self] in readEntry(for: key) }
    }

    /// Whether a key has an entry, by the header of its file; does not verify the checksum. Counts no lookup and
    /// changes no access time. Blocks for one small read.
    /// - Parameter key: the entry's key.
    public func contains(_ key: CacheKey) -> Bool { bodyLength(for: key) != nil }

    /// Whether a key has a file, and not a remembered 404 or 410, which has no bytes. As ``contains(_:)`` otherwise.
    package func hasFile(for key: CacheKey) -> Bool { bodyLength(for: key) ?? 0 > 0 }

    /// The length of a key's body in bytes, by the header of its file, as in ``contains(_:)``. Nil without an entry; 0
    /// for a remembered 404 or 410.
    /// - Parameter key: the entry's key.
    package func bodyLength(for key: CacheKey) -> Int? {
        if let staged = state.withLock({ $0.staging[key] }) { return staged.body.count }
        guard let folder = currentFolder() else { return nil }
        do throws(FileFault) { return try folder.bodyLength(for: key) } catch {
            record(error, writing: false)
            return nil
        }
    }

    /// What happened in this instance, and what the folder holds by the last count.
    public var counters: CacheCounters {
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
                // A new folder may have taken its place.
                drop(folder)
                return lookUp(key)
            }
        } catch {
            record(error, writing: false)
            return nil
        }
    }
}
