import SystemSupport

/// Evicts entries from a cache folder: expired ones first, then the least recently used, by their files' times.
///
/// A small cache is scanned as a whole. In a large one a store would wait too long for that: there one subfolder after
/// the other loses its own least recently used share, until there is room. Names are hashes, so each subfolder is a
/// fair sample of the whole.
///
/// One process evicts at a time, to avoid double work. But nobody waits for it: it may be stopped. Two processes at
/// once would choose the same entries, and each counts only those that it removed itself.
struct Eviction {
    /// How far the cache may exceed the limit, as a share of it, while another process evicts.
    private static let tolerance = 0.02
    /// The share of the limit that is used after an eviction.
    private static let target = 0.9

    let folder: CacheFolder
    let usage: UsageFile
    /// The number of entries above which a cache is large.
    let largeCount: Int

    /// Evicts if the counts with `incoming` more bytes exceed the limit. Returns how many entries it removed.
    func run(limit: Int, incoming: Int) throws(FileFault) -> Int {
        let bound = limit - incoming
        guard usage.total.bytes > bound else { return 0 }
        let lock = try folder.calls.openForWriting("evicting", in: folder.descriptor, creating: .ifAbsent)
        let isOurs = try folder.calls.tryLock(lock)
        defer { folder.calls.unlock(lock) }
        guard isOurs || Double(usage.total.bytes - bound) > Double(limit) * Self.tolerance else { return 0 }
        let target = Int(Double(limit) * Self.target) - incoming
        return try usage.total.entries <= largeCount
            ? removeFromWhole(downTo: target).entries : makeRoom(downTo: bound)
    }

    /// Evicts the least recently used entries until at most `bytes` are left, whatever the limit. Returns what it
    /// removed.
    func trim(to bytes: Int) throws(FileFault) -> UsageFile.Amount {
        guard usage.total.entries > largeCount, usage.total.bytes > 0 else {
            return try removeFromWhole(downTo: bytes)
        }
        return try removeByFolders(downTo: bytes)
    }

    /// Evicts entries that earlier scans have chosen, and scans another subfolder when they are used up, until there is
    /// room. Chosen entries that are left serve later stores. So a store waits for few scans and few removals.
    private func makeRoom(downTo bound: Int) throws(FileFault) -> Int {
        var removed = 0
        var scans = 0
        while usage.total.bytes > bound {
            if let entry = folder.nextVictim() {
                // Skips an entry that was used since the scan, or is gone.
                let status = try folder.calls.statusUnlessAbsent(of: entry.name, in: folder.descriptor)
                guard status?.accessTime == entry.accessTime else { continue }
                if try remove(entry) { removed += 1 }
            } else {
                guard scans < UsageFile.folderCount else { break }
                scans += 1
                let entries = try folder.scan(folder.nextToEvict())
                // The scan may have corrected the counts.
                guard usage.total.bytes > bound else { break }
                folder.recordVictims(
                    oldest(of: entries, share: Self.share(of: bound, in: usage.total.bytes) * Self.target))
            }
        }
        return removed
    }

    /// The share of its bytes that each subfolder may keep, to reduce `total` bytes to `bound`.
    private static func share(of bound: Int, in total: Int) -> Double {
        min(1, max(0, Double(bound) / Double(max(1, total))))
    }

    /// The entries that a subfolder loses to keep only this share of its bytes, in the order of eviction.
    private func oldest(of entries: [ScannedEntry], share: Double) -> ArraySlice<ScannedEntry> {
        let bytes = entries.reduce(0) { $0 + $1.size }
        var excess = bytes - Int(Double(bytes) * share)
        let ordered = Self.ordered(entries)
        return ordered.prefix { entry in
            defer { excess -= entry.size }
            return excess > 0
        }
    }

    /// Visits each subfolder at most once, until at most `bound` is left. Each loses the same share.
    private func removeByFolders(downTo bound: Int) throws(FileFault) -> UsageFile.Amount {
        let share = Self.share(of: bound, in: usage.total.bytes)
        var removed = UsageFile.Amount()
        for _ in 0..<UsageFile.folderCount where usage.total.bytes > bound {
            let entries = try folder.scan(folder.nextToEvict())
            // The scan may have corrected the counts.
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

    /// The order of eviction: expired entries, then the least recently used.
    private static func ordered(_ entries: [ScannedEntry]) -> [ScannedEntry] {
        let now = FileTime.coarseNow
        return entries.sorted { one, other in
            let (isOneExpired, isOtherExpired) = (one.hasExpired(by: now), other.hasExpired(by: now))
            return isOneExpired != isOtherExpired ? isOneExpired : one.accessTime < other.accessTime
        }
    }

    /// Removes one entry and counts it; false if its file has changed since the scan.
    private func remove(_ entry: ScannedEntry) throws(FileFault) -> Bool {
        guard try folder.remove(entry.name, ifStill: entry.identity) else { return false }
        usage.add(UsageFile.Amount(bytes: -entry.size, entries: -1), to: entry.index)
        return true
    }
}
