import Glibc
import SystemSupport

extension UnnamedFile {
    /// The content mapped into memory; nil if the system cannot map it.
    func mapped() -> MappedFile? { MappedFile(descriptor: descriptor.number, count: count) }
}

/// A file mapped into memory, until the object is released. `@unchecked` is safe: nothing changes after `init`. The
/// mapping is private, and the file has no name by which another process could truncate it.
@safe package final class MappedFile: ByteSource, @unchecked Sendable {
    private let start: UnsafeMutableRawPointer
    private let skipped: Int
    package let count: Int

    /// Maps `count` bytes of the open file `descriptor`, after the first `skipped` ones; nil if the system cannot.
    init?(descriptor: Int32, count: Int, skipping skipped: Int = 0) {
        guard count > 0, let start = unsafe mmap(nil, skipped + count, PROT_READ, MAP_PRIVATE, descriptor, 0),
            unsafe start != MAP_FAILED
        else { return nil }
        unsafe self.start = start
        self.skipped = skipped
        self.count = count
    }

    deinit { unsafe munmap(start, skipped + count) }

    package func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        try body(
            unsafe UnsafeRawBufferPointer(start: start + skipped, count: count)
                .assumingMemoryBound(to: UInt8.self).span
        )
    }
}
