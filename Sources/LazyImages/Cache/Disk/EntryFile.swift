import SystemSupport

/// The result of reading an entry's file, or a part of it.
enum EntryReading<Content> {
    case valid(Content)
    /// Written by a later version of this library: it stays.
    case newer
    case corrupt
}

extension EntryReading: Equatable where Content: Equatable {}

/// The content of one entry's file: header, key, metadata and body in one buffer. Only a file that passed every check
/// becomes an instance. As a `ByteSource` it gives access to the body.
///
/// `@unchecked` is safe: the buffer is filled before the object exists, and only read from then on.
@safe final class EntryFile: ByteSource, @unchecked Sendable {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private let header: EntryHeader

    private init(buffer: UnsafeMutableBufferPointer<UInt8>, header: EntryHeader) {
        unsafe self.buffer = unsafe buffer
        self.header = header
    }

    deinit { unsafe buffer.deallocate() }

    /// Reads a file of `size` bytes and checks its lengths and its checksum.
    static func read(
        _ file: borrowing Descriptor, size: Int, calls: FileCalls
    ) throws(FileFault) -> EntryReading<EntryFile> {
        guard size >= EntryHeader.byteCount else { return .corrupt }
        // Not cleared: bytes that were not read are not used.
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: size)
        var verdict = EntryReading<EntryHeader>.corrupt
        do throws(FileFault) {
            if try unsafe calls.read(file, into: UnsafeMutableRawBufferPointer(buffer)) == size {
                verdict = unsafe EntryHeader.read(buffer.span, fileSize: size)
            }
        } catch {
            unsafe buffer.deallocate()
            throw error
        }
        if case .valid(let header) = verdict,
            unsafe EntryHeader.checksum(ofFile: buffer.span) == header.checksum
        {
            return unsafe .valid(EntryFile(buffer: buffer, header: header))
        }
        unsafe buffer.deallocate()
        return verdict == .newer ? .newer : .corrupt
    }

    /// As `read`, of a file's bytes that are in memory.
    static func parse(_ file: Span<UInt8>) -> EntryReading<EntryFile> {
        let verdict = EntryHeader.read(file, fileSize: file.count)
        guard case .valid(let header) = verdict, EntryHeader.checksum(ofFile: file) == header.checksum else {
            return verdict == .newer ? .newer : .corrupt
        }
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: file.count)
        unsafe file.withUnsafeBufferPointer { _ = unsafe buffer.initialize(from: $0) }
        return unsafe .valid(EntryFile(buffer: buffer, header: header))
    }

    /// The length of the body.
    var count: Int { header.bodyLength }

    /// Calls `body` with the bytes of the entry's body.
    func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        try unsafe body(buffer.span.extracting(last: header.bodyLength))
    }

    /// The text of the entry's key.
    var keyText: String { unsafe String(decoding: buffer[keyRange], as: UTF8.self) }

    /// The expiry in seconds since 1970; nil for none.
    var expiry: Int? { header.expiry }

    func hasKey(_ text: String) -> Bool { unsafe buffer[keyRange].elementsEqual(text.utf8) }

    var metadata: [UInt8] {
        let start = keyRange.upperBound
        return unsafe [UInt8](buffer[start..<start + header.metadataLength])
    }

    private var keyRange: Range<Int> { EntryHeader.byteCount..<EntryHeader.byteCount + header.keyLength }
}

/// The first 40 bytes of an entry's file. Integers are little-endian. A whole file, for the key `http://a/b`, the
/// metadata `m` and the body `hello`:
///
///     offset  bytes                        what
///      0      89 4d 51 45 0d 0a 1a 0a      magic: \x89 M Q E, and line ends no careless copy leaves intact
///      8      02 00                        version of this format
///     10      00 00                        flags: none yet
///     12      0a 00 00 00                  length of the key's text
///     16      01 00 00 00                  length of the metadata
///     20      00 44 20 69                  when it expires, in seconds since 1970; zero where nobody knows
///     24      05 00 00 00 00 00 00 00      length of the body
///     32      9c b1 ba d3 77 32 22 d7      XXH64 of all other bytes, in their order
///     40      68 74 74 70 3a 2f 2f 61      the key's text: http://a/b
///             2f 62
///     50      6d                           the metadata: m
///     51      68 65 6c 6c 6f               the body: hello, to the file's last byte
///
/// Version 1 has zero in place of the expiry, and can be read too.
struct EntryHeader: Equatable {
    let keyLength: Int
    let metadataLength: Int
    let bodyLength: Int
    /// In seconds since 1970; nil for none.
    let expiry: Int?
    let checksum: UInt64

