internal import Glibc
internal import Synchronization
import SystemSupport

/// The open folder of a disk cache. Its contents:
///
///     CACHEDIR.TAG     tells backup programs to leave the folder out
///     usage            counts, see UsageFile
///     statistics       how the hosts were served, see StatisticsTable
///     evicting         locked by the process that removes what is over the limit
///     claims           locked in parts by the processes that fetch, see ClaimFile
///     tmp/             files being written, locked; unlocked ones are a crash's leftovers
///     00/ ... ff/      entries, each named by the SHA-256 of its key in lower-case hexadecimal, in the folder
///                      named by the first byte of it
///
/// All names are relative to the folder's descriptor. So a folder that was wiped, moved or replaced is never confused
/// with another.
final class CacheFolder: Sendable {
    let path: String
    let calls: FileCalls
    let descriptor: Descriptor
    /// Nil only for a folder that was opened for reading and is not writable.
    let usage: UsageFile?
    /// Whether this opening created the folder: it has no leftovers.
    let isNew: Bool
    /// Makes names in `tmp` unique among all processes.
    private let temporaryPrefix = String(UInt64.random(in: .min ... .max), radix: 16)
    private let temporaryCount = Atomic(0)
    /// The subfolder with which the eviction of a large cache continues. Starts at random, since many processes evict.
    private let evictionIndex = Atomic(Int.random(in: 0..<UsageFile.folderCount))

    /// The claims of transfers; the first transfer opens them.
    let claims = Lock(Claims.unopened)

    /// Entries of a large cache to evict next, in reverse order.
    private let victims = Lock<[ScannedEntry]>([])

    /// Opens the folder at an absolute path.
    /// - Parameters:
    ///   - isForWriting: whether to create the folder and its parents if there is none, and to fail if it is not
    ///     writable.
    /// - Throws: a fault, also for a symbolic link, a file or another user's folder at the path.
    init(path: String, calls: FileCalls, isForWriting: Bool) throws(FileFault) {
        let folder: Descriptor
        do {
            folder = try Self.open(path, calls)
            isNew = false
        } catch let error where error.code == ENOENT && isForWriting {
            try calls.makeFolders(path)
            folder = try Self.open(path, calls)
            isNew = true
        }
        let owner = try calls.status(of: folder).owner
        guard owner == geteuid() else {
            throw FileFault(
                kind: .open, name: path, code: EPERM, detail: "it belongs to another user (\(owner))")
        }
        if isForWriting {
            usage = try UsageFile(in: folder, calls: calls)
            try Self.writeTag(in: folder, calls)
        } else {
            // Losing the error is right: reading needs no counts, and a store reports the same error.
            usage = try? UsageFile(in: folder, calls: calls)
        }
        self.path = path
        self.calls = calls
        descriptor = folder
    }

    /// Whether the path still leads to this folder and the file of counts exists. One system call, before each store.
    var isCurrent: Bool {
        guard let usage else { return false }
        // Losing the error is right: opening the folder anew reports it.
        return (try? calls.status(ofPath: path + "/" + UsageFile.name))?.identity.inode == usage.inode
    }

    /// Whether the folder itself was removed.
    var isGone: Bool {
        // Losing the error is right: a folder that cannot be examined is as useless as one that is gone.
        ((try? calls.status(of: descriptor))?.links ?? 0) == 0
    }

    /// The index of the subfolder of a key's entry.
    static func index(of digest: SHA256.Digest) -> Int { Int(digest.first >> 56) }

    /// `00` to `ff`.
    static func name(ofIndex index: Int) -> String { (index < 16 ? "0" : "") + String(index, radix: 16) }

    /// The name of a key's entry below the cache folder.
    static func entryName(of digest: SHA256.Digest) -> String {
        unsafe String(unsafeUninitializedCapacity: 3 + 2 * SHA256.Digest.byteCount) { buffer in
            unsafe buffer[0] = digest.hexadecimalDigit(at: 0)
            unsafe buffer[1] = digest.hexadecimalDigit(at: 1)
            unsafe buffer[2] = UInt8(ascii: "/")
            for index in 0..<2 * SHA256.Digest.byteCount {
                unsafe buffer[3 + index] = digest.hexadecimalDigit(at: index)
            }
            return 3 + 2 * SHA256.Digest.byteCount
        }
    }

    /// A new unique name in `tmp`.
    func newTemporaryName() -> String {
        "tmp/\(temporaryPrefix)-\(temporaryCount.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    /// The index of the subfolder to evict from next.
    func nextToEvict() -> Int {
        evictionIndex.wrappingAdd(1, ordering: .relaxed).newValue & (UsageFile.folderCount - 1)
    }

    /// Notes entries to evict as room is needed, in this order.
    func recordVictims(_ entries: ArraySlice<ScannedEntry>) { victims.withLock { $0 = entries.reversed() } }

    /// Takes the entry to evict next.
    func nextVictim() -> ScannedEntry? { victims.withLock { $0.popLast() } }

    private static func open(_ path: String, _ calls: FileCalls) throws(FileFault) -> Descriptor {
        do {
            return try calls.openFolder(path)
        } catch let error where error.code == ENOTDIR || error.code == ELOOP {
            let detail = "it is a symbolic link or a file, not a folder"
            throw FileFault(kind: .open, name: path, code: error.code, detail: detail)
        }
    }

    private static func writeTag(in folder: borrowing Descriptor, _ calls: FileCalls) throws(FileFault) {
        let tag = """
            Signature: 8a477f597d28d172789f06886806bc55
            # This folder is a cache of images made by Marquee: it may be deleted at any time.

            """
        let file: Descriptor
        do {
            file = try calls.openForWriting("CACHEDIR.TAG", in: folder, creating: .always)
        } catch let error where error.code == EEXIST {
            return
        }
        try calls.write(file, Array(tag.utf8), at: 0)
    }
}
