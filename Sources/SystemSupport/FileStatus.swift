/// The fields of `fstat` that callers need.
package struct FileStatus: Sendable {
    package let size: Int
    /// The number of hard links; 0 after the last is removed.
    package let links: Int
    package let owner: UInt32
    package let isFolder: Bool
    package let isFile: Bool
    /// Whether its group or others may read or write it.
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

/// A file's number on this machine, which all of its names share. A new file may get the number of a removed one.
package struct FileNumber: Hashable, Sendable {
    package let device, inode: UInt64

    /// The number of the file that a path leads to; nil if there is none, or it cannot be looked up.
    package init?(_ path: String) { self.init(path: Array(path.utf8)) }

    /// - Parameter path: need not be UTF-8.
    package init?(path: [UInt8]) {
        var status = stat()
        let terminated = (path + [0]).map { CChar(bitPattern: $0) }
        guard unsafe stat(terminated, &status) == 0 else { return nil }
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
}

/// Tells a file from every other. The modification time is part of it, because new files reuse the inode numbers of
/// removed ones.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int
    package let modified: FileTime
}

/// Nanoseconds since 1970.
package struct FileTime: Hashable, Comparable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    init(_ time: timespec) {
        // Wrapping, because a file's time can be any number.
        nanoseconds = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// The current time, to the few milliseconds of the system clock's tick. Much cheaper than the exact time.
    package static var coarseNow: FileTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return FileTime(time)
    }

    /// Whole seconds since 1970.
    package var seconds: Int { Int(nanoseconds / 1_000_000_000) }

    /// Whole seconds from another time to this one. Wraps for absurd times of a file.
    package func seconds(since other: FileTime) -> Int {
        Int((nanoseconds &- other.nanoseconds) / 1_000_000_000)
    }

    package static func < (one: FileTime, other: FileTime) -> Bool { one.nanoseconds < other.nanoseconds }
}
