import Hashing
internal import Synchronization
import SystemSupport

/// The open folder of a disk cache. Its contents:
///
///     CACHEDIR.TAG     tells backup programs to leave the folder out
///     usage            counts, see UsageFile
///     statistics       lookups and stores so far, see CacheTotals
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
    /// Nil only for a folder that was opened for reading, and is not writable or has no file of a cache.
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
    /// - Throws: a fault, also for a symbolic link, a file or another user's folder at the path, and for a folder with
    ///   files of others that the cache would overwrite.
    init(path: String, calls: FileCalls, isForWriting: Bool) throws(FileFault) {
        // Not "no such folder": that would be an empty cache.
        guard !path.isEmpty else {
            throw FileFault(kind: .open, name: "the folder", code: EINVAL, detail: "its path is empty")
        }
        let folder: Descriptor
        do {
            folder = try Self.open(path, calls)
            isNew = false
        } catch let error where error.code == ENOENT && isForWriting {
            try calls.makeFolders(path)
            folder = try Self.open(path, calls)
            isNew = true
        }
        try calls.checkOwner(of: folder, path: path)
        let isOurs = isNew ? true : try Self.isOurs(folder, calls)
        if isForWriting {
            usage = try UsageFile(in: folder, calls: calls)
            try Self.writeTag(in: folder, calls)
        } else {
            // Ignored: reading needs no counts, and a store reports the same error.
            usage = isOurs ? try? UsageFile(in: folder, calls: calls) : nil
        }
        self.path = path
        self.calls = calls
        descriptor = folder
    }

    /// Whether the path still leads to this folder and the file of counts exists. One system call, before each store.
    var isCurrent: Bool {
        guard let usage else { return false }
        // Ignored: opening the folder anew reports it.
        return (try? calls.status(ofPath: path + "/" + UsageFile.name))?.identity.inode == usage.inode
    }

    /// Whether the folder itself was removed.
    var isGone: Bool {
        // Ignored: a folder that cannot be examined is as useless as one that is gone.
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
    private func newTemporaryName() -> String {
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

    /// Whether the folder is a cache; false if it has nothing yet. The race with a process that makes it one:
    ///
    /// 1. this process finds neither counts nor tag;
    /// 2. the other writes the counts, then the tag, then other files;
    /// 3. this process finds a file that has content, and would take the folder for one of others.
    ///
    /// So it looks for the counts and the tag again: a cache has those before it has anything else.
    /// - Throws: a fault if others have files with the names of a cache's.
    private static func isOurs(_ folder: borrowing Descriptor, _ calls: FileCalls) throws(FileFault) -> Bool {
        if try hasMark(folder, calls) { return true }
        guard let name = try filledName(folder, calls) else { return false }
        if try hasMark(folder, calls) { return true }
        throw FileFault(
            kind: .open, name: name, code: EEXIST,
            detail: "the folder is no cache, and has a file \"\(name)\" already")
    }

    /// Whether the folder has a cache's counts or tag.
    private static func hasMark(_ folder: borrowing Descriptor, _ calls: FileCalls) throws(FileFault) -> Bool
    {
        for (name, mark) in [(UsageFile.name, "marquee usage "), (tagName, "made by Marquee")] {
            let beginning = try calls.unlessAbsent { () throws(FileFault) in
                let file = try calls.openForReading(name, in: folder)
                var bytes = [UInt8](repeating: 0, count: 256)
                return String(decoding: bytes[..<(try calls.read(file, into: &bytes))], as: UTF8.self)
            }
            if beginning?.contains(mark) == true { return true }
        }
        return false
    }

    /// The first file with content that a cache would write over; nil if there is none.
    private static func filledName(
        _ folder: borrowing Descriptor, _ calls: FileCalls
    ) throws(FileFault) -> String? {
        for name in [UsageFile.name, statisticsName, ClaimFile.name] {
            let status = try calls.statusUnlessAbsent(of: name, in: folder)
            if let status, status.isFile, status.size > 0 { return name }
        }
        return nil
    }

    private static let tagName = "CACHEDIR.TAG"
    static let statisticsName = "statistics"

    private static func writeTag(in folder: borrowing Descriptor, _ calls: FileCalls) throws(FileFault) {
        let tag = """
            Signature: 8a477f597d28d172789f06886806bc55
            # This folder is a cache of images made by Marquee: it may be deleted at any time.

            """
        do {
            let file = try calls.openForWriting(tagName, in: folder, creating: .always)
            try calls.write(file, Array(tag.utf8), at: 0)
        } catch let error where error.kind == .open && error.code == EEXIST {}
    }

    /// The result of `body`. If the subfolder is missing, makes it and calls `body` again.
    private func making<Value: ~Copyable>(
        _ subfolder: String, _ body: () throws(FileFault) -> Value
    ) throws(FileFault) -> Value {
        do {
            return try body()
        } catch let error where error.isAbsence {
            try calls.makeFolder(subfolder, in: descriptor)
            return try body()
        }
    }

    /// Opens a file for reading; nil if it does not exist.
    private func openForReading(_ name: String) throws(FileFault) -> Descriptor? {
        try calls.unlessAbsent { () throws(FileFault) in try calls.openForReading(name, in: descriptor) }
    }

    /// Opens a subfolder; nil if it does not exist.
    private func openFolder(_ name: String) throws(FileFault) -> Descriptor? {
        try calls.unlessAbsent { () throws(FileFault) in try calls.openFolder(name, in: descriptor) }
    }
}

extension CacheFolder {
    /// The result of a lookup.
    enum Lookup {
        case entry(EntryFile)
        /// No file, or one that is larger than an entry can be here.
        case absent
        /// In a later version of the format: a miss, which stays.
        case newer
        /// Damaged: a miss, to be removed unless it was replaced meanwhile.
        case corrupt(FileIdentity)
    }

    /// Reads and verifies a key's entry with four calls: open, fstat, read, close.
    /// - Parameters:
    ///   - maximum: the most bytes that an entry's file can have.
    ///   - touchInterval: by how many seconds the access time may be too old.
    func read(_ key: CacheKey, maximum: Int, touchInterval: Int) throws(FileFault) -> Lookup {
        try read(Self.entryName(of: key.digest), maximum: maximum) { entry, file, status in
            guard entry.hasKey(key.text) else { return false }
            if FileTime.coarseNow.seconds(since: status.accessTime) >= touchInterval {
                // Ignored: a disk that cannot be written needs no access times, since nothing is
                // evicted.
                try? calls.touch(file)
            }
            return true
        }
    }

    /// - Parameter isRight: whether the entry is the one that its name promises.
    private func read(
        _ name: String, maximum: Int,
        _ isRight: (EntryFile, borrowing Descriptor, FileStatus) -> Bool
    ) throws(FileFault) -> Lookup {
        guard let file = try openForReading(name) else { return .absent }
        let status = try calls.status(of: file)
        guard status.isFile else { return .corrupt(status.identity) }
        // It may be another process's, whose limit is larger.
        guard status.size <= maximum else { return .absent }
        switch try EntryFile.read(file, size: status.size, calls: calls) {
        case .newer: return .newer
        case .valid(let entry) where isRight(entry, file, status): return .entry(entry)
        case .valid, .corrupt: return .corrupt(status.identity)
        }
    }

    /// The length of a key's body, by the header of its file; the checksum is not verified. Nil without an entry.
    func bodyLength(for key: CacheKey) throws(FileFault) -> Int? {
        guard let file = try openForReading(Self.entryName(of: key.digest)) else { return nil }
        let status = try calls.status(of: file)
        let text = key.text.utf8
        var beginning = [UInt8](repeating: 0, count: EntryHeader.byteCount + text.count)
        guard status.isFile, try calls.read(file, into: &beginning) == beginning.count,
            case .valid(let header) = EntryHeader.read(beginning.span, fileSize: status.size),
            header.keyLength == text.count,
            beginning.dropFirst(EntryHeader.byteCount).elementsEqual(text)
        else { return nil }
        return header.bodyLength
    }

    /// Writes a key's entry to a temporary file and renames it: every reader finds the complete old entry or the
    /// complete new one. Returns the size of the replaced entry.
    func write(_ entry: StagingArea.Entry, for key: CacheKey) throws(FileFault) -> Int? {
        let name = Self.entryName(of: key.digest)
        let temporary = try openTemporary()
        do throws(FileFault) {
            try write(entry, for: key, to: temporary.file)
            // The modification time is the expiry, or in 1970 without one.
            try calls.setTimes(of: temporary.file, modified: Int(EntryHeader.storedExpiry(entry.expiry)))
            // Ignored: mostly there is no old entry, and the counts are hints.
            let old = (try? calls.status(of: name, in: descriptor))?.size
            try making(String(name.prefix(2))) { () throws(FileFault) in
                try calls.rename(temporary.name, to: name, in: descriptor)
            }
            return old
        } catch {
            // Ignored: the first error says more, and the next sweep removes the file.
            try? calls.remove(temporary.name, in: descriptor)
            throw error
        }
    }

    private func write(
        _ entry: StagingArea.Entry, for key: CacheKey, to file: borrowing Descriptor
    ) throws(FileFault) {
        let number = file.number
        let outcome: Result<Void, FileFault> = entry.body.withBytes { body in
            let metadataBytes = entry.metadata
            let (text, metadata) = (key.text.utf8Span.span, metadataBytes.span)
            let bytes = EntryHeader.bytes(
                key: text, metadata: metadata, body: body, expiry: entry.expiry)
            let header = bytes.span
            return unsafe header.withUnsafeBytes { header in
                unsafe text.withUnsafeBytes { text in
                    unsafe metadata.withUnsafeBytes { metadata in
                        unsafe body.withUnsafeBytes { body in
                            do throws(FileFault) {
                                return .success(
                                    try unsafe calls.write(number, [header, text, metadata, body]))
                            } catch { return .failure(error) }
                        }
                    }
                }
            }
        }
        try outcome.get()
    }
}

/// An entry's file as a scan lists it, unread.
struct ScannedEntry: Sendable {
    /// The index of its subfolder, of 256.
    let index: Int
    /// The path below the cache folder: `ab/abcd...`.
    let name: String
    let size: Int
    let accessTime: FileTime
    let identity: FileIdentity

    /// Whether it has expired, by its file's modification time.
    func hasExpired(by now: FileTime) -> Bool {
        identity.modified.seconds > 0 && identity.modified < now
    }
}

extension CacheFolder {
    /// The entries in one of the 256 subfolders. Corrects its counts. Skips files whose names are not those of entries.
    func scan(_ index: Int) throws(FileFault) -> [ScannedEntry] {
        let folderName = Self.name(ofIndex: index)
        guard let folder = try openFolder(folderName) else {
            usage?.correct(index, to: UsageFile.Amount())
            return []
        }
        var entries: [ScannedEntry] = []
        var amount = UsageFile.Amount()
        // Only a file that is gone is skipped. If other failures were, the counts would become too low.
        for name in try calls.names(in: folder) where Self.isEntryName(name, inFolder: folderName) {
            guard let status = try calls.statusUnlessAbsent(of: name, in: folder), status.isFile else {
                continue
            }
            entries.append(
                ScannedEntry(
                    index: index, name: "\(folderName)/\(name)", size: status.size,
                    accessTime: status.accessTime,
                    identity: status.identity))
            amount = amount + UsageFile.Amount(bytes: status.size, entries: 1)
        }
        usage?.correct(index, to: amount)
        return entries
    }

    private static func isEntryName(_ name: String, inFolder folder: String) -> Bool {
        name.hasPrefix(folder) && SHA256.Digest.isHexadecimal(name)
    }

    /// Reads and verifies an entry: its name must be that of its key.
    func read(_ entry: ScannedEntry, maximum: Int) throws(FileFault) -> Lookup {
        try read(entry.name, maximum: maximum) { found, _, _ in
            Self.entryName(of: SHA256.hash(of: found.keyText)) == entry.name
        }
    }

    /// Reads only an entry's header and the text of its key. Nil if it was removed since it was listed; `.corrupt` if it
    /// is not an entry, despite its name.
    func keyText(of entry: ScannedEntry) throws(FileFault) -> EntryReading<String>? {
        guard let file = try openForReading(entry.name) else { return nil }
        var beginning = [UInt8](repeating: 0, count: min(entry.size, 16 * 1024))
        let count = try calls.read(file, into: &beginning)
        switch EntryHeader.read(beginning.span.extracting(first: count), fileSize: entry.size) {
        case .valid(let header):
            let text = beginning[..<count].dropFirst(EntryHeader.byteCount).prefix(header.keyLength)
            return .valid(String(decoding: text, as: UTF8.self))
        case .newer: return .newer
        case .corrupt: return .corrupt
        }
    }

    /// Removes an entry, but never a newer one with the same name. The race:
    ///
    /// 1. this process decides to remove a file: it is corrupt, or the least recently used;
    /// 2. another process replaces it with a valid new one;
    /// 3. removing the name now would lose the new file.
    ///
    /// So the file is first renamed, which is atomic, and then compared. If it is another file than expected, it gets
    /// its name back, unless that name has a newer file by then.
    /// - Returns: whether this call has removed the expected file.
    func remove(_ name: String, ifStill identity: FileIdentity) throws(FileFault) -> Bool {
        let aside = newTemporaryName()
        do {
            try making("tmp") { () throws(FileFault) in try calls.rename(name, to: aside, in: descriptor) }
        } catch let error where error.isAbsence { return false }
        let isSame = try calls.status(of: aside, in: descriptor).identity == identity
        if !isSame {
            do {
                try calls.link(aside, to: name, in: descriptor)
            } catch let error where error.code == EEXIST {}
        }
        try calls.remove(aside, in: descriptor)
        return isSame
    }

    /// Removes a key's entry, whatever its identity; returns its size, or nil if there was none.
    func remove(_ key: CacheKey) throws(FileFault) -> Int? {
        let name = Self.entryName(of: key.digest)
        return try calls.unlessAbsent { () throws(FileFault) in
            let size = try calls.status(of: name, in: descriptor).size
            try calls.remove(name, in: descriptor)
            return size
        }
    }
}

/// A file in `tmp`, locked by this process.
struct TemporaryFile: ~Copyable {
    let file: Descriptor
    let name: String
    let calls: FileCalls

    // Closing the descriptor is not enough: a child process that is just starting has a copy of it, which keeps the
    // lock.
    deinit { calls.unlock(file) }
}

extension CacheFolder {
    /// Creates a file in `tmp` and locks it, so that no sweep takes it for the leftover of a crash. The race:
    ///
    /// 1. this process creates the file;
    /// 2. another process, which opens the cache, finds the file unlocked, locks it and removes its name;
    /// 3. the lock of this process fails, or succeeds after the other process has released its own.
    ///
    /// A sweep holds its lock until the name is removed: in the second case the file has no name. In both cases the
    /// loop creates another file.
    private func openTemporary() throws(FileFault) -> TemporaryFile {
        while true {
            let name = newTemporaryName()
            let file = try making("tmp") { () throws(FileFault) in
                try calls.openForWriting(name, in: descriptor, creating: .always)
            }
            do throws(FileFault) {
                if try calls.tryLock(file), try calls.status(of: file).links > 0 {
                    return TemporaryFile(file: file, name: name, calls: calls)
                }
            } catch {
                // Ignored: the first error says more, and the next sweep removes the file.
                try? calls.remove(name, in: descriptor)
                throw error
            }
        }
    }

    /// Removes the leftovers of crashes from `tmp`: all files that nobody has locked and that have the names of a cache's.
    func sweep() throws(FileFault) {
        guard let folder = try openFolder("tmp") else { return }
        for name in try calls.names(in: folder) where Self.isTemporaryName(name) {
            // Ignored: a file that cannot be locked or removed now is left for the next sweep.
            try? removeUnlessLocked(name, in: folder)
        }
    }

    /// Whether ``newTemporaryName()`` may have made a name: `1f2e3d4c5b6a7988-12`.
    private static func isTemporaryName(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && UInt64(parts[0], radix: 16) != nil && UInt(parts[1]) != nil
    }

    private func removeUnlessLocked(_ name: String, in folder: borrowing Descriptor) throws(FileFault) {
        do {
            let file = try calls.openForReading(name, in: folder)
            guard try calls.tryLock(file) else { return }
            defer { calls.unlock(file) }
            // Fails if the file has been renamed since the listing.
            try calls.remove(name, in: folder)
        } catch let error where error.code == ELOOP {
            // The cache creates no symbolic links.
            try calls.remove(name, in: folder)
        }
    }
}
