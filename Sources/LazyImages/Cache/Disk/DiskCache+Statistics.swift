import SystemSupport

extension DiskCache {
    /// The hits, misses and stores for each host, and the lookups of each day, of all processes. Hosts are in lower
    /// case, without port. The empty name is for URLs without a host.
    package func statistics() async -> StatisticsTable {
        await run(on: writer, orElse: StatisticsTable()) { [self] in recordStatistics() }
    }

    /// Adds this instance's statistics to the folder's file, and returns the sums. If another process has the file
    /// locked, or the disk fails, the statistics wait for the next call. On the writer's thread.
    @discardableResult
    func recordStatistics() -> StatisticsTable {
        let changes = state.withLock { state in
            defer { state.statistics = StatisticsTable() }
            return state.statistics.counted(on: FileTime.coarseNow.seconds / Self.secondsPerDay)
        }
        // Losing the error is right: these are hints, and the next store reports a fault of the disk.
        guard let folder = state.withLock({ $0.folder }),
            var known = try? folder.addStatistics(changes)
        else {
            state.withLock { $0.statistics.addHosts(of: changes) }
            return changes
        }
        if !known.isWritten {
            state.withLock { $0.statistics.addHosts(of: changes) }
            known.table.add(changes)
        }
        return known.table
    }

    private static let secondsPerDay = 86_400
}

extension CacheFolder {
    /// The most bytes that are read of a file of statistics.
    private static let statisticsLimit = 1 << 20

    /// Adds to the folder's statistics. Returns the sums, and whether they are written.
    fileprivate func addStatistics(
        _ changes: StatisticsTable
    ) throws(FileFault) -> (table: StatisticsTable, isWritten: Bool) {
        let file = try calls.openForWriting("statistics", in: descriptor, creating: .ifAbsent)
        let isOurs = try calls.tryLock(file)
        defer { calls.unlock(file) }
        let size = min(try calls.status(of: file).size, Self.statisticsLimit)
        var bytes = [UInt8](repeating: 0, count: size)
        let count = try calls.read(file, into: &bytes)
        var table = StatisticsTable(text: String(decoding: bytes.prefix(count), as: UTF8.self))
        guard isOurs, !changes.isEmpty else { return (table, isOurs) }
        table.add(changes)
        // Never shorter than the old text: line feeds overwrite the rest.
        let text = Array(table.text.utf8)
        try calls.write(
            file, text + [UInt8](repeating: UInt8(ascii: "\n"), count: max(0, count - text.count)), at: 0)
        return (table, true)
    }
}
