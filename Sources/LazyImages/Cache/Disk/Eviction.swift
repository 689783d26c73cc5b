import SystemSupport

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
        let lock = try folder.calls.openForWriting("evicting", in: folder.descriptor, creating: .ifAbsent)
        let isOurs = try folder.calls.tryLock(lock)
        defer { folder.calls.unlock(lock) }
        guard isOurs || Double(usage.total.bytes - bound) > Double(limit) * Self.patience else { return 0 }
        let target = Int(Double(limit) * Self.target) - incoming
        return try usage.total.entries <= largeCount
            ? removeFromWhole(downTo: target).entries : makeRoom(downTo: bound)
    }

    /// Removes the least recently used entries until at most `bytes` are left, whatever the limit.
    /// Returns what it removed.
    func trim(to bytes: Int) throws(FileFault) -> UsageFile.Amount {
        guard usage.total.entries > largeCount, usage.total.bytes > 0 else {
            return try removeFromWhole(downTo: bytes)
        }
        return try removeByFolders(downTo: bytes)
    }

    /// Removes what the folders that were scanned last have to give, one entry after the other, only until there is room:
    /// what is left of it is for the stores to come, so that a store waits for one scan at most and never for many removals.
    private func makeRoom(downTo bound: Int) throws(FileFault) -> Int {
        var removed = 0
        var scans = 0
        while usage.total.bytes > bound {
            if let entry = folder.nextDoomed() {
                // Used since it was scanned, or gone: it stays out of this round.
                let status = try folder.calls.statusUnlessAbsent(of: entry.name, in: folder.descriptor)
                guard status?.accessTime == entry.accessTime else { continue }
                if try remove(entry) { removed += 1 }
            } else {
                guard scans < UsageFile.folderCount else { break }
                scans += 1
                let entries = try folder.scan(folder.nextToEvict())
                // The scan may have shown that the counts were wrong.
                guard usage.total.bytes > bound else { break }
                folder.doom(
                    oldest(of: entries, share: Self.share(of: bound, in: usage.total.bytes) * Self.target))
            }
        }
        return removed
    }

    /// The part of its bytes that each folder may keep where `total` bytes are to become `bound`.
    private static func share(of bound: Int, in total: Int) -> Double {
        min(1, max(0, Double(bound) / Double(max(1, total))))
    }

    /// The entries a folder gives up to keep only that share of its bytes, in the order in which they go.
    private func oldest(of entries: [ScannedEntry], share: Double) -> ArraySlice<ScannedEntry> {
        let bytes = entries.reduce(0) { $0 + $1.size }
        var excess = bytes - Int(Double(bytes) * share)
        let ordered = Self.ordered(entries)
        return ordered.prefix { entry in
            defer { excess -= entry.size }
            return excess > 0
        }
    }

    /// Goes round the folders, once, until at most `bound` is left. Each gives up its own part.
    private func removeByFolders(downTo bound: Int) throws(FileFault) -> UsageFile.Amount {
        let share = Self.share(of: bound, in: usage.total.bytes)
        var removed = UsageFile.Amount()
        for _ in 0..<UsageFile.folderCount where usage.total.bytes > bound {
            let entries = try folder.scan(folder.nextToEvict())
            // The scan may have shown that the counts were wrong.
            guard usage.total.bytes > bound else { break }
            for entry in oldest(of: entries, share: share) where try remove(entry) {
                removed = removed + UsageFile.Amount(bytes: entry.size, entries: 1)
            }
        }
        return removed
    }

    private func removeFromWhole(downTo target: Int) throws(FileFault) -> UsageFile.Amount {
        var entries: [ScannedEntry] = []
        for index in 0..<UsageFile.folderCount { entries += try folder.scan(index) }
        var bytes = entries.reduce(0) { $0 + $1.size }
        var removed = UsageFile.Amount()
        for entry in Self.ordered(entries) {
            guard bytes > target else { break }
            bytes -= entry.size
            if try remove(entry) { removed = removed + UsageFile.Amount(bytes: entry.size, entries: 1) }
        }
        return removed
    }

    /// What goes first: what has expired, then what was not used for the longest time.
    private static func ordered(_ entries: [ScannedEntry]) -> [ScannedEntry] {
        let now = FileTime.coarseNow
        return entries.sorted { one, other in
            let (isOneExpired, isOtherExpired) = (one.hasExpired(by: now), other.hasExpired(by: now))
            return isOneExpired != isOtherExpired ? isOneExpired : one.accessTime < other.accessTime
        }
    }

    /// Removes one entry and counts it; false if it is no longer what was scanned.
    private func remove(_ entry: ScannedEntry) throws(FileFault) -> Bool {
        guard try folder.remove(entry.name, ifStill: entry.identity) else { return false }
        usage.add(UsageFile.Amount(bytes: -entry.size, entries: -1), to: entry.index)
        return true
    }
}
