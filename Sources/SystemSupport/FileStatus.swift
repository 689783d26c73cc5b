internal import Glibc

/// The facts about a file that a caller may need, as `fstat` gives them.
package struct FileStatus: Sendable {
    package let size: Int
    /// Names that lead to it; 0 when the last is gone.
    package let links: Int
    package let owner: UInt32
    package let isFolder: Bool
    package let isFile: Bool
    /// Whether its group or everybody may read or write it.
    package let isOpenToOthers: Bool
    package let accessTime: FileTime
    package let identity: FileIdentity

    init(_ status: stat) {
        size = Int(status.st_size)
        links = Int(status.st_nlink)
        owner = status.st_uid
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        isFile = status.st_mode & S_IFMT == S_IFREG
        isOpenToOthers = status.st_mode & 0o066 != 0
        accessTime = FileTime(status.st_atim)
        identity = FileIdentity(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: size,
            modified: FileTime(status.st_mtim))
    }
}

/// Which file a name leads to. The time of its last change is part of it, since the numbers of removed files are
/// given to new ones.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int
    package let modified: FileTime
}
