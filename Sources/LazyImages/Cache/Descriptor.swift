internal import Glibc

/// An open file, closed when it goes.
struct Descriptor: ~Copyable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    // An error of close tells of a write that failed late (network file systems); the checksum finds such an entry.
    deinit { close(number) }
}

/// What the disk tier wants to know of a file.
struct FileStatus: Sendable {
    let size: Int
    /// Names that lead to it; 0 when the last is gone.
    let links: Int
    let owner: UInt32
    let isFolder: Bool
    let isFile: Bool
    let accessTime: FileTime
    let identity: FileIdentity

    init(_ status: stat) {
        size = Int(status.st_size)
        links = Int(status.st_nlink)
        owner = status.st_uid
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        isFile = status.st_mode & S_IFMT == S_IFREG
        accessTime = FileTime(status.st_atim)
        identity = FileIdentity(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: size,
            modified: FileTime(status.st_mtim))
    }
}

/// Which file a name leads to. The time of its last change is part of it, since the numbers of removed files are
/// given to new ones.
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let size: Int
    let modified: FileTime
}

/// Nanoseconds since 1970.
struct FileTime: Hashable, Comparable, Sendable {
    let nanoseconds: Int64

    init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    init(_ time: timespec) {
        // Wrapping, since a file may claim any time at all.
        nanoseconds = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// The time now, to the system clock's tick of a few milliseconds, which costs next to nothing to ask.
    static var coarseNow: FileTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return FileTime(time)
    }

    /// Whole seconds since 1970.
    var wholeSeconds: Int { Int(nanoseconds / 1_000_000_000) }

    /// Whole seconds from another time to this one; any number where a file claims an absurd time.
    func seconds(since other: FileTime) -> Int { Int((nanoseconds &- other.nanoseconds) / 1_000_000_000) }

    static func < (one: FileTime, other: FileTime) -> Bool { one.nanoseconds < other.nanoseconds }
}

/// A call of the system that failed, and on what.
package struct FileFault: Error, Sendable {
    package let kind: FileCalls.Kind
    /// The path, or the name in the cache folder; empty where only the descriptor was known.
    package let name: String
    /// The system's `errno`.
    package let code: Int32
    /// What there is to say beyond the system's own words for the code.
    let detail: String?

    init(kind: FileCalls.Kind, name: String, code: Int32, detail: String? = nil) {
        self.kind = kind
        self.name = name
        self.code = code
        self.detail = detail
    }

    /// Whether something was not there.
    var isAbsence: Bool { code == ENOENT }

    /// Whether somebody else has it locked.
    var isContention: Bool { kind == .lock && code == EWOULDBLOCK }

    /// One line for people: what was tried, on what, and why it failed.
    package var explanation: String {
        let reason = detail ?? (unsafe strerror(code).map { unsafe String(cString: $0) }) ?? "error \(code)"
        return "cannot \(kind.rawValue) \(name.isEmpty ? "a file" : name): \(reason)"
    }
}

extension FileFault {
    /// The cache has no thread to work on.
    init(_ shortage: ResourceShortage) {
        self.init(kind: .thread, name: "the cache", code: shortage.code)
    }
}
