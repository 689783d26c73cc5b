import SystemSupport

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
/// than one block and its checksum. A transfer that fails also appends the checksum of its last, shorter block; the
/// next transfer begins a new block there.
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
        do {
            let file = try folder.calls.openForWriting(
                Self.name(for: name), in: folder.descriptor, creating: .never)
            return BlockChecksums(file: file, calls: folder.calls)
        } catch let error where error.isAbsence { return nil }
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
    mutating func validLength(of partial: borrowing Descriptor, upTo limit: Int) throws(FileFault) -> Int {
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
    mutating func endBlock() throws(FileFault) {
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
