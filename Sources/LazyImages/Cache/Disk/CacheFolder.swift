internal import Glibc
internal import Synchronization
import SystemSupport

/// The folder of a disk cache while it is open, and what lies in it:
///
///     CACHEDIR.TAG     tells backup programs to leave the folder out
///     usage            counts, see UsageFile
///     statistics       how the hosts were served, see StatisticsTable
///     evicting         locked by the process that removes what is over the limit
///     tmp/             files being written, locked; unlocked ones are a crash's leftovers
///     00/ ... ff/      entries, each named by the SHA-256 of its key in lower-case hexadecimal, in the folder
///                      named by the first byte of it
///
/// All names are looked up from the folder's descriptor, so that one wiped and made anew, or moved, is noticed and
/// never confused with another.
final class CacheFolder: Sendable {
    let path: String
    let calls: FileCalls
    let descriptor: Descriptor
    /// Nil only for a folder that was opened for reading and that cannot be written.
    let usage: UsageFile?
    /// Made by this opening: nothing can be left in it.
    let isNew: Bool
    /// Makes names in `tmp` that no other process makes.
    private let temporaryPrefix = String(UInt64.random(in: .min ... .max), radix: 16)
    private let temporaryCount = Atomic(0)
    /// Where the eviction of a large cache goes on. Begins anywhere, since many processes do this in turn.
    private let evictionIndex = Atomic(Int.random(in: 0..<UsageFile.folderCount))

    /// Entries of a large cache that are to go when room is needed, the next one last.
    private let doomed = Lock<[ScannedEntry]>([])

    /// Opens the folder at an absolute path.
    /// - Parameters:
    ///   - isForWriting: makes it, and its parents, if there is none, and insists on being able to write.
    /// - Throws: what failed. A symbolic link, a file or another user's folder in its place is refused.
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
            // Losing the error is right: what is only read needs no counts, and a store will meet it again.
            usage = try? UsageFile(in: folder, calls: calls)
        }
        self.path = path
        self.calls = calls
        descriptor = folder
    }

    /// Whether the path still leads here and the counts are in place: one look, to be made before each store.
    var isCurrent: Bool {
        guard let usage else { return false }
        // Losing the error is right: whatever it is, opening the folder anew meets it again and tells.
        return (try? calls.status(ofPath: path + "/" + UsageFile.name))?.identity.inode == usage.inode
    }

    /// Whether the folder itself was removed.
    var isGone: Bool {
        // Losing the error is right: what cannot be looked at is of no more use than what is gone.
        ((try? calls.status(of: descriptor))?.links ?? 0) == 0
    }

    /// The index of the folder of a key's entry.
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

    /// A name in `tmp` that nobody has.
    func newTemporaryName() -> String {
        "tmp/\(temporaryPrefix)-\(temporaryCount.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    /// The index of the folder whose turn it is to give up entries.
    func nextToEvict() -> Int {
        evictionIndex.wrappingAdd(1, ordering: .relaxed).newValue & (UsageFile.folderCount - 1)
    }

    /// Notes entries that are to go as room is needed, in this order.
    func doom(_ entries: ArraySlice<ScannedEntry>) { doomed.withLock { $0 = entries.reversed() } }

    /// The entry that is to go next, which is forgotten with this.
    func nextDoomed() -> ScannedEntry? { doomed.withLock { $0.popLast() } }

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
