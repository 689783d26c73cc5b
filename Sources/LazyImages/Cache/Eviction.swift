/// Makes room in a cache folder: removes what has expired, then the least recently used entries, by their files' times.
///
/// A small cache is put in order as a whole. A large one is not, since one store would wait for all of it: there one
/// folder after the other gives up its own least recently used part until there is room. Names are hashes, so each
/// folder is a fair sample of the whole.
///
/// One process does this at a time, so that none does it in vain; but nobody waits for a process that may be stopped
/// in the middle of it. Two at once would remove the same entries, and each counts only what went by its own hand.
struct Eviction {
    /// By how much of the limit the cache may be over it before we no longer leave it to another process.
    private static let patience = 0.02
    /// The part of the limit that is full afterwards.
    private static let target = 0.9

    let folder: CacheFolder
    let usage: UsageFile
    /// Entries above which a cache is large.
    let largeCount: Int

    /// Makes room if the counts say that the limit is crossed with `incoming` bytes more.
    /// Returns how many entries it removed.
    func run(limit: Int, incoming: Int) throws(FileFault) -> Int {
        let bound = limit - incoming
        guard usage.total.bytes > bound else { return 0 }
        let lock = try folder.calls.openForWriting("evicting", in: folder.descriptor, mustBeNew: false)
        let isOurs = try folder.calls.tryLock(lock)
        defer { folder.calls.unlock(lock) }
        guard isOurs || Double(usage.total.bytes - bound) > Double(limit) * Self.patience else { return 0 }
        let target = Int(Double(limit) * Self.target) - incoming
        return try usage.total.entries <= largeCount
            ? removeFromWhole(downTo: target) : removeByFolders(downTo: bound, part: Self.target)
    }

    /// Removes the least recently used entries until at most `bytes` are left, whatever the limit.
    /// Returns how many it removed.
    func trim(to bytes: Int) throws(FileFault) -> Int {
        guard usage.total.entries > largeCount, usage.total.bytes > 0 else {
            return try removeFromWhole(downTo: bytes)
        }
        return try removeByFolders(downTo: bytes, part: 1)
    }

    private func removeFromWhole(downTo target: Int) throws(FileFault) -> Int {
        var entries: [ScannedEntry] = []
        for index in 0..<UsageFile.folderCount { entries += try folder.scan(index) }
        return try remove(entries, downTo: target)
    }

    /// Goes round the folders, once, until the counts are at the bound. Each keeps the newest `part` of its bytes,
    /// or less where the whole is far above the bound.
    private func removeByFolders(downTo bound: Int, part: Double) throws(FileFault) -> Int {
        let share = min(1, max(0, Double(bound) / Double(max(1, usage.total.bytes)))) * part
        var removed = 0
        for _ in 0..<UsageFile.folderCount where usage.total.bytes > bound {
            let entries = try folder.scan(folder.nextToEvict())
            // The scan may have shown that the counts were wrong.
            guard usage.total.bytes > bound else { break }
            let bytes = entries.reduce(0) { $0 + $1.size }
            removed += try remove(entries, downTo: Int(Double(bytes) * share))
        }
        return removed
    }

    /// Removes entries until the rest has at most `target` bytes: what has expired first, then what was not used for the
    /// longest time.
    private func remove(_ entries: [ScannedEntry], downTo target: Int) throws(FileFault) -> Int {
        var bytes = entries.reduce(0) { $0 + $1.size }
        var removed = 0
        let now = FileTime.coarseNow
        let ordered = entries.sorted { one, other in
            let (isOneExpired, isOtherExpired) = (one.hasExpired(by: now), other.hasExpired(by: now))
            return isOneExpired != isOtherExpired ? isOneExpired : one.accessTime < other.accessTime
        }
        for entry in ordered {
            guard bytes > target else { break }
            bytes -= entry.size
            guard try folder.remove(entry.name, ifStill: entry.identity) else { continue }
            usage.add(UsageFile.Amount(bytes: -entry.size, entries: -1), to: entry.index)
            removed += 1
        }
        return removed
    }
}
