/// Which file a name leads to. The time of its last change is part of it, since the numbers of removed files are
/// given to new ones.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int
    package let modified: FileTime
}
