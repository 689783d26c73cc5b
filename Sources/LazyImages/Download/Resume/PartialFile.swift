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
/// process that dies leaves a valid beginning, which a second file proves (`BlockChecksums`). Only a transfer that
/// finishes turns it into a whole body.
///
/// `@unchecked` is safe: only the `BodyBuffer` that owns the file uses the variables, in its writer's only job or while
/// there is no job. Its lock orders these uses.
@safe final class PartialFile: @unchecked Sendable {
    /// The result of opening a file.
    enum Reading {
        case file(PartialFile)
        /// There is no file, another process uses it, or it is from another boot or a later version.
        case absent
        /// No byte of the body has a valid checksum.
        case corrupt
    }

    /// The stored form of the first answer.
    let response: StoredResponse
    /// The length of the whole body; nil if unknown.
    let total: Int?
    /// How many bytes the file has of the body.
    private(set) var count: Int
    private let headerLength: Int
    private let descriptor: Descriptor
    private var checksums: BlockChecksums
    private var isRemoved = false
    private let folder: PartialFolder
    private let name: String

    private init(
        response: StoredResponse, total: Int?, count: Int, headerLength: Int,
        descriptor: consuming Descriptor, checksums: consuming BlockChecksums,
        folder: PartialFolder, name: String
    ) {
        self.response = response
        self.total = total
        self.count = count
        self.headerLength = headerLength
        self.descriptor = descriptor
        self.checksums = checksums
        self.folder = folder
        self.name = name
    }

    deinit {
        if !isRemoved { recordChecksums { checksums throws(FileFault) in try checksums.endBlock() } }
        // Closing the descriptor is not enough: a child process that is just starting has a copy of it, which keeps the
        // lock.
        folder.calls.unlock(descriptor)
    }

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
            var checksums = try BlockChecksums.create(for: name, in: folder)
            try folder.calls.write(descriptor, header, at: 0)
            try checksums.add(header.span)
            try checksums.endBlock()
            folder.faults.recovered()
            return PartialFile(
                response: response, total: total, count: 0, headerLength: header.count,
                descriptor: descriptor, checksums: checksums, folder: folder, name: name)
        } catch {
            folder.faults.record(error)
            return nil
        }
    }

    /// Opens the file of an earlier transfer, and cuts off what follows its valid beginning. Removes a corrupt file.
    static func open(name: String, in folder: PartialFolder) -> Reading {
        // A fault is only counted: the transfer then starts from the first byte.
        folder.faults.counting { () throws(FileFault) in
            let descriptor = try folder.openLocked(name, isNew: false)
            let size = try folder.calls.status(of: descriptor).size
            var bytes = [UInt8](repeating: 0, count: min(size, 64 * 1024))
            let count = try folder.calls.read(descriptor, into: &bytes)
            let end = bytes[..<count].firstIndex(of: UInt8(ascii: "\n")) ?? 0
            let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
            if words.count > 1, words[0] == "MQEP", words[1] != "1" { return .absent }
            let boot = PartialFolder.bootIdentifier
            if words.count == 5, words[4] != boot || boot == PartialFolder.unknownBoot { return .absent }
            guard words.count == 5, words[0] == "MQEP", let length = Int(words[2]), length > end,
                length < count,
                let total = words[3] == "-" ? .some(nil) : Int(words[3]).map(Optional.some),
                let response = StoredResponse(decoding: Array(bytes[(end + 1)..<length])),
                var checksums = try BlockChecksums.open(for: name, in: folder)
            else {
                folder.remove(name)
                return .corrupt
            }
            // If all bytes are there, the last one is requested again: a server cannot answer a request for zero bytes.
            let wanted = min(size - length, total.map { max(1, $0) - 1 } ?? .max)
            let valid = try checksums.validLength(of: descriptor, upTo: length + wanted)
            guard valid > length else {
                folder.remove(name)
                return .corrupt
            }
            try folder.calls.truncate(descriptor, to: valid)
            return .file(
                PartialFile(
                    response: response, total: total, count: valid - length, headerLength: length,
                    descriptor: descriptor, checksums: checksums, folder: folder, name: name))
        } ?? .absent
    }

    /// `MQEP 1 ` and the length of the whole header, including the digits of the length.
    private static func firstLine(before rest: String, count: Int) -> String {
        let fixed = "MQEP 1 ".utf8.count + rest.utf8.count + count
        var length = fixed
        while String(length).utf8.count + fixed != length { length = String(length).utf8.count + fixed }
        return "MQEP 1 \(length)\(rest)"
    }

    /// Appends bytes, in pieces of at most one block: a process that dies leaves at most one piece without a checksum.
    func append(_ bytes: Span<UInt8>) throws(FileFault) {
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.extracting(first: BlockChecksums.blockSize)
            rest = rest.extracting(droppingFirst: piece.count)
            do {
                try folder.calls.write(descriptor, piece, at: headerLength + count)
            } catch {
                folder.faults.record(error)
                throw error
            }
            count += piece.count
            recordChecksums { checksums throws(FileFault) in try checksums.add(piece) }
        }
    }

    /// Bytes without a checksum are not resumed, but fail no transfer: a fault is only counted.
    private func recordChecksums(_ body: (inout BlockChecksums) throws(FileFault) -> Void) {
        folder.faults.counting { () throws(FileFault) in try body(&checksums) }
    }

    /// Removes the file's name: the partial body cannot be resumed, or the body is complete. If that fails, the next
    /// transfer or the sweep finds the file.
    func remove() {
        folder.remove(name)
        isRemoved = true
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
}
