import SystemSupport

extension DiskCache {
    /// How the cache served each host, in this and all other processes, by what they have noted; hosts are in lower case,
    /// without port, the empty name stands for URLs without one.
    package func statistics() async -> [String: HostStatistics] {
        await run(on: writer, orElse: [:]) { [self] in noteStatistics().hosts }
    }

    /// Adds what happened here to what the folder knows, unless somebody else is just doing so or the disk is in the way:
    /// then it is kept for the next time. Returns all that is known. On the writer's thread.
    @discardableResult
    func noteStatistics() -> StatisticsTable {
        let news = state.withLock { $0.statistics }
        // Losing the error is right, here and below: these are hints, and whatever is in the way meets the stores too.
        guard let folder = state.withLock({ $0.folder }),
            var known = try? folder.addStatistics(news)
        else { return news }
        if known.isNoted {
            state.withLock { $0.statistics = StatisticsTable() }
        } else {
            known.table.add(news)
        }
        return known.table
    }
}

extension CacheFolder {
    /// The longest file of statistics that is believed.
    private static let statisticsLimit = 1 << 20

    /// Adds to the folder's statistics; returns them, and whether what came anew is among them.
    fileprivate func addStatistics(
        _ news: StatisticsTable
    ) throws(FileFault) -> (table: StatisticsTable, isNoted: Bool) {
        let file = try calls.openForWriting("statistics", in: descriptor, creating: .ifAbsent)
        let isOurs = try calls.tryLock(file)
        defer { calls.unlock(file) }
        let size = min(try calls.status(of: file).size, Self.statisticsLimit)
        var bytes = [UInt8](repeating: 0, count: size)
        let count = try calls.read(file, into: &bytes)
        var table = StatisticsTable(text: String(decoding: bytes.prefix(count), as: UTF8.self))
        guard isOurs, !news.isEmpty else { return (table, isOurs) }
        table.add(news)
        // Never shorter than what was there: line feeds cover the rest.
        let text = Array(table.text.utf8)
        try calls.write(
            file, text + [UInt8](repeating: UInt8(ascii: "\n"), count: max(0, count - text.count)), at: 0)
        return (table, true)
    }
}
