import FoundationEssentials
import Synchronization
package import SystemSupport

/// A disk tier: one checksummed file for each value, in one folder that any number of instances and processes share.
///
/// **Opening** never fails, scans nothing and creates nothing. The first store, or a loader's first transfer, creates
/// the folder, for this user only (mode 0700). The cache refuses a symbolic link, a file, another user's folder, and a
/// folder that is no cache and has a file that it would write over.
///
/// **Reading** returns a complete value that was stored for exactly this key, or nil. An entry that fails a check is a
/// miss; it is counted and removed. An entry in a later version of the format, or larger than the limit here, is a miss
/// too, but stays.
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
    ///   - folder: the path of the folder. A relative path starts at the present working directory. An empty one, as of
    ///     an unset variable, is a folder that cannot be used. Default: the program's own, `images` in a folder with the
    ///     name of the program, below `XDG_CACHE_HOME`, or below `~/.cache` if that variable is not set or not absolute
    ///     (XDG Base Directory Specification).
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
        startThread: @escaping BlockingThreads.Starter = BlockingThreads.startThread(name:_:)
    ) {
        path = Self.absolutePath(folder)
        currentLimit = Atomic(limit)
        self.calls = calls
        self.touchInterval = touchInterval
        self.largeCount = largeCount
        writer = BlockingThreads(count: 1, start: startThread)
        readers = BlockingThreads(count: 2, start: startThread)
        state = Lock(State(staging: StagingArea(limit: stagingLimit)))
        _ = currentFolder()
    }

    /// The verified value of a key, or nil. Blocks for one read of a file.
    /// - Parameter key: the entry's key.
    package func readEntry(for key: CacheKey) -> Entry? {
        if let staged = state.withLock({ $0.stagedHit(key) }) {
            return Entry(metadata: staged.metadata, body: ImageBytes(staged.body), expiry: staged.expiry)
        }
        let file = lookUp(key)
        state.withLock { $0.countLookup(isHit: file != nil) }
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

extension DiskCache {
    /// Stores a value. It can be read when this returns; a thread of the cache writes it to the disk. Waits only while
    /// too many bytes are staged, even if the task is cancelled. A value larger than the limit is not stored, but the
    /// older one is removed. A value that the disk refuses is lost.
    /// - Parameters:
    ///   - body: the value.
    ///   - metadata: the caller's bytes, returned with the value. Default: none.
    ///   - expiry: in seconds since 1970. Expired entries are evicted first, but a lookup finds them until then.
    ///     Default: nil, no expiry.
    ///   - key: the value's key.
    public func store(_ body: [UInt8], metadata: [UInt8] = [], expiry: Int? = nil, for key: CacheKey) async {
        await store(ByteArray(body), metadata: metadata, expiry: expiry, for: key)
    }

    /// As above, without copying the bytes. The cache holds `body` until it is written.
    /// - Parameter isUnwanted: whether the value was removed before it could be stored. Called under the cache's lock,
    ///   so that either the removal or this store sees the other.
    package func store(
        _ body: any ByteSource, metadata: [UInt8], expiry: Int? = nil, for key: CacheKey,
        unless isUnwanted: () -> Bool = { false }
    ) async {
        let entry = StagingArea.Entry(body: body, metadata: metadata, expiry: expiry)
        guard let size = entry.fileSize(for: key), size <= limit else {
            if !isUnwanted() { await remove(key) }
            return
        }
        // If nothing was staged, the job finds nothing to write.
        if state.withLock({ isUnwanted() || $0.staging.admit(entry, for: key) }) {
            enqueueWrite(key)
            return
        }
        await withCheckedContinuation { continuation in
            let isStaged = state.withLock { state in
                // There may be room now.
                if isUnwanted() || state.staging.admit(entry, for: key) { return true }
                state.staging.wait(StagingArea.Waiter(key: key, entry: entry, continuation: continuation))
                return false
            }
            if isStaged {
                enqueueWrite(key)
                continuation.resume()
            }
        }
    }

    /// Waits until all earlier stores and removals have reached the disk, or failed, and until the sweep after opening
    /// is done. Not a sync: see the durability of ``DiskCache``.
    public func flush() async {
        await run(on: writer, orElse: ()) { [self] in
            state.withLock { $0.folder }?.usage?.fold()
            if state.withLock({ $0.unrecorded != CacheTotals() }) { recordTotals() }
        }
    }

    /// Removes a key's value: on disk, staged, or waiting for room to be staged.
    /// - Parameter key: the entry's key.
    public func remove(_ key: CacheKey) async {
        let waiters = state.withLock { state in
            state.staging.discard(key)
            return state.staging.discardWaiters(for: key)
        }
        for waiter in waiters { waiter.continuation.resume() }
        await run(on: writer, orElse: ()) { [self] in
            guard let folder = currentFolder() else { return }
            do throws(FileFault) {
                guard let size = try folder.remove(key) else { return }
                folder.usage?.add(.init(bytes: -size, entries: -1), to: CacheFolder.index(of: key.digest))
                folder.usage?.fold()
            } catch { record(error, writing: true) }
        }
    }

    /// Without a thread the staged value is lost, as if the disk had refused it.
    private func enqueueWrite(_ key: CacheKey) {
        do {
            try writer.enqueue { [self] in writeStaged(key) }
        } catch {
            record(FileFault(error), writing: true)
            state.withLock { $0.staging.discard(key) }
            resume(state.withLock { $0.staging.admitWaiters() })
        }
    }

    /// Writes the staged value of a key. There may be none: an earlier job may have written the newest value.
    private func writeStaged(_ key: CacheKey) {
        guard let entry = state.withLock({ $0.staging[key] }) else {
            // The removal of a staged value has made room.
            return resume(state.withLock { $0.staging.admitWaiters() })
        }
        let outcome = write(entry, for: key)
        let admitted = state.withLock { state in
            switch outcome {
            case .success(let evicted):
                state.counters.stores += 1
                state.counters.evictions += evicted
                state.faults.recovered(writing: true)
            case .failure(let fault): state.faults.record(fault, writing: true)
            }
            return state.staging.finish(entry, for: key)
        }
        resume(admitted)
    }

    private func resume(_ admitted: [StagingArea.Waiter]) {
        for waiter in admitted {
            enqueueWrite(waiter.key)
            waiter.continuation.resume()
        }
    }

    /// Makes room and writes; returns how many entries were evicted. Tries again if a file or folder was missing:
    /// somebody wiped the folder, or another process swept the temporary file.
    private func write(_ entry: StagingArea.Entry, for key: CacheKey) -> Result<Int, FileFault> {
        let first = Result { () throws(FileFault) in try writeOnce(entry, for: key) }
        guard case .failure(let fault) = first, fault.isAbsence else { return first }
        return Result { () throws(FileFault) in try writeOnce(entry, for: key) }
    }

    private func writeOnce(_ entry: StagingArea.Entry, for key: CacheKey) throws(FileFault) -> Int {
        let folder = try folderForWriting()
        // Never nil: staging has checked the size, and a folder for writing has its counts.
        guard let usage = folder.usage, let size = entry.fileSize(for: key) else { return 0 }
        let index = CacheFolder.index(of: key.digest)
        let amount = UsageFile.Amount(bytes: size, entries: 1)
        // Counted before the write: a crash in between leaves the counts too high, which the next eviction corrects,
        // never too low. Folded at once, to see the stores of other processes.
        usage.add(amount, to: index)
        usage.fold()
        do throws(FileFault) {
            let evicted = try makeRoom(for: amount, at: index, in: folder, usage)
            if let old = try folder.write(entry, for: key) {
                usage.add(.init(bytes: -old, entries: -1), to: index)
            }
            return evicted
        } catch {
            usage.add(.init() - amount, to: index)
            throw error
        }
    }

    private func makeRoom(
        for incoming: UsageFile.Amount, at index: Int, in folder: CacheFolder, _ usage: UsageFile
    ) throws(FileFault) -> Int {
        guard usage.total.bytes > limit else { return 0 }
        // The scan does not find the new entry yet.
        usage.add(.init() - incoming, to: index)
        defer {
            usage.add(incoming, to: index)
            usage.fold()
        }
        return try Eviction(folder: folder, usage: usage, largeCount: largeCount)
            .run(limit: limit, incoming: incoming.bytes)
    }
}

extension StagingArea.Entry {
    /// The length of the entry's file; nil if the format cannot hold it.
    func fileSize(for key: CacheKey) -> Int? {
        EntryHeader.fileSize(
            keyLength: key.text.utf8.count, metadataLength: metadata.count, bodyLength: body.count)
    }
}

extension DiskCache {
    /// An entry as a scan sees it.
    package struct EntrySummary: Sendable {
        /// The canonical URL of its key.
        package let url: String
        /// The length of its file.
        package let bytes: Int

        init(keyText: String, _ entry: ScannedEntry) {
            url = String(keyText.prefix { $0 != "\n" })
            bytes = entry.size
        }
    }

    /// The result of a scan of the whole cache.
    package struct ScanReport: Equatable, Sendable {
        /// Valid entries in the cache now.
        package internal(set) var entries = 0
        /// Their bytes.
        package internal(set) var bytes = 0
        /// Entries that the scan removed.
        package internal(set) var removedEntries = 0
        /// Their bytes.
        package internal(set) var removedBytes = 0
        /// Entries in a later version of the format, which stay.
        package internal(set) var newerEntries = 0
    }

    /// Reads every entry in full, and removes those that fail a check. Other processes may use the cache meanwhile.
    package func verify() async -> ScanReport {
        await scanAll { [self] folder, entry, report throws(FileFault) in
            switch try folder.read(entry, maximum: limit) {
            case .entry: report.keep(entry)
            case .newer: report.newerEntries += 1
            case .absent: break
            case .corrupt(let identity):
                state.withLock { $0.counters.corrupt += 1 }
                if try folder.remove(entry.name, ifStill: identity) { report.removed(entry) }
            }
        }
    }

    /// Calls `visit` with every entry, in no order, by the headers of the files. Returns the sums.
    @discardableResult
    package func forEachEntry(_ visit: @escaping @Sendable (EntrySummary) -> Void) async -> ScanReport {
        await scanAll { folder, entry, report throws(FileFault) in
            switch try folder.keyText(of: entry) {
            case .valid(let text):
                visit(EntrySummary(keyText: text, entry))
                report.keep(entry)
            case .newer: report.newerEntries += 1
            case .corrupt, nil: break
            }
        }
    }

    /// Removes every entry for which `isUnwanted` is true, and every file that is not an entry. Entries in a later
    /// version of the format stay.
    @discardableResult
    package func removeAll(
        where isUnwanted: @escaping @Sendable (EntrySummary) -> Bool
    ) async -> ScanReport {
        await scanAll { folder, entry, report throws(FileFault) in
            switch try folder.keyText(of: entry) {
            case .valid(let text) where !isUnwanted(EntrySummary(keyText: text, entry)):
                report.keep(entry)
            case .valid, .corrupt:
                if try folder.remove(entry.name, ifStill: entry.identity) { report.removed(entry) }
            case .newer: report.newerEntries += 1
            case nil: break
            }
        }
    }

    /// Removes all entries, in any version of the format: on disk, staged, or waiting for room to be staged.
    public func removeAll() async {
        for waiter in state.withLock({ $0.staging.discardAll() }) { waiter.continuation.resume() }
        _ = await scanAll { folder, entry, report throws(FileFault) in
            if try folder.remove(entry.name, ifStill: entry.identity) { report.removed(entry) }
        }
    }

    /// Evicts the least recently used entries until at most `bytes` are left, whatever the limit.
    /// - Returns: what was removed, and what is left by the counts.
    @discardableResult
    package func trim(to bytes: Int) async -> ScanReport {
        await run(on: writer, orElse: ScanReport()) { [self] in
            var report = ScanReport()
            guard let folder = currentFolder(), let usage = folder.usage else { return report }
            defer { usage.fold() }
            do throws(FileFault) {
                let removed = try Eviction(folder: folder, usage: usage, largeCount: largeCount).trim(
                    to: bytes)
                state.withLock { $0.counters.evictions += removed.entries }
                (report.removedEntries, report.removedBytes) = (removed.entries, removed.bytes)
            } catch {
                record(error, writing: true)
            }
            (report.entries, report.bytes) = (usage.total.entries, usage.total.bytes)
            return report
        }
    }

    /// Calls `visit` with every file of the cache, on the writer's thread, and corrects the counts. A failure is a
    /// fault, and the scan continues.
    private func scanAll(
        _ visit: @escaping @Sendable (CacheFolder, ScannedEntry, inout ScanReport) throws(FileFault) -> Void
    ) async -> ScanReport {
        await run(on: writer, orElse: ScanReport()) { [self] in
            var report = ScanReport()
            guard let folder = currentFolder() else { return report }
            for index in 0..<UsageFile.folderCount {
                do throws(FileFault) {
                    let before = (entries: report.removedEntries, bytes: report.removedBytes)
                    for entry in try folder.scan(index) {
                        do throws(FileFault) { try visit(folder, entry, &report) } catch {
                            record(error, writing: false)
                        }
                    }
                    folder.usage?.add(
                        .init(
                            bytes: before.bytes - report.removedBytes,
                            entries: before.entries - report.removedEntries),
                        to: index)
                } catch { record(error, writing: false) }
            }
            folder.usage?.fold()
            return report
        }
    }
}

extension DiskCache.ScanReport {
    fileprivate mutating func keep(_ entry: ScannedEntry) {
        entries += 1
        bytes += entry.size
    }

    fileprivate mutating func removed(_ entry: ScannedEntry) {
        removedEntries += 1
        removedBytes += entry.size
    }
}

extension DiskCache {
    /// The folder for reading, opened at the first use; nil if there is none or it cannot be opened.
    func currentFolder() -> CacheFolder? {
        if let folder = state.withLock({ $0.folder }) { return folder }
        do throws(FileFault) {
            let folder = try CacheFolder(path: path, calls: calls, isForWriting: false)
            let current = adopt(folder)
            if current === folder { enqueue { [weak self] in self?.tidy(folder) } }
            return current
        } catch {
            // A folder that does not exist yet is an empty cache.
            if error.code != ENOENT { record(error, writing: false) }
            return nil
        }
    }

    /// Uses an opened folder from now on, unless another thread was first with one that has counts. Returns the folder in
    /// use.
    func adopt(_ folder: CacheFolder) -> CacheFolder {
        state.withLock { state in
            if let current = state.folder, current.usage != nil || folder.usage == nil { return current }
            state.folder = folder
            return folder
        }
    }

    /// The folder for writing, created if it does not exist. Opens the folder anew if the path leads to another one by
    /// now. On the writer's thread.
    private func folderForWriting() throws(FileFault) -> CacheFolder {
        if let folder = state.withLock({ $0.folder }) {
            if folder.isCurrent { return folder }
            drop(folder)
        }
        let folder = try CacheFolder(path: path, calls: calls, isForWriting: true)
        // Replaces even a folder that a reader has opened meanwhile: that one may not be writable.
        state.withLock { $0.folder = folder }
        if !folder.isNew { tidy(folder) }
        return folder
    }

    /// Drops a folder that is gone, or that the path no longer leads to. The next use opens the folder anew.
    func drop(_ folder: CacheFolder) {
        state.withLock { if $0.folder === folder { $0.folder = nil } }
    }

    /// Removes what a crash left in a folder, and counts its entries if the counts are missing. On the writer's thread.
    private func tidy(_ folder: CacheFolder) {
        do throws(FileFault) {
            try folder.sweep()
            guard let usage = folder.usage, usage.isNew else { return }
            // One job for each subfolder, so that no store waits for the whole count.
            for index in 0..<UsageFile.folderCount {
                enqueue { [weak self] in self?.count(index, in: folder) }
            }
            enqueue { usage.fold() }
        } catch { record(error, writing: true) }
    }

    private func count(_ index: Int, in folder: CacheFolder) {
        do throws(FileFault) { _ = try folder.scan(index) } catch { record(error, writing: true) }
    }

    /// Counts a file of a key that failed a check: an entry, or a partial body.
    func countCorrupt(_ key: CacheKey) {
        state.withLock { $0.counters.corrupt += 1 }
    }

    /// Removes an entry that failed a check.
    private func removeCorrupt(_ key: CacheKey, _ identity: FileIdentity, in folder: CacheFolder) {
        let (name, index) = (CacheFolder.entryName(of: key.digest), CacheFolder.index(of: key.digest))
        countCorrupt(key)
        do throws(FileFault) {
            guard try folder.remove(name, ifStill: identity) else { return }
            folder.usage?.add(.init(bytes: -identity.size, entries: -1), to: index)
        } catch { record(error, writing: true) }
    }

    /// Runs work on the writer's thread. Without a thread the next opening does it.
    private func enqueue(_ work: @escaping @Sendable () -> Void) {
        do {
            try writer.enqueue(work)
        } catch {
            record(FileFault(error), writing: true)
        }
    }

    /// Runs work on the cache's threads. A lack of threads is a fault.
    func run<Value: Sendable>(
        on threads: BlockingThreads, orElse fallback: Value, _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        do {
            return try await threads.run(work)
        } catch {
            record(FileFault(error), writing: false)
            return fallback
        }
    }

    /// Counts a fault and keeps its explanation.
    func record(_ fault: FileFault, writing: Bool) {
        state.withLock { $0.faults.record(fault, writing: writing) }
    }

    /// A path from the root; empty for an empty one, which is no folder's.
    package static func absolutePath(_ path: String) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard !path.isEmpty, !path.hasPrefix("/") else { return path }
        guard let current = unsafe getcwd(nil, 0) else { return "/" + path }
        defer { unsafe free(current) }
        return unsafe String(cString: current) + "/" + path
    }
}

