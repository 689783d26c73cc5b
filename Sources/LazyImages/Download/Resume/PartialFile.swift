import SystemSupport

/// The file of a partial body, whose transfer failed or is still running. A later transfer can resume it, also in a
/// later process. The partial file of a body of 20 MiB:
///
///     MQEP 1 141 20971520 0b6f34e2-0a2f-4a51-b8e3-2f1d8c3a9b10
///     200 1763714400 0 0 https://example.org/posters/large.png
///     ETag: "5f3-61"
///     Date: Fri, 21 Nov 2025 08:40:00 GMT
///     <the bytes that have come>
///
/// The first line has the length of the header, the length of the whole body (`-` if unknown), and the boot identifier
/// of the system. Files from an earlier boot are not used: a power cut may leave wrong bytes in them. The following
/// lines are a `StoredResponse`. A process locks the file while it writes or resumes it. Bytes are only appended, so a
/// process that dies leaves a valid beginning. Only a transfer that finishes turns it into a whole body.
///
/// `@unchecked` is safe: only the `BodyBuffer` that owns the file uses `count`, under its lock.
@safe final class PartialFile: @unchecked Sendable {
    /// The stored form of the first answer.
    let response: StoredResponse
    /// The length of the whole body; nil if unknown.
    let total: Int?
    /// How many bytes the file has of the body.
    private(set) var count: Int
    private let headerLength: Int
    private let descriptor: Descriptor
    private let folder: PartialFolder
    private let name: String

    private init(
        response: StoredResponse, total: Int?, count: Int, headerLength: Int,
        descriptor: consuming Descriptor,
        folder: PartialFolder, name: String
    ) {
        self.response = response
        self.total = total
        self.count = count
        self.headerLength = headerLength
        self.descriptor = descriptor
        self.folder = folder
        self.name = name
    }

    // Closing the descriptor is not enough: a child process that is just starting has a copy of it, which keeps the
    // lock.
    deinit { folder.calls.unlock(descriptor) }

    /// Creates a file, in place of an older one; nil if that fails, or if another process uses it.
    static func create(
        _ response: StoredResponse, total: Int?, name: String, in folder: PartialFolder
    ) -> PartialFile? {
        // A fault is only counted: the transfer works without the file, but cannot be resumed.
        let opened = folder.faults.counting { () throws(FileFault) in
            try folder.openLocked(name, isNew: true)
        }
        guard let descriptor = opened else { return nil }
        let metadata = response.encoded
        let first = " \(total.map(String.init) ?? "-") \(PartialFolder.bootIdentifier)\n"
        let header = Array(Self.firstLine(before: first, count: metadata.count).utf8) + metadata
        do throws(FileFault) {
            try folder.calls.truncate(descriptor, to: 0)
            try folder.calls.write(descriptor, header, at: 0)
        } catch {
            folder.faults.note(error)
            return nil
        }
        folder.faults.recovered()
        return PartialFile(
            response: response, total: total, count: 0, headerLength: header.count, descriptor: descriptor,
            folder: folder, name: name)
    }

    /// Opens the file of an earlier transfer; nil if there is none that can be resumed.
    static func open(name: String, in folder: PartialFolder) -> PartialFile? {
        // A fault is only counted: the transfer then starts from the first byte.
        let opened = folder.faults.counting { () throws(FileFault) in
            try folder.openLocked(name, isNew: false)
        }
        guard let descriptor = opened else { return nil }
        let size: Int
        var bytes: [UInt8]
        do throws(FileFault) {
            size = try folder.calls.status(of: descriptor).size
            bytes = [UInt8](repeating: 0, count: min(size, 64 * 1024))
            guard try folder.calls.read(descriptor, into: &bytes) == bytes.count else { return nil }
        } catch {
            folder.faults.note(error)
            return nil
        }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
        guard words.count == 5, words[0] == "MQEP", words[1] == "1", let length = Int(words[2]),
            length > end, length < bytes.count,
            let total = words[3] == "-" ? .some(nil) : Int(words[3]).map(Optional.some),
            words[4] == PartialFolder.bootIdentifier, words[4] != PartialFolder.unknownBoot,
            let response = StoredResponse(decoding: Array(bytes[(end + 1)..<length]))
        else { return nil }
        let file = PartialFile(
            response: response, total: total, count: size - length, headerLength: length,
            descriptor: descriptor,
            folder: folder, name: name)
        // If all bytes are there, the last one is requested again: a server cannot answer a request for zero bytes.
        if let total, file.count >= total { return file.shorten(to: total - 1) ? file : nil }
        return file
    }

    /// `MQEP 1 ` and the length of the whole header, including the digits of the length.
    private static func firstLine(before rest: String, count: Int) -> String {
        let fixed = "MQEP 1 ".utf8.count + rest.utf8.count + count
        var length = fixed
        while String(length).utf8.count + fixed != length { length = String(length).utf8.count + fixed }
        return "MQEP 1 \(length)\(rest)"
    }

    /// Appends bytes.
    func append(_ bytes: Span<UInt8>) throws(FileFault) {
        do {
            try folder.calls.write(descriptor, bytes, at: headerLength + count)
        } catch {
            folder.faults.note(error)
            throw error
        }
        count += bytes.count
    }

    /// Removes the file's name: the partial body cannot be resumed, or the body is complete. If that fails, the next
    /// transfer or the sweep finds the file.
    func remove() {
        folder.faults.counting { () throws(FileFault) in try folder.calls.remove(name, in: folder.descriptor)
        }
    }

    /// The complete body; nil if it cannot be read. Removes the file's name first. If the file still has a name, it is
    /// read and not mapped: another process could truncate it, and a read of the mapping would then kill this process.
    func body() -> (any ByteSource)? {
        remove()
        return folder.faults.counting { () throws(FileFault) -> (any ByteSource)? in
            if try folder.calls.status(of: descriptor).links == 0,
                let mapped = MappedFile(descriptor: descriptor.number, count: count, skipping: headerLength)
            {
                return mapped
            }
            var bytes = [UInt8](repeating: 0, count: count)
            guard try folder.calls.read(descriptor, into: &bytes, at: headerLength) == count else {
                return nil
            }
            return ByteArray(bytes)
        } ?? nil
    }

    private func shorten(to length: Int) -> Bool {
        guard length > 0 else { return false }
        do {
            try folder.calls.truncate(descriptor, to: headerLength + length)
        } catch {
            folder.faults.note(error)
            return false
        }
        count = length
        return true
    }
}
