internal import Glibc
import SystemSupport

extension CacheFolder {
    /// The result of a lookup.
    enum Lookup {
        case entry(EntryFile)
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
        let file: Descriptor
        do {
            file = try calls.openForReading(Self.entryName(of: key.digest), in: descriptor)
        } catch let error where error.code == ENOENT {
            return .absent
        }
        let status = try calls.status(of: file)
        guard status.isFile, status.size <= maximum else { return .corrupt(status.identity) }
        switch try EntryFile.read(file, size: status.size, calls: calls) {
        case .newer: return .newer
        case .entry(let entry) where entry.hasKey(key.text):
            if FileTime.coarseNow.seconds(since: status.accessTime) >= touchInterval {
                // Losing the error is right: a disk that cannot be written needs no access times, since nothing is
                // evicted.
                try? calls.touch(file)
            }
            return .entry(entry)
        case .entry, .corrupt: return .corrupt(status.identity)
        }
    }

    /// The length of a key's body, by the header of its file; the checksum is not verified. Nil without an entry.
    func bodyLength(for key: CacheKey) throws(FileFault) -> Int? {
        let file: Descriptor
        do {
            file = try calls.openForReading(Self.entryName(of: key.digest), in: descriptor)
        } catch let error where error.code == ENOENT {
            return nil
        }
        let status = try calls.status(of: file)
        let text = key.text.utf8
        var beginning = [UInt8](repeating: 0, count: EntryHeader.byteCount + text.count)
        guard status.isFile, try calls.read(file, into: &beginning) == beginning.count,
            case .header(let header) = EntryHeader.read(beginning.span, fileSize: status.size),
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
            // Losing the error is right: mostly there is no old entry, and the counts are hints.
            let old = (try? calls.status(of: name, in: descriptor))?.size
            try rename(temporary.name, to: name)
            return old
        } catch {
            // Losing the error is right: the first error says more, and the next sweep removes the file.
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

    private func rename(_ temporary: String, to name: String) throws(FileFault) {
        do {
            try calls.rename(temporary, to: name, in: descriptor)
        } catch let error where error.code == ENOENT {
            try calls.makeFolder(String(name.prefix(2)), in: descriptor)
            try calls.rename(temporary, to: name, in: descriptor)
        }
    }
}
