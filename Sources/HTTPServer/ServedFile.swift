import Glibc
package import SystemSupport

/// An open regular file that can be sent. It is closed with its last reference.
package final class ServedFile: Sendable {
    package let descriptor: Int32
    package let metadata: FileMetadata

    /// Takes ownership of an open file; nil, and closed, if it is not a regular file.
    package init?(owning descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        metadata = FileMetadata(
            size: Int(status.st_size), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec,
            inode: UInt64(status.st_ino))
    }

    /// Takes ownership of an open file whose metadata is known.
    package init(owning descriptor: Int32, metadata: FileMetadata) {
        self.descriptor = descriptor
        self.metadata = metadata
    }

    deinit { close(descriptor) }

    /// Whether the file may stay open as long as its client reads. Otherwise slow clients could take the descriptors
    /// that the service itself needs.
    package var hasPlace: Bool { descriptor < DescriptorPlaces.ofProcess.files }

    /// The whole file, in memory. Blocks.
    package func contents() throws(FileFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: metadata.size)
        let filled = try FileCalls().read(descriptor, into: &bytes)
        return filled == bytes.count ? bytes : Array(bytes[..<filled])
    }
}

/// The metadata of a file, and its entity tag.
package struct FileMetadata: Hashable, Sendable {
    /// Bytes.
    package let size: Int
    /// When the file was last changed: whole seconds since 1970, and the nanoseconds of the last second.
    package let seconds: Int
    package let nanoseconds: Int
    package let inode: UInt64

    package init(size: Int, seconds: Int, nanoseconds: Int, inode: UInt64) {
        self.size = size
        self.seconds = seconds
        self.nanoseconds = nanoseconds
        self.inode = inode
    }

    /// A strong entity tag (RFC 9110 section 8.8.3). A file replaced by renaming has another inode. A file written in
    /// place has another time; nanoseconds tell changes within one second apart.
    package var entityTag: String {
        let parts = [
            UInt64(bitPattern: Int64(size)), UInt64(bitPattern: Int64(seconds)),
            UInt64(bitPattern: Int64(nanoseconds)), inode,
        ]
        return "\"" + parts.map { String($0, radix: 16) }.joined(separator: "-") + "\""
    }
}
