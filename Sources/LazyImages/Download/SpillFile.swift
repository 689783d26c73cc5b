import SystemSupport

/// A file without a name that takes a body which memory has no room for. It goes when it is closed, so a crash leaves
/// nothing behind.
///
/// Proof for `@unchecked`: `count` is only touched by the `BodyBuffer` that owns the file, under its lock.
@safe final class SpillFile: @unchecked Sendable {
    private let descriptor: Descriptor
    private let calls: FileCalls
    private var count = 0

    /// Opens a file in `folder`.
    init(in folder: String, calls: FileCalls) throws(FileFault) {
        descriptor = try calls.openUnnamed(in: folder)
        self.calls = calls
    }

    /// Adds bytes at the end.
    func append(_ bytes: Span<UInt8>) throws(FileFault) {
        try calls.write(descriptor, bytes, at: count)
        count += bytes.count
    }

    /// What was written, as memory; nil if the system cannot map it.
    func mapped() -> MappedFile? { MappedFile(descriptor: descriptor.number, count: count) }
}
