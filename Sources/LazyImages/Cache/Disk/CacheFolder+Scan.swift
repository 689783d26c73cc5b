internal import Glibc
import SystemSupport

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
        guard let folder = try openFolder(index) else {
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

    /// The names of the entries in one of the 256 subfolders.
    func names(_ index: Int) throws(FileFault) -> [String] {
        guard let folder = try openFolder(index) else { return [] }
        let folderName = Self.name(ofIndex: index)
        return try calls.names(in: folder).filter { Self.isEntryName($0, inFolder: folderName) }
    }

    /// One of the 256 subfolders; nil if it does not exist.
    private func openFolder(_ index: Int) throws(FileFault) -> Descriptor? {
        do {
            return try calls.openFolder(Self.name(ofIndex: index), in: descriptor)
        } catch let error where error.code == ENOENT {
            return nil
        }
    }

    private static func isEntryName(_ name: String, inFolder folder: String) -> Bool {
        name.utf8.count == 2 * SHA256.Digest.byteCount && name.hasPrefix(folder)
            && name.utf8.allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
            }
    }

    /// Reads and verifies an entry: its name must be that of its key.
    func read(_ entry: ScannedEntry, maximum: Int) throws(FileFault) -> Lookup {
        let file: Descriptor
        do {
            file = try calls.openForReading(entry.name, in: descriptor)
        } catch let error where error.code == ENOENT {
            return .absent
        }
        let status = try calls.status(of: file)
        guard status.isFile, status.size <= maximum else { return .corrupt(status.identity) }
        switch try EntryFile.read(file, size: status.size, calls: calls) {
        case .newer: return .newer
        case .entry(let found) where Self.entryName(of: SHA256.hash(of: found.keyText)) == entry.name:
            return .entry(found)
        case .entry, .corrupt: return .corrupt(status.identity)
        }
    }

    /// The first bytes of an entry's file, read.
    enum Label {
        /// The text of its key.
        case key(String)
        /// In a later version of the format.
        case newer
        /// Not an entry, despite its name.
        case unreadable
        /// Removed since it was listed.
        case gone
    }

    /// Reads only an entry's header and key.
    func label(of entry: ScannedEntry) throws(FileFault) -> Label {
        let file: Descriptor
        do {
            file = try calls.openForReading(entry.name, in: descriptor)
        } catch let error where error.code == ENOENT {
            return .gone
        }
        var beginning = [UInt8](repeating: 0, count: min(entry.size, 16 * 1024))
        let count = try calls.read(file, into: &beginning)
        switch EntryHeader.read(beginning.span.extracting(first: count), fileSize: entry.size) {
        case .header(let header):
            let text = beginning[..<count].dropFirst(EntryHeader.byteCount).prefix(header.keyLength)
            return .key(String(decoding: text, as: UTF8.self))
        case .newer: return .newer
        case .corrupt: return .unreadable
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
            try moveAside(name, to: aside)
        } catch let error where error.code == ENOENT { return false }
        let isSame = try calls.status(of: aside, in: descriptor).identity == identity
        if !isSame {
            do {
                try calls.link(aside, to: name, in: descriptor)
            } catch let error where error.code == EEXIST {}
        }
        try calls.remove(aside, in: descriptor)
        return isSame
    }

    private func moveAside(_ name: String, to aside: String) throws(FileFault) {
        do {
            try calls.rename(name, to: aside, in: descriptor)
        } catch let error where error.code == ENOENT {
            try calls.makeFolder("tmp", in: descriptor)
            try calls.rename(name, to: aside, in: descriptor)
        }
    }

    /// Removes a key's entry, whatever its identity; returns its size, or nil if there was none.
    func remove(_ key: CacheKey) throws(FileFault) -> Int? {
        let name = Self.entryName(of: key.digest)
        do {
            let size = try calls.status(of: name, in: descriptor).size
            try calls.remove(name, in: descriptor)
            return size
        } catch let error where error.code == ENOENT { return nil }
    }
}
