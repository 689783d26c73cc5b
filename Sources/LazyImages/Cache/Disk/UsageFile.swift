import SystemSupport

/// How many bytes and entries each of the 256 folders of a cache holds, shared by all processes that use it: hints,
/// right but for what a crash left out, and corrected whenever a folder is scanned. A small file:
///
///     offset  bytes
///      0      "marquee usage 1\n"
///     16      for folder 00: bytes, then entries, each a signed 64-bit integer in the machine's order
///     32      for folder 01, and so on; 4,112 bytes in all
///
/// Read and written with ordinary calls under a lock and not mapped: a mapped page of a file that somebody truncates
/// ends the process. Nobody ever waits for the lock, since its holder may be a stopped process: what cannot be
/// written now is kept and written with the next change.
final class UsageFile: Sendable {
    /// What a folder or a whole cache holds, or by how much that changes.
    struct Amount: Equatable, Sendable {
        var bytes = 0
        var entries = 0

        // Wrapping, since the file may claim anything.
        static func + (one: Amount, other: Amount) -> Amount {
            Amount(bytes: one.bytes &+ other.bytes, entries: one.entries &+ other.entries)
        }

        static func - (one: Amount, other: Amount) -> Amount {
            Amount(bytes: one.bytes &- other.bytes, entries: one.entries &- other.entries)
        }
    }

    static let folderCount = 256
    static let name = "usage"
    private static let heading = Array("marquee usage 1\n".utf8)
    private static let byteCount = heading.count + 16 * folderCount

    /// True if the file was missing or no such file: the counts begin at zero and a scan is due.
    let isNew: Bool
    /// Which file it is, whatever its time of change.
    let inode: UInt64
    private let file: Descriptor
    private let calls: FileCalls
    private let state = Lock(State())

    /// Opens the file in the cache folder, making it if there is none.
    init(in folder: borrowing Descriptor, calls: FileCalls) throws(FileFault) {
        let file = try calls.openForWriting(Self.name, in: folder, creating: .ifAbsent)
        inode = try calls.status(of: file).identity.inode
        var bytes = [UInt8](repeating: 0, count: Self.byteCount)
        let isWhole = try calls.read(file, into: &bytes) == Self.byteCount && bytes.starts(with: Self.heading)
        if !isWhole {
            bytes = Self.heading + [UInt8](repeating: 0, count: Self.byteCount - Self.heading.count)
            try calls.write(file, bytes, at: 0)
        }
        isNew = !isWhole
        self.file = file
        self.calls = calls
        state.withLock { $0.load(bytes) }
    }

    /// What the whole cache holds, by the last reading and this process's own changes since.
    var total: Amount { state.withLock { $0.total } }

    /// Notes a change, to be written by the next `fold`.
    func add(_ change: Amount, to index: Int) { state.withLock { $0.change(index, by: change) } }

    /// Corrects a folder's counts to what a scan found.
    func correct(_ index: Int, to found: Amount) {
        state.withLock { $0.change(index, by: found - $0.amount(of: index)) }
    }

    /// Writes what has changed and takes in what others have changed, unless somebody else is just doing so, or the
    /// disk is in the way: then all stays noted. One caller at a time.
    func fold() {
        // Losing the errors is right, down to the last: these are hints, kept for the next time, and the store itself will
        // meet what is wrong too.
        guard (try? calls.tryLock(file)) == true else { return }
        defer { calls.unlock(file) }
        var bytes = [UInt8](repeating: 0, count: Self.byteCount)
        guard (try? calls.read(file, into: &bytes)) == Self.byteCount else { return }
        let changed = state.withLock { state in
            state.load(bytes)
            return state.pending.keys.map { ($0, state.amount(of: $0)) }
        }
        for (index, amount) in changed {
            let words = [Int64(max(0, amount.bytes)), Int64(max(0, amount.entries))]
            let offset = Self.heading.count + 16 * index
            guard (try? calls.write(file, words, at: offset)) != nil else { return }
            state.withLock { $0.settle(index, amount) }
        }
    }
}

extension UsageFile {
    /// The counts as one process sees them.
    private struct State {
        /// As last read from the file or written to it.
        private var table = [Amount](repeating: Amount(), count: folderCount)
        /// Changes that are not in the file yet, by folder.
        private(set) var pending: [Int: Amount] = [:]
        private(set) var total = Amount()

        mutating func load(_ file: [UInt8]) {
            total = Amount()
            unsafe file.withUnsafeBytes { raw in
                for index in table.indices {
                    let offset = heading.count + 16 * index
                    table[index].bytes = unsafe Int(raw.loadUnaligned(fromByteOffset: offset, as: Int64.self))
                    table[index].entries = unsafe Int(
                        raw.loadUnaligned(fromByteOffset: offset + 8, as: Int64.self))
                    total = total + table[index]
                }
            }
            for change in pending.values { total = total + change }
        }

        func amount(of index: Int) -> Amount { table[index] + (pending[index] ?? Amount()) }

        mutating func change(_ index: Int, by change: Amount) {
            pending[index] = (pending[index] ?? Amount()) + change
            total = total + change
        }

        /// `amount` is in the file now; what was noted meanwhile stays.
        mutating func settle(_ index: Int, _ amount: Amount) {
            let rest = self.amount(of: index) - amount
            table[index] = amount
            pending[index] = rest == Amount() ? nil : rest
        }
    }
}
