/// A file without a name, for bytes that memory has no room for. It goes when it is closed, so a crash leaves nothing behind.
///
/// Proof for `@unchecked`: `count` is changed only by `append`, which one thread at a time calls, before the file is given
/// to others to read.
@safe package final class UnnamedFile: @unchecked Sendable {
    /// Open for reading and writing.
    package let descriptor: Descriptor
    private let calls: FileCalls
    /// Bytes written so far.
    package private(set) var count = 0

    /// Opens a file in `folder`.
    package init(in folder: String, calls: FileCalls = FileCalls()) throws(FileFault) {
        descriptor = try calls.openUnnamed(in: folder)
        self.calls = calls
    }

    /// Adds bytes at the end.
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
