import SystemSupport

/// The content of one entry's file: header, key, metadata and body in one buffer. Only a file that passed every check
/// becomes an instance. As a `ByteSource` it gives access to the body.
///
/// `@unchecked` is safe: the buffer is filled before the object exists, and only read from then on.
@safe final class EntryFile: ByteSource, @unchecked Sendable {
    /// The result of reading a file.
    enum Reading {
        case entry(EntryFile)
        /// In a later version of the format: it stays.
        case newer
        case corrupt
    }

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
    ) throws(FileFault) -> Reading {
        guard size >= EntryHeader.byteCount else { return .corrupt }
        // Not cleared: bytes that were not read are not used.
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: size)
        var verdict = EntryHeader.Verdict.corrupt
        do throws(FileFault) {
            if try unsafe calls.read(file, into: UnsafeMutableRawBufferPointer(buffer)) == size {
                verdict = unsafe EntryHeader.read(buffer.span, fileSize: size)
            }
        } catch {
            unsafe buffer.deallocate()
            throw error
        }
        if case .header(let header) = verdict,
            unsafe EntryHeader.checksum(ofFile: buffer.span) == header.checksum
        {
            return unsafe .entry(EntryFile(buffer: buffer, header: header))
        }
        unsafe buffer.deallocate()
        return verdict == .newer ? .newer : .corrupt
    }

    /// As `read`, of a file's bytes that are in memory.
    static func parse(_ file: Span<UInt8>) -> Reading {
        let verdict = EntryHeader.read(file, fileSize: file.count)
        guard case .header(let header) = verdict, EntryHeader.checksum(ofFile: file) == header.checksum else {
            return verdict == .newer ? .newer : .corrupt
        }
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: file.count)
        unsafe file.withUnsafeBufferPointer { _ = unsafe buffer.initialize(from: $0) }
        return unsafe .entry(EntryFile(buffer: buffer, header: header))
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
