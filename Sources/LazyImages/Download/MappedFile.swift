import Glibc
import SystemSupport

extension UnnamedFile {
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
