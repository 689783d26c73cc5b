internal import Synchronization
import SystemSupport

/// Claims on keys: the process that holds a claim fetches, and processes that want the same wait. All claims are in one
/// small file of the cache folder, `claims`.
///
/// A claim is a lock on one byte, at the offset that the key's digest gives, mostly far beyond the file's end. The
/// system releases the lock when the process ends, however it ends. A claim makes and removes no file: a crash leaves
/// nothing, and no file can be removed while another process locks it. Two keys with one offset, 1 in 2^62, only wait
/// for each other. The locks belong to the open file: two caches on one folder exclude each other in one process as in
/// two.
///
/// The content of the file records the fetches that ended without being cut off. An entry records the last one of its
/// keys:
///
///     offset  bytes
///      0      entry 0: a 64-bit integer in the machine's order. Upper half: that of the key's digest's first 64 bits.
///             Lower half: a number that changes with each end
///      8      entry 1, and so on; 8,192 entries in all, 64 KiB
///
/// Read and written with ordinary calls, as `UsageFile` is. Nobody locks the entries: a lost one costs a wait, or one
/// more look on disk.
final class ClaimFile: Sendable {
    /// The result of an attempt to claim a key.
    enum Attempt {
        case taken
        /// This cache has it already. Its pool of transfers decides who shares one.
        case ours
        /// Another process, or another cache of this one, has it.
        case elsewhere
        /// The file system has no locks.
        case impossible
    }

    /// A key's entry: it changes when a fetch of the key, or of another one with the same entry, ends.
    struct Mark: Equatable {
        fileprivate let word: UInt64

        /// Whether the last end was one of this key.
        func isOf(_ key: CacheKey) -> Bool { word >> 32 == key.digest.first >> 32 }
    }

    static let name = "claims"
    private static let entryCount = 8192
    private static let entrySize = 8

    private let file: Descriptor
    private let calls: FileCalls
    /// The offsets that this cache has locked: the system would let it lock them again.
    private let held = Lock<Set<Int>>([])
    private let lastEnd = Atomic(UInt32.random(in: .min ... .max))

    /// Opens the file in the cache folder, making it if there is none.
    /// - Throws: ENOLCK on a network file system, where each claim would wait for the network.
    init(in folder: borrowing Descriptor, calls: FileCalls) throws(FileFault) {
        file = try calls.openForWriting(Self.name, in: folder, creating: .ifAbsent)
        self.calls = calls
        if try calls.isRemote(file) { throw FileFault(kind: .lock, name: Self.name, code: ENOLCK) }
    }

    /// Claims a key. Does not wait.
    func take(_ key: CacheKey) -> Attempt {
        let offset = Self.offset(of: key)
        // Under the lock: two callers at once must not both get the byte.
        return held.withLock { held in
            if held.contains(offset) { return .ours }
            do throws(FileFault) {
                guard try calls.tryLock(byte: offset, of: file) else { return .elsewhere }
            } catch { return .impossible }
            held.insert(offset)
            return .taken
        }
    }

    /// Gives up a claim.
    func release(_ key: CacheKey) {
        let offset = Self.offset(of: key)
        held.withLock { held in
            calls.unlock(byte: offset, of: file)
            held.remove(offset)
        }
    }

    /// A key's mark now.
    func mark(of key: CacheKey) -> Mark {
        var bytes = [UInt8](repeating: 0, count: Self.entrySize)
        // Ignored: without marks, waiters still find what is on disk. The file may be too short: then no
        // fetch has ended.
        let count = try? calls.read(file, into: &bytes, at: Self.place(of: key))
        guard count == bytes.count else { return Mark(word: 0) }
        return Mark(word: unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt64.self) })
    }

    /// Notes that a fetch of a key has ended, and that its file is on disk if it may be stored. Blocks: not for the
    /// cooperative pool.
    func recordEnd(of key: CacheKey) {
        let end = lastEnd.wrappingAdd(1, ordering: .relaxed).newValue
        let word = key.digest.first & 0xffff_ffff_0000_0000 | UInt64(end)
        // Ignored: see `mark`.
        try? calls.write(file, [word], at: Self.place(of: key))
    }

    private static func offset(of key: CacheKey) -> Int { Int(key.digest.second >> 2) }

    private static func place(of key: CacheKey) -> Int {
        Int(key.digest.first % UInt64(entryCount)) * entrySize
    }
}

extension CacheFolder {
    /// The claims on keys in a folder.
    enum Claims {
        case unopened
        case open(ClaimFile)
        /// The folder is on a network file system.
        case impossible
    }

    fileprivate func openClaims() -> ClaimFile? {
        claims.withLock { claims in
            switch claims {
            case .open(let file): return file
            case .impossible: return nil
            case .unopened:
                do throws(FileFault) {
                    let file = try ClaimFile(in: descriptor, calls: calls)
                    claims = .open(file)
                    return file
                } catch {
                    // Without claims each process fetches for itself. A folder that cannot be written may be repaired.
                    if error.code == ENOLCK { claims = .impossible }
                    return nil
                }
            }
        }
    }
}

extension DiskCache {
    /// A key's entry, and the mark of its claim from before the look; nil before the first claim. Both are read in one
    /// job of the cache's threads.
    func entry(
        for key: CacheKey, claimedAs claim: CacheKey
    ) async -> (entry: Entry?, mark: ClaimFile.Mark?) {
        await run(on: readers, orElse: (nil, nil)) { [self] in
            var mark: ClaimFile.Mark?
            if case .open(let file) = state.withLock({ $0.folder })?.claims.withLock({ $0 }) {
                mark = file.mark(of: claim)
            }
            return (readEntry(for: key), mark)
        }
    }

    /// The claims of all processes with this folder; nil if there can be none. Opens the file, and makes it and the
    /// folder if they are not there: processes that begin to fetch at the same time must find each other. Blocks.
    func openClaims() -> ClaimFile? {
        // A folder that nobody has stored in gets a cache's tag first: the file alone could be anybody's.
        if let folder = currentFolder(), folder.usage != nil { return folder.openClaims() }
        // Ignored: the store that follows the fetch meets it again, and counts it.
        guard let made = try? CacheFolder(path: path, calls: calls, isForWriting: true) else { return nil }
        return adopt(made).openClaims()
    }

    /// Runs `work` once everything stored before this call is on the disk as far as it ever will be. Does not wait for
    /// it.
    func afterStores(_ work: @escaping @Sendable () -> Void) {
        // Without a thread nothing is stored.
        do { try writer.enqueue(work) } catch { work() }
    }
}