    static let byteCount = 40
    /// The checksum covers the bytes before its field, then those after it.
    static let checksumOffset = 32
    static let version: UInt16 = 2
    private static let magic: UInt64 = 0x0a1a_0a0d_4551_4d89

    /// The length of a whole entry; nil if a part is too long for its field.
    static func fileSize(keyLength: Int, metadataLength: Int, bodyLength: Int) -> Int? {
        guard keyLength <= UInt32.max, metadataLength <= UInt32.max else { return nil }
        let (sum, overflows) = (byteCount + keyLength + metadataLength).addingReportingOverflow(bodyLength)
        return overflows ? nil : sum
    }

    /// Reads the first bytes of a file of `fileSize` bytes. The lengths must add up to that.
    static func read(_ bytes: Span<UInt8>, fileSize: Int) -> EntryReading<EntryHeader> {
        guard bytes.count >= byteCount, bytes.littleEndian(at: 0, as: UInt64.self) == magic else {
            return .corrupt
        }
        let found = bytes.littleEndian(at: 8, as: UInt16.self)
        guard found <= version else { return .newer }
        let expiry = bytes.littleEndian(at: 20, as: UInt32.self)
        guard found == version || found == 1 && expiry == 0,
            bytes.littleEndian(at: 10, as: UInt16.self) == 0,
            let bodyLength = Int(exactly: bytes.littleEndian(at: 24, as: UInt64.self))
        else { return .corrupt }
        let header = EntryHeader(
            keyLength: Int(bytes.littleEndian(at: 12, as: UInt32.self)),
            metadataLength: Int(bytes.littleEndian(at: 16, as: UInt32.self)),
            bodyLength: bodyLength, expiry: expiry == 0 ? nil : Int(expiry),
            checksum: bytes.littleEndian(at: checksumOffset, as: UInt64.self))
        return header.fileSize == fileSize ? .valid(header) : .corrupt
    }

    /// The length of the whole file; nil if the sum overflows.
    private var fileSize: Int? {
        Self.fileSize(keyLength: keyLength, metadataLength: metadataLength, bodyLength: bodyLength)
    }

    /// The header of an entry with these parts.
    static func bytes(
        key: Span<UInt8>, metadata: Span<UInt8>, body: Span<UInt8>, expiry: Int?
    ) -> InlineArray<40, UInt8> {
        var bytes = InlineArray<40, UInt8>(repeating: 0)
        func put(_ word: some FixedWidthInteger & UnsignedInteger, at offset: Int) {
            for index in 0..<(word.bitWidth / 8) {
                bytes[offset + index] = UInt8(truncatingIfNeeded: word >> (8 * index))
            }
        }
        put(magic, at: 0)
        put(version, at: 8)
        put(UInt32(key.count), at: 12)
        put(UInt32(metadata.count), at: 16)
        put(storedExpiry(expiry), at: 20)
        put(UInt64(body.count), at: 24)
        var hash = XXH64()
        hash.update(bytes.span.extracting(first: checksumOffset))
        hash.update(key)
        hash.update(metadata)
        hash.update(body)
        put(hash.finish(), at: checksumOffset)
        return bytes
    }

    /// An expiry, clamped to the range of the field; 0 for none.
    static func storedExpiry(_ expiry: Int?) -> UInt32 {
        expiry.map { UInt32(clamping: max(1, $0)) } ?? 0
    }

    /// Computes the checksum of a whole file.
    static func checksum(ofFile bytes: Span<UInt8>) -> UInt64 {
        var hash = XXH64()
        hash.update(bytes.extracting(first: checksumOffset))
        hash.update(bytes.extracting(droppingFirst: byteCount))
        return hash.finish()
    }
}

extension Span<UInt8> {
    fileprivate func littleEndian<Word: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as: Word.Type
    ) -> Word {
        Word(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Word.self))
    }
}