extension FileFault {
    /// The system has no thread for the cache.
    init(_ shortage: ResourceShortage) {
        self.init(kind: .thread, name: "the cache", code: shortage.code)
    }
}

extension DiskCache {
    /// The program's own folder, by its name.
    private static var ownFolder: String { folder(named: UserFolder.programName) + "/images" }

    /// A cache folder that programs share on purpose, by its name below `XDG_CACHE_HOME` or `~/.cache`. `marquee` has the
    /// one named `marquee`.
    /// - Parameter name: the name, without a slash.
    public static func folder(named name: String) -> String {
        UserFolder.path(variable: "XDG_CACHE_HOME", standard: ".cache") + "/" + name
    }
}

extension DiskCache {
    /// The mutable state, under the cache's lock.
    struct State {
        var folder: CacheFolder?
        var staging: StagingArea
        var faults = FaultLog()
        var counters = CacheCounters()
        /// The counts that are in the folder's file.
        var recorded = CacheTotals()

        /// The staged value of a key; counts as a hit.
        mutating func stagedHit(_ key: CacheKey) -> StagingArea.Entry? {
            guard let entry = staging[key] else { return nil }
            counters.hits += 1
            return entry
        }

        mutating func countLookup(isHit: Bool) {
            guard isHit else { return counters.misses += 1 }
            counters.hits += 1
            faults.recovered(writing: false)
        }

        var currentCounters: CacheCounters {
            var counters = counters
            counters.faults = faults.count
            counters.lastFault = faults.last
            if let total = folder?.usage?.total {
                counters.entries = max(0, total.entries)
                counters.bytes = max(0, total.bytes)
            }
            return counters
        }
    }

    /// Counts faults. Repeated failures of one kind are one fault, until the disk works again.
    struct FaultLog {
        private struct Cause: Equatable {
            let kind: FileCalls.Kind
            let code: Int32
        }

        private(set) var count = 0
        private(set) var last: String?
        /// The present causes, by whether the disk was written.
        private var causes: [Bool: Cause] = [:]

        mutating func record(_ fault: FileFault, writing isWriting: Bool) {
            let cause = Cause(kind: fault.kind, code: fault.code)
            last = fault.description
            if causes.updateValue(cause, forKey: isWriting) != cause { count += 1 }
        }

        mutating func recovered(writing isWriting: Bool) {
            // Nearly always there is no fault.
            if !causes.isEmpty { causes[isWriting] = nil }
        }
    }
}
