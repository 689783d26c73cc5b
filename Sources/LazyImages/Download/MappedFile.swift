import Glibc

/// A file's content as memory, until the object goes. Proof for `@unchecked`: nothing is changed after `init`, and the
/// file is mapped privately and has no name by which another process could shorten it.
@safe final class MappedFile: ByteSource, @unchecked Sendable {
    private let start: UnsafeMutableRawPointer
    let count: Int

    /// Maps the first `count` bytes of the open file `descriptor`; nil if the system cannot.
    init?(descriptor: Int32, count: Int) {
        guard count > 0, let start = unsafe mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0),
            unsafe start != MAP_FAILED
        else { return nil }
        unsafe self.start = start
        self.count = count
    }

    deinit { unsafe munmap(start, count) }

    func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        try body(
            unsafe UnsafeRawBufferPointer(start: start, count: count).assumingMemoryBound(to: UInt8.self).span
        )
    }
}
