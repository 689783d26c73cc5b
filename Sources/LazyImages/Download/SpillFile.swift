import CSystem
import Glibc

/// A file without a name that takes a body which memory has no room for. It goes when it is closed, so a crash leaves
/// nothing behind.
final class SpillFile: Sendable {
    private let descriptor: Int32

    /// Opens a file in `folder`; nil, with the reason in `errno`, if that cannot be.
    init?(in folder: String) {
        let opened = unsafe csystem_open_unnamed(folder)
        guard opened >= 0 else { return nil }
        descriptor = opened
    }

    deinit { close(descriptor) }

    /// Adds bytes at the end; false, with the reason in `errno`, if not all of them could be written.
    func append(_ bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in
            var rest = unsafe buffer
            while unsafe !rest.isEmpty {
                let written = unsafe write(descriptor, rest.baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
            return true
        }
    }

    /// What was written, as memory; nil if the system cannot map it.
    func mapped(count: Int) -> MappedFile? { MappedFile(descriptor: descriptor, count: count) }
}
