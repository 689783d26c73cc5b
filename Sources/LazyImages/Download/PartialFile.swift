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

/// The checksums of a partial file's blocks, in a second file beside it. They detect bytes that were damaged on disk:
/// only blocks that match are resumed. The second file of a partial file with a header of 141 bytes and a body of
/// 100,000 bytes:
///
///     offset  bytes                        what
///      0      4d 51 45 53 01 00 00 00      magic: M Q E S; version of this format
///      8      8d 00 00 00 00 00 00 00      length of the first block, the header: 141
///     16      1f 6a ...                    its XXH64
///     24      00 00 01 00 00 00 00 00      length of the next block: 65,536, the most
///     32      c8 05 ...                    its XXH64
///     40      a0 86 00 00 00 00 00 00      length of the last block: 34,464
///     48      77 e1 ...                    its XXH64
///
/// Integers have the machine's byte order: a partial file is resumed only in the boot in which it was written.
///
/// A block's checksum is appended after the block. So a process that dies leaves a valid beginning, which lacks less
/// than two blocks: the one that was being written, and the beginning of the next one. A transfer that fails also
/// appends the checksum of its last, shorter block; the next transfer begins a new block there.
///
/// Only the process that has locked the partial file uses the second one. Not safe for concurrent use.
struct BlockChecksums: ~Copyable {
    /// The most bytes in a block.
    static let blockSize = 64 * 1024
    private static let heading: UInt64 = 0x0000_0001_5345_514d
    private static let headingLength = 8
    private static let recordLength = 16
    private static let suffix = ".sums"

    private let file: Descriptor
    private let calls: FileCalls
    /// The length of the second file.
    private var end = headingLength
    /// The hash and the length of the block that is not complete yet.
    private var hash = XXH64()
    private var count = 0

    /// Makes the second file of a new partial file, in place of an older one.
    static func create(for name: String, in folder: PartialFolder) throws(FileFault) -> BlockChecksums {
        let file = try folder.calls.openForWriting(
            Self.name(for: name), in: folder.descriptor, creating: .ifAbsent)
        try folder.calls.truncate(file, to: 0)
        try folder.calls.write(file, [heading], at: 0)
        return BlockChecksums(file: file, calls: folder.calls)
    }

    /// Opens the second file of a partial file; nil if there is none.
    static func open(for name: String, in folder: PartialFolder) throws(FileFault) -> BlockChecksums? {
        try folder.calls.unlessAbsent { () throws(FileFault) in
            let file = try folder.calls.openForWriting(
                Self.name(for: name), in: folder.descriptor, creating: .never)
            return BlockChecksums(file: file, calls: folder.calls)
        }
    }

    private init(file: consuming Descriptor, calls: FileCalls) {
        self.file = file
        self.calls = calls
    }

    /// The name of a partial file's second file.
    static func name(for partial: String) -> String { partial + suffix }

    /// The name of the partial file to which a file belongs: its own, unless it is a second file.
    static func partialName(of name: String) -> String {
        name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
    }

    /// The length of the partial file's beginning whose blocks all match, at most `limit`. Drops all other checksums:
    /// the bytes to add next are those that will follow this beginning.
    fileprivate mutating func validLength(of partial: borrowing Descriptor, upTo limit: Int) throws(FileFault)
        -> Int
    {
        var first: [UInt64] = [0]
        guard try calls.read(file, into: &first) == Self.headingLength, first[0] == Self.heading else {
            return 0
        }
        var valid = 0
        var record: [UInt64] = [0, 0]
        var block = [UInt8](repeating: 0, count: Self.blockSize)
        while valid < limit, try calls.read(file, into: &record, at: end) == Self.recordLength,
            let length = Int(exactly: record[0]), 1...Self.blockSize ~= length,
            try calls.read(partial, into: &block, at: valid) >= length,
            XXH64.hash(of: block.span.extracting(first: length)) == record[1]
        {
            if length <= limit - valid {
                valid += length
                end += Self.recordLength
            } else {
                // The limit shortens this block, so it gets a new checksum.
                count = limit - valid
                hash.update(block.span.extracting(first: count))
                valid = limit
            }
        }
        try calls.truncate(file, to: end)
        return valid
    }

    /// Adds bytes that were appended to the partial file. After a failure the checksums that follow match no block, so
    /// the valid beginning ends there.
    mutating func add(_ bytes: Span<UInt8>) throws(FileFault) {
        var records: [UInt64] = []
        var offset = 0
        while offset < bytes.count {
            let next = min(bytes.count, offset + Self.blockSize - count)
            hash.update(bytes.extracting(offset..<next))
            count += next - offset
            offset = next
            if count == Self.blockSize { records += takeRecord() }
        }
        try append(records)
    }

    /// Ends a block before it is full.
    fileprivate mutating func endBlock() throws(FileFault) {
        if count > 0 { try append(takeRecord()) }
    }

    private mutating func takeRecord() -> [UInt64] {
        defer { (hash, count) = (XXH64(), 0) }
        return [UInt64(count), hash.finish()]
    }

    private mutating func append(_ records: [UInt64]) throws(FileFault) {
        guard !records.isEmpty else { return }
        try calls.write(file, records, at: end)
        end += records.count / 2 * Self.recordLength
    }
}

/// How a transfer resumes a partial body: the request, and the meaning of the answer.
struct ResumePlan: Hashable, Sendable {
    /// The length of the partial body in bytes.
    let offset: Int
    /// The length of the whole body; nil if unknown.
    let total: Int?
    /// A strong entity tag, or a Last-Modified date that is as good: proves that the rest belongs to the same file.
    let validator: String

    /// What an answer means for the partial body.
    enum Verdict: Hashable, Sendable {
        /// The answer has the rest.
        case resumes
        /// The answer has the whole body, which replaces the partial one.
        case restarts
        /// The partial body cannot be resumed: remove it, and request the whole body.
        case cannotResume
        /// The answer, such as a redirect, does not concern the partial body.
        case isUnrelated
    }

    /// The fields that request the rest, or the whole body if the file has changed (RFC 9110 sections 14.2, 13.1.5).
    var fields: HeaderFields { ["Range": "bytes=\(offset)-", "If-Range": validator] }

    /// A 206 is accepted only if it starts at the offset, agrees on the length, goes to the end, and has the same
    /// validator.
    func verdict(on head: ResponseHead) -> Verdict {
        switch head.status {
        case 200: return .restarts
        case 416: return .cannotResume
        case 206:
            guard let range = head.fields["content-range"].flatMap(ContentRange.init), let part = range.part,
                part.lowerBound == offset,
                total == nil || range.total == nil || range.total == total,
                (range.total ?? total).map({ part.upperBound == $0 }) ?? true,
                head.fields["etag"].map({ $0 == validator || !validator.hasPrefix("\"") }) ?? true
            else { return .cannotResume }
            return .resumes
        default: return .isUnrelated
        }
    }
}

extension ResumePlan {
    /// A plan for `part`; nil without a strong validator.
    init?(_ part: PartialFile) {
        guard let validator = Validators.strong(part.response.fields, now: part.response.received) else {
            return nil
        }
        self.init(offset: part.count, total: part.total, validator: validator)
    }
}
