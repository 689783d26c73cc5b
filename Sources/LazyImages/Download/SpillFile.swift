import Glibc
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

/// A file's content as memory, until the object goes. Proof for `@unchecked`: nothing is changed after `init`, and the
/// file is mapped privately and has no name by which another process could shorten it.
@safe final class MappedFile: ByteSource, @unchecked Sendable {
    private let start: UnsafeMutableRawPointer
    private let skipped: Int
    let count: Int

    /// Maps `count` bytes of the open file `descriptor`, after those it skips; nil if the system cannot.
    init?(descriptor: Int32, count: Int, skipping skipped: Int = 0) {
        guard count > 0, let start = unsafe mmap(nil, skipped + count, PROT_READ, MAP_PRIVATE, descriptor, 0),
            unsafe start != MAP_FAILED
        else { return nil }
        unsafe self.start = start
        self.skipped = skipped
        self.count = count
    }

    deinit { unsafe munmap(start, skipped + count) }

    func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        try body(
            unsafe UnsafeRawBufferPointer(start: start + skipped, count: count)
                .assumingMemoryBound(to: UInt8.self).span
        )
    }
}
