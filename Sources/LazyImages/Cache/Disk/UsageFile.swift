import SystemSupport

/// The bytes and entries in each of a cache's 256 subfolders, shared by all processes. The counts are hints: a crash
/// can make them wrong, and every scan of a subfolder corrects them. A small file:
///
///     offset  bytes
///      0      "marquee usage 1\n"
///     16      for folder 00: bytes, then entries, each a signed 64-bit integer in the machine's order
///     32      for folder 01, and so on; 4,112 bytes in all
///
/// Read and written with ordinary calls under a lock, not mapped: if somebody truncated a mapped file, this process
/// would die. Nobody waits for the lock, since its holder may be a stopped process: changes that cannot be written now
/// are written with the next one.
final class UsageFile: Sendable {
    /// The bytes and entries of a subfolder or a whole cache, or a change of them.
    struct Amount: Equatable, Sendable {
        var bytes = 0
        var entries = 0

        // Wrapping, since the file may hold any number.
        static func + (one: Amount, other: Amount) -> Amount {
            Amount(bytes: one.bytes &+ other.bytes, entries: one.entries &+ other.entries)
        }

        static func - (one: Amount, other: Amount) -> Amount {
            Amount(bytes: one.bytes &- other.bytes, entries: one.entries &- other.entries)
        }
    }

    static let folderCount = 256
    static let name = "usage"
    /// The first 16 bytes, as two words.
    private static let heading = unsafe Array("marquee usage 1\n".utf8).withUnsafeBytes { bytes in
        [0, wordSize].map { unsafe bytes.loadUnaligned(fromByteOffset: $0, as: Int64.self) }
    }
    private static let wordCount = heading.count + 2 * folderCount
    private static let wordSize = MemoryLayout<Int64>.size

    /// Whether the file was missing or invalid: the counts start at zero, and a scan is due.
    let isNew: Bool
    /// Identifies the file.
    let inode: UInt64
    private let file: Descriptor
    private let calls: FileCalls
    private let state = Lock(State())

    /// Opens the file in the cache folder, and creates it if there is none.
    init(in folder: borrowing Descriptor, calls: FileCalls) throws(FileFault) {
        let file = try calls.openForWriting(Self.name, in: folder, creating: .ifAbsent)
        inode = try calls.status(of: file).identity.inode
        var words = [Int64](repeating: 0, count: Self.wordCount)
        let isWhole =
            try calls.read(file, into: &words) == Self.wordCount * Self.wordSize
            && words.starts(with: Self.heading)
        if !isWhole {
            words = Self.heading + [Int64](repeating: 0, count: 2 * Self.folderCount)
            try calls.write(file, words, at: 0)
        }
        isNew = !isWhole
        self.file = file
        self.calls = calls
        state.withLock { $0.load(words) }
    }

    /// The sums, by the last reading and this process's changes since.
    var total: Amount { state.withLock { $0.total } }

    /// Notes a change. The next `fold` writes it.
    func add(_ change: Amount, to index: Int) { state.withLock { $0.change(index, by: change) } }

    /// Sets a subfolder's counts to the result of a scan.
    func correct(_ index: Int, to found: Amount) {
        state.withLock { $0.change(index, by: found - $0.amount(of: index)) }
    }

    /// Writes this process's changes and reads those of others. If another process has the file locked, or the disk
    /// fails, the changes wait for the next call. One caller at a time.
    func fold() {
        // Ignored, also below: the changes stay pending, and the store itself reports a fault of the disk.
        guard (try? calls.tryLock(file)) == true else { return }
        defer { calls.unlock(file) }
        var words = [Int64](repeating: 0, count: Self.wordCount)
        guard (try? calls.read(file, into: &words)) == Self.wordCount * Self.wordSize else { return }
        let changed = state.withLock { state in
            state.load(words)
            return state.pending.keys.map { ($0, state.amount(of: $0)) }
        }
        for (index, amount) in changed {
            let words = [Int64(max(0, amount.bytes)), Int64(max(0, amount.entries))]
            let offset = (Self.heading.count + 2 * index) * Self.wordSize
            // Ignored: see above.
            guard (try? calls.write(file, words, at: offset)) != nil else { return }
            state.withLock { $0.settle(index, amount) }
        }
    }
}

extension UsageFile {
    /// The counts as one process sees them.
    private struct State {
        /// The counts as last read or written.
        private var table = [Amount](repeating: Amount(), count: folderCount)
        /// Changes that are not in the file yet, by subfolder.
        private(set) var pending: [Int: Amount] = [:]
        private(set) var total = Amount()

        mutating func load(_ words: [Int64]) {
            total = Amount()
            for index in table.indices {
                let first = heading.count + 2 * index
                table[index] = Amount(bytes: Int(words[first]), entries: Int(words[first + 1]))
                total = total + table[index]
            }
            for change in pending.values { total = total + change }
        }

        func amount(of index: Int) -> Amount { table[index] + (pending[index] ?? Amount()) }

        mutating func change(_ index: Int, by change: Amount) {
            pending[index] = (pending[index] ?? Amount()) + change
            total = total + change
        }

        /// Notes that `amount` is written. Changes since then stay pending.
        mutating func settle(_ index: Int, _ amount: Amount) {
            let rest = self.amount(of: index) - amount
            table[index] = amount
            pending[index] = rest == Amount() ? nil : rest
        }
    }
}
