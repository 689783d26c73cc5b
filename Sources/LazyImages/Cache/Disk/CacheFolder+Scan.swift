internal import Glibc
import SystemSupport

/// An entry's file as a scan finds it, unread.
struct ScannedEntry: Sendable {
    /// Which of the 256 folders it lies in.
    let index: Int
    /// Below the cache folder: `ab/abcd...`.
    let name: String
    let size: Int
    let accessTime: FileTime
    let identity: FileIdentity

    /// Whether it has expired, by its file's time of change.
    func hasExpired(by now: FileTime) -> Bool {
        identity.modified.seconds > 0 && identity.modified < now
    }
}

extension CacheFolder {
    /// The entries in one of the 256 folders, and its counts corrected to them. What is none of ours by its name is
    /// left out.
    func scan(_ index: Int) throws(FileFault) -> [ScannedEntry] {
        let folderName = Self.name(ofIndex: index)
        guard let folder = try openFolder(index) else {
            usage?.correct(index, to: UsageFile.Amount())
            return []
        }
        var entries: [ScannedEntry] = []
        var amount = UsageFile.Amount()
        // A failure other than a file that is gone is one: a scan that passes over what is there would make the counts too
        // low.
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

    /// The names of the entries in one of the 256 folders.
    func names(_ index: Int) throws(FileFault) -> [String] {
        guard let folder = try openFolder(index) else { return [] }
        let folderName = Self.name(ofIndex: index)
        return try calls.names(in: folder).filter { Self.isEntryName($0, inFolder: folderName) }
    }

    /// One of the 256 folders; nil where it is not there.
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

    /// Reads and verifies an entry by its file alone: its name must be that of the key it holds.
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

    /// What the beginning of an entry's file says it is.
    enum Label {
        /// The text of its key.
        case key(String)
        /// Of a later version of the format.
        case newer
        /// No entry, whatever its name.
        case unreadable
        /// Removed since it was listed.
        case gone
    }

    /// Reads an entry's header and key, and no more of it.
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

    /// Removes an entry, but never a newer one that has taken its name:
    ///
    /// 1. we judged a file, as corrupt or as the least recently used;
    /// 2. another process replaces it with a good new one;
    /// 3. removing the name now would lose the new one.
    ///
    /// So the name is first moved aside, which takes it from all others at once, then looked at; what is not the file
    /// that was judged goes back to its place, unless one newer still is there already.
    /// - Returns: whether the file that was judged is gone by our hand.
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

    /// Removes an entry whichever it is; returns its size, or nil if there was none.
    func remove(_ key: CacheKey) throws(FileFault) -> Int? {
        let name = Self.entryName(of: key.digest)
        do {
            let size = try calls.status(of: name, in: descriptor).size
            try calls.remove(name, in: descriptor)
            return size
        } catch let error where error.code == ENOENT { return nil }
    }
}
