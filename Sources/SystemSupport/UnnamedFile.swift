/// A file without a name, for bytes that do not fit in memory. The system removes it when it is closed, so a crash
/// leaves nothing behind.
///
/// Proof for `@unchecked`: only `append` changes `count`, and one thread at a time calls it, before others read the
/// file.
@safe package final class UnnamedFile: @unchecked Sendable {
    /// Open for reading and writing.
    package let descriptor: Descriptor
    private let calls: FileCalls
    /// Bytes written so far.
    package private(set) var count = 0

    /// Creates a file in `folder`.
    package init(in folder: String, calls: FileCalls = FileCalls()) throws(FileFault) {
        descriptor = try calls.openUnnamed(in: folder)
        self.calls = calls
    }

    /// Appends bytes.
    package func append(_ bytes: Span<UInt8>) throws(FileFault) {
        try calls.write(descriptor, bytes, at: count)
        count += bytes.count
    }

    /// All bytes, in memory.
    package func contents() throws(FileFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let filled = try calls.read(descriptor, into: &bytes)
        return filled == count ? bytes : Array(bytes[..<filled])
    }
}
