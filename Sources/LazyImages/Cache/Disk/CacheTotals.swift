import SystemSupport

/// The lookups and stores of a disk cache of all processes, as far as they were written; a small file of the cache folder
/// holds them:
///
///     marquee statistics 1
///     hits misses stores corrupt host
///     120 36 36 0
///
/// The last word is empty: older programs have a line for each host, and lines of three numbers for days. Their hosts are
/// summed here.
///
/// Hints: an invalid line is skipped, and what a killed process had not written is lost.
package struct CacheTotals: Equatable, Sendable {
    /// Lookups that found an entry.
    package var hits = 0
    /// Lookups that found no entry.
    package var misses = 0
    /// Values written to the disk.
    package var stores = 0
    /// Entries, and partial bodies of interrupted downloads, that failed a check and were removed.
    package var corrupt = 0

    private static let heading = "marquee statistics 1\n"

    static func + (one: CacheTotals, other: CacheTotals) -> CacheTotals {
        CacheTotals(
            hits: one.hits &+ other.hits, misses: one.misses &+ other.misses,
            stores: one.stores &+ other.stores,
            corrupt: one.corrupt &+ other.corrupt)
    }

    static func - (one: CacheTotals, other: CacheTotals) -> CacheTotals {
        CacheTotals(
            hits: one.hits &- other.hits, misses: one.misses &- other.misses,
            stores: one.stores &- other.stores,
            corrupt: one.corrupt &- other.corrupt)
    }

    /// The sums of a file.
    init(text: String) {
        self.init()
        guard text.hasPrefix(Self.heading) else { return }
        for line in text.split(separator: "\n").dropFirst(2) {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            let numbers = words.prefix(4).compactMap { Int($0) }
            guard words.count == 5, numbers.count == 4 else { continue }
            self =
                self
                + CacheTotals(
                    hits: numbers[0], misses: numbers[1], stores: numbers[2], corrupt: numbers[3])
        }
    }

    init(hits: Int = 0, misses: Int = 0, stores: Int = 0, corrupt: Int = 0) {
        (self.hits, self.misses, self.stores, self.corrupt) = (hits, misses, stores, corrupt)
    }

    var text: String {
        Self.heading + "hits misses stores corrupt host\n\(hits) \(misses) \(stores) \(corrupt) \n"
    }
}

extension DiskCache {
    /// The hits, misses and stores of all processes.
    package func totals() async -> CacheTotals {
        await run(on: writer, orElse: CacheTotals()) { [self] in recordTotals() }
    }

    /// Adds this instance's counts to the folder's file, and returns the sums. If another process has the file locked, or
    /// the disk fails, the counts wait for the next call. On the writer's thread.
    @discardableResult
    func recordTotals() -> CacheTotals {
        let (now, changes) = state.withLock { ($0.counters.totals, $0.unrecorded) }
        // Ignored: these are hints, and the next store reports a fault of the disk.
        guard let folder = state.withLock({ $0.folder }), folder.usage != nil,
            let known = try? folder.addTotals(changes)
        else { return changes }
        if known.isWritten { state.withLock { $0.recorded = now } }
        return known.totals
    }
}

extension DiskCache.State {
    /// What is not in the folder's file yet.
    var unrecorded: CacheTotals { counters.totals - recorded }
}

extension CacheCounters {
    fileprivate var totals: CacheTotals {
        CacheTotals(hits: hits, misses: misses, stores: stores, corrupt: corrupt)
    }
}

extension CacheFolder {
    /// The most bytes that are read of a file of totals: those of older programs have a line for each host.
    private static let totalsLimit = 1 << 20

    /// Adds to the folder's totals. Returns the sums, and whether they are written.
    fileprivate func addTotals(
        _ changes: CacheTotals
    ) throws(FileFault) -> (totals: CacheTotals, isWritten: Bool) {
        let file = try calls.openForWriting(Self.statisticsName, in: descriptor, creating: .ifAbsent)
        let isOurs = try calls.tryLock(file)
        defer { calls.unlock(file) }
        let size = min(try calls.status(of: file).size, Self.totalsLimit)
        var bytes = [UInt8](repeating: 0, count: size)
        let count = try calls.read(file, into: &bytes)
        let totals = CacheTotals(text: String(decoding: bytes.prefix(count), as: UTF8.self)) + changes
        guard isOurs, changes != CacheTotals() else { return (totals, isOurs) }
        // Never shorter than the old text: line feeds overwrite the rest.
        let text = Array(totals.text.utf8)
        try calls.write(
            file, text + [UInt8](repeating: UInt8(ascii: "\n"), count: max(0, count - text.count)), at: 0)
        return (totals, true)
    }
}
