/// What the rows show, and what each reader has yet to be told. A plain struct, not safe for concurrent use: `RowBoard`
/// holds it under its lock.
///
/// A reader that is slow misses what has passed and gets the newest state of each row. What it costs is bounded however
/// slow it is: images are held only for rows that show one now, and a row is noted as a number, and only if it shows
/// something or the reader believes that it does.
struct RowNotices {
    /// What one reader knows.
    struct Reader {
        /// Rows that have news.
        var fresh: Set<Int> = []
        /// Rows that had news when the last of these was read, the next one last: taken up together, so that a row with
        /// ever more news does not hold up the others.
        var batch: [Int] = []
        /// Rows that show something as far as the reader knows.
        var told: Set<Int> = []
    }

    /// Those that show more than a placeholder.
    private var states: [Int: RowState] = [:]
    private(set) var readers: [Int: Reader] = [:]
    private var lastReader = 0
    var counters = ImageListCounters()
    var list = 0

    /// What a row shows.
    func state(of row: Int) -> RowState { states[row] ?? .placeholder }

    /// Notes what a row shows from now on, and returns what it showed.
    mutating func post(_ state: RowState, for row: Int) -> RowState? {
        let before = states.removeValue(forKey: row)
        var isPlaceholder = true
        if case .placeholder = state {} else { isPlaceholder = false }
        if !isPlaceholder { states[row] = state }
        for reader in readers.keys {
            if isPlaceholder, readers[reader]?.told.contains(row) == false {
                readers[reader]?.fresh.remove(row)
            } else {
                readers[reader]?.fresh.insert(row)
            }
        }
        return before
    }

    /// Adds a reader, for whom everything that is shown is news.
    mutating func addReader() -> Int {
        lastReader += 1
        readers[lastReader] = Reader(fresh: Set(states.keys))
        return lastReader
    }

    mutating func removeReader(_ reader: Int) { readers[reader] = nil }

    /// The next news for a reader, or nil if it knows everything.
    mutating func next(for number: Int) -> RowUpdate? {
        guard var reader = readers.removeValue(forKey: number) else { return nil }
        defer { readers[number] = reader }
        while true {
            if reader.batch.isEmpty {
                reader.batch = reader.fresh.sorted(by: >)
                reader.fresh.removeAll(keepingCapacity: true)
            }
            guard let row = reader.batch.popLast() else { return nil }
            reader.fresh.remove(row)
            if let state = states[row] {
                reader.told.insert(row)
                return RowUpdate(row: row, state: state, list: list)
            }
            // What came and went between two readings is no news.
            if reader.told.remove(row) != nil { return RowUpdate(row: row, state: .placeholder, list: list) }
        }
    }
}
