internal import CMarqueeSystem

/// The system's calls on files. Each repeats after a signal (EINTR) and throws `FileFault` on failure.
/// A struct and not free functions, so that a test can make the Nth call fail as a full or broken disk would.
package struct FileCalls: Sendable {
    /// The kinds of calls; the raw value is the verb of the error message.
    package enum Kind: String, Sendable, CaseIterable {
        case open, read, write, lock, list, rename, link
        case status = "read the status of"
        case setTimes = "set the times of"
        case makeFolder = "make the folder"
        case remove
        case thread = "start a thread for"
    }

    /// A fault that a test injects: a failure with an `errno`, or a read or write of half the bytes.
    package enum InjectedFault: Sendable {
        case failure(Int32)
        case short
    }

    private let inject: (@Sendable (Kind) -> InjectedFault?)?

    package init(inject: (@Sendable (Kind) -> InjectedFault?)? = nil) { self.inject = inject }

    /// Makes one call. `body` gets the limit, or half of it, and returns a negative number on failure, with the reason
    /// in `errno`.
    private func call<Value: SignedInteger>(
        _ kind: Kind, _ name: String = "", limit: Int, _ body: (Int) -> Value
    ) throws(FileFault) -> Value {
        var limit = limit
        switch inject?(kind) {
        case .failure(let code): throw FileFault(kind: kind, name: name, code: code)
        case .short: limit = max(min(1, limit), limit / 2)
        case nil: break
        }
        while true {
            let result = body(limit)
            if result >= 0 { return result }
            let code = errno
            if code != EINTR { throw FileFault(kind: kind, name: name, code: code) }
        }
    }

    @discardableResult
    func call<Value: SignedInteger>(
        _ kind: Kind, _ name: String, _ body: () -> Value
    ) throws(FileFault) -> Value {
        try call(kind, name, limit: .max) { _ in body() }
    }

    /// As above, for a call that takes the number of a descriptor. (A closure cannot capture a noncopyable descriptor.)
    @discardableResult
    private func call<Value: SignedInteger>(
        _ kind: Kind, _ name: String = "", on file: borrowing Descriptor, _ body: (Int32) -> Value
    ) throws(FileFault) -> Value {
        let number = file.number
        return try call(kind, name) { body(number) }
    }
}

// MARK: Opening and looking

extension FileCalls {
    /// Opens the folder at an absolute path. Refuses a symbolic link (ELOOP or ENOTDIR).
    package func openFolder(_ path: String) throws(FileFault) -> Descriptor {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        return Descriptor(try call(.open, path) { unsafe open(path, flags) })
    }

    package func openFolder(_ name: String, in folder: borrowing Descriptor) throws(FileFault) -> Descriptor {
        try openEntry(name, in: folder, O_RDONLY | O_DIRECTORY)
    }

    /// Opens an entry of a folder. Refuses a symbolic link. Only this user can use a new file.
    private func openEntry(
        _ name: String, in folder: borrowing Descriptor, _ flags: Int32
    ) throws(FileFault) -> Descriptor {
        let flags = flags | O_NOFOLLOW | O_CLOEXEC
        return Descriptor(try call(.open, name, on: folder) { unsafe openat($0, name, flags, 0o600) })
    }

    /// Opens a file for reading, which leaves its access time alone.
    package func openForReading(_ name: String, in folder: borrowing Descriptor) throws(FileFault)
        -> Descriptor
    {
        Descriptor(try call(.open, name, on: folder) { unsafe csystem_open_noatime($0, name) })
    }

    /// Opens a file for reading. Does not wait for the other end of a pipe.
    package func openForReading(path: String) throws(FileFault) -> Descriptor {
        Descriptor(try call(.open, path) { unsafe csystem_open(path, O_RDONLY | O_NONBLOCK, 0) })
    }

    /// Opens a new file without a name in a folder, for writing and reading.
    /// - Throws: also when its temporary name could not be removed: another process could truncate a named file while
    ///   it is mapped.
    package func openUnnamed(in folder: String) throws(FileFault) -> Descriptor {
        // Below, an empty path would be the root folder.
        guard !folder.isEmpty else {
            throw FileFault(kind: .open, name: "the folder", code: ENOENT, detail: "its path is empty")
        }
        do {
            return Descriptor(try call(.open, folder) { unsafe csystem_open_unnamed(folder) })
        } catch {
            // File systems without O_TMPFILE report different errors. Create a named file there and unlink it.
            var path = Array("\(folder)/marquee-XXXXXX".utf8CString)
            let file = Descriptor(try call(.open, folder) { unsafe csystem_open_temporary(&path) })
            try call(.remove, folder) { unsafe unlink(path) }
            return file
        }
    }

    /// Whether `openForWriting` makes a file.
    package enum Creation: Sendable {
        /// The file must be new (EEXIST).
        case always
        case ifAbsent
        /// The file must be there (ENOENT).
        case never
    }

    /// Opens a file for writing and reading. Only this user can read a new one.
    package func openForWriting(
        _ name: String, in folder: borrowing Descriptor, creating creation: Creation
    ) throws(FileFault) -> Descriptor {
        let creationFlags =
            switch creation {
            case .always: O_CREAT | O_EXCL
            case .ifAbsent: O_CREAT
            case .never: Int32(0)
            }
        return try openEntry(name, in: folder, O_RDWR | O_NONBLOCK | creationFlags)
    }

    package func status(of file: borrowing Descriptor) throws(FileFault) -> FileStatus {
        var status = stat()
        try call(.status, on: file) { unsafe fstat($0, &status) }
        return FileStatus(status)
    }

    /// The status of a directory entry. Does not follow a symbolic link.
    package func status(of name: String, in folder: borrowing Descriptor) throws(FileFault) -> FileStatus {
        var status = stat()
        try call(.status, name, on: folder) { unsafe fstatat($0, name, &status, AT_SYMLINK_NOFOLLOW) }
        return FileStatus(status)
    }

    /// As above; nil if the entry is absent, or was just removed.
    package func statusUnlessAbsent(of name: String, in folder: borrowing Descriptor) throws(FileFault)
        -> FileStatus?
    {
        try unlessAbsent { () throws(FileFault) in try status(of: name, in: folder) }
    }

    /// The result of `body`; nil if its file does not exist.
    package func unlessAbsent<Value: ~Copyable>(
        _ body: () throws(FileFault) -> Value
    ) throws(FileFault) -> Value? {
        do {
            return try body()
        } catch let error where error.isAbsence { return nil }
    }

    /// The status of the file at a path.
    /// - Parameter followsLinks: whether to follow a link in the last component. Default: no.
    package func status(ofPath path: String, followsLinks: Bool = false) throws(FileFault) -> FileStatus {
        var status = stat()
        try call(.status, path) { unsafe followsLinks ? stat(path, &status) : lstat(path, &status) }
        return FileStatus(status)
    }

    /// The names in a folder, in no order, without `.` and `..`.
    package func names(in folder: borrowing Descriptor) throws(FileFault) -> [String] {
        try nameBytes(in: folder).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The same names as bytes, which need not be UTF-8.
    package func nameBytes(in folder: borrowing Descriptor) throws(FileFault) -> [[UInt8]] {
        // A second descriptor: readdir moves the offset of its own, and closedir closes it.
        let copy = try call(.list, on: folder) { unsafe openat($0, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let stream = unsafe fdopendir(copy) else {
            let code = errno
            close(copy)
            throw FileFault(kind: .list, name: "", code: code)
        }
        defer { unsafe _ = closedir(stream) }
        var names: [[UInt8]] = []
        errno = 0
        while let entry = unsafe readdir(stream) {
            let name = unsafe Self.name(of: entry)
            if name != [0x2E], name != [0x2E, 0x2E] { names.append(name) }
        }
        if errno != 0 { throw FileFault(kind: .list, name: "", code: errno) }
        return names
    }

    /// The name of an entry of `readdir`. Reads no further than the name: the entry is shorter than its type.
    @unsafe static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
        unsafe withUnsafePointer(to: &entry.pointee.d_name) {
            unsafe $0.withMemoryRebound(to: UInt8.self, capacity: 256) {
                unsafe [UInt8](UnsafeBufferPointer(start: $0, count: strlen($0)))
            }
        }
    }
}

// MARK: Names and locks

extension FileCalls {
    /// Makes a folder that only this user can enter. Leaves an existing one as it is.
    package func makeFolder(_ name: String, in folder: borrowing Descriptor) throws(FileFault) {
        let number = folder.number
        try makeFolder(name) { unsafe mkdirat(number, name, 0o700) }
    }

    package func makeFolder(_ path: String) throws(FileFault) {
        try makeFolder(path) { unsafe mkdir(path, 0o700) }
    }

    /// Makes the folder at a path and its missing parents.
    package func makeFolders(_ path: String) throws(FileFault) {
        do {
            try makeFolder(path)
        } catch let error where error.code == ENOENT {
            guard let end = path.lastIndex(of: "/"), end != path.startIndex else { throw error }
            try makeFolders(String(path[..<end]))
            try makeFolder(path)
        }
    }

    private func makeFolder(_ name: String, _ body: () -> Int32) throws(FileFault) {
        do {
            try call(.makeFolder, name, body)
        } catch let error where error.code == EEXIST { return }
    }

    package func rename(_ name: String, to newName: String, in folder: borrowing Descriptor) throws(FileFault)
    {
        try call(.rename, name, on: folder) { unsafe renameat($0, name, $0, newName) }
    }

    /// Adds a hard link `newName` to a file. Fails if that name exists (EEXIST).
    package func link(_ name: String, to newName: String, in folder: borrowing Descriptor) throws(FileFault) {
        try call(.link, name, on: folder) { unsafe linkat($0, name, $0, newName, 0) }
    }

    package func remove(_ name: String, in folder: borrowing Descriptor) throws(FileFault) {
        try call(.remove, name, on: folder) { unsafe unlinkat($0, name, 0) }
    }

    /// Removes the name of a file at a path.
    package func remove(path: String) throws(FileFault) {
        try call(.remove, path) { unsafe unlink(path) }
    }

    /// Locks the file for this descriptor; false if another one has the lock. The lock ends when the last copy of the
    /// descriptor closes, also by a crash.
    package func tryLock(_ file: borrowing Descriptor) throws(FileFault) -> Bool {
        do {
            try call(.lock, on: file) { flock($0, LOCK_EX | LOCK_NB) }
        } catch let error where error.code == EWOULDBLOCK {
            return false
        }
        return true
    }

    package func unlock(_ file: borrowing Descriptor) {
        flock(file.number, LOCK_UN)
    }
}

/// A failed system call and its file.
package struct FileFault: Error, Sendable, CustomStringConvertible {
    package let kind: FileCalls.Kind
    /// The path, or the name in its folder; empty if only the descriptor was known.
    package let name: String
    /// The system's `errno`.
    package let code: Int32
    /// The explanation, where the system's text for the code does not suffice.
    package let detail: String?

    package init(kind: FileCalls.Kind, name: String, code: Int32, detail: String? = nil) {
        self.kind = kind
        self.name = name
        self.code = code
        self.detail = detail
    }

    /// Whether the file does not exist.
    package var isAbsence: Bool { code == ENOENT }

    /// Whether another descriptor has the lock.
    package var isContention: Bool { kind == .lock && code == EWOULDBLOCK }

    /// One line for people: the call, the file and the reason.
    package var description: String {
        "cannot \(kind.rawValue) \(name.isEmpty ? "a file" : name): \(detail ?? SystemError.text(code))"
    }
}

extension FileCalls {
    /// Reads from `offset`, by default the beginning, until the buffer is full or the file ends. Returns the number of
    /// bytes read.
    package func read(
        _ file: borrowing Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int = 0
    ) throws(FileFault) -> Int {
        try unsafe read(file.number, into: buffer, at: offset)
    }

    private func read(
        _ number: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int = 0
    ) throws(FileFault) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try call(.read, limit: rest.count) { limit in
                unsafe pread(number, rest.baseAddress, limit, off_t(offset + done))
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Writes all pieces in order, in one call if the system accepts them so. Takes the descriptor's number, because a
    /// closure that borrows bytes cannot capture a noncopyable descriptor.
    package func write(_ number: Int32, _ pieces: [UnsafeRawBufferPointer]) throws(FileFault) {
        var pieces = unsafe pieces.filter { $0.count > 0 }
        while let first = unsafe pieces.first {
            var written = try call(.write, limit: .max) { limit in
                if limit < Int.max {
                    return unsafe Glibc.write(number, first.baseAddress, max(1, first.count / 2))
                }
                var vectors = unsafe pieces.map {
                    unsafe iovec(
                        iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
                }
                return unsafe writev(number, &vectors, Int32(vectors.count))
            }
            while let piece = unsafe pieces.first, piece.count <= written {
                written -= piece.count
                unsafe pieces.removeFirst()
            }
            if written > 0 { unsafe pieces[0] = UnsafeRawBufferPointer(rebasing: pieces[0][written...]) }
        }
    }

    /// Reads from `offset`, by default the beginning, until the array is full or the file ends. Returns the number of
    /// bytes read.
    package func read<Word: FixedWidthInteger & BitwiseCopyable>(
        _ file: borrowing Descriptor, into words: inout [Word], at offset: Int = 0
    ) throws(FileFault) -> Int {
        let number = file.number
        var span = words.mutableSpan
        return try unsafe span.withUnsafeMutableBytes { buffer throws(FileFault) in
            try unsafe read(number, into: buffer, at: offset)
        }
    }

    /// Throws if a file belongs to another user than the program's.
    package func checkOwner(of file: borrowing Descriptor, path: String) throws(FileFault) {
        let owner = try status(of: file).owner
        guard owner == geteuid() else {
            throw FileFault(
                kind: .open, name: path, code: EPERM, detail: "it belongs to another user (\(owner))")
        }
    }

    /// The first `count` bytes of a file, or all if it is shorter.
    package func contents(of file: borrowing Descriptor, count: Int) throws(FileFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let filled = try read(file, into: &bytes)
        return filled == count ? bytes : Array(bytes[..<filled])
    }

    /// Overwrites a part of a file with the elements of an array, in their memory layout.
    package func write<Element: BitwiseCopyable>(
        _ file: borrowing Descriptor, _ elements: [Element], at offset: Int
    ) throws(FileFault) {
        try write(file, elements.span, at: offset)
    }

    /// As above, from a span.
    package func write<Element: BitwiseCopyable>(
        _ file: borrowing Descriptor, _ span: Span<Element>, at offset: Int
    ) throws(FileFault) {
        let number = file.number
        try unsafe span.withUnsafeBytes { bytes throws(FileFault) in
            try unsafe write(number, bytes, at: offset)
        }
    }

    private func write(_ number: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileFault) {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            done += try call(.write, limit: rest.count) { limit in
                unsafe pwrite(number, rest.baseAddress, limit, off_t(offset + done))
            }
        }
    }

    /// Writes all bytes to a pipe, a terminal or a socket, and waits while it accepts none. Blocks: do not call it on
    /// the cooperative pool.
    package func write(_ bytes: [UInt8], toStream number: Int32) throws(FileFault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            do throws(FileFault) {
                let written = try call(.write, "") {
                    unsafe rest.withUnsafeBytes { unsafe Glibc.write(number, $0.baseAddress, $0.count) }
                }
                rest = rest.dropFirst(written)
            } catch let error where error.code == EAGAIN {
                _ = Polling.ready([(number, POLLOUT)])
            }
        }
    }

    /// All bytes of the file at a path. Ignores the size that the file reports: for files in `/proc` it is 0.
    package func contents(ofPath path: String) throws(FileFault) -> [UInt8] {
        let file = Descriptor(try call(.open, path) { unsafe csystem_open(path, O_RDONLY, 0) })
        var contents: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = try read(file, into: &part, at: contents.count)
            contents += part[..<count]
            if count < part.count { return contents }
        }
    }

    /// Truncates a file to a length.
    package func truncate(_ file: borrowing Descriptor, to length: Int) throws(FileFault) {
        try call(.write, on: file) { ftruncate($0, off_t(length)) }
    }

    /// Sets the access time to now, to the nanosecond, so that entries used in the same second still have an order.
    package func touch(_ file: borrowing Descriptor) throws(FileFault) {
        try setTimes(of: file) { _ in timespec(tv_sec: 0, tv_nsec: Self.omitTime) }
    }

    /// As above, and sets the modification time to `modified`, in seconds since 1970. Its nanoseconds are those of now:
    /// they tell this file from earlier ones with the same inode number.
    package func setTimes(of file: borrowing Descriptor, modified: Int) throws(FileFault) {
        try setTimes(of: file) { now in timespec(tv_sec: modified, tv_nsec: now.tv_nsec) }
    }

    private func setTimes(
        of file: borrowing Descriptor, change: (timespec) -> timespec
    ) throws(FileFault) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let times = [now, change(now)]
        try call(.setTimes, on: file) { unsafe futimens($0, times) }
    }

    /// UTIME_OMIT of futimens(3): Swift does not import the C macro.
    private static let omitTime = (1 << 30) - 2
}

/// Locks of a descriptor and its copies, inherited ones too. The system releases them with the last copy, however the
/// process ends (F_OFD_SETLK). None of these calls waits for a lock.
extension FileCalls {
    /// Locks the file; false if another descriptor has the lock.
    package func tryLockWithCopies(_ file: borrowing Descriptor) throws(FileFault) -> Bool {
        try tryLock(file, from: 0, count: 0)
    }

    /// Releases the lock for all copies of the descriptor: a process that inherited one may take a moment to end.
    package func unlockWithCopies(_ file: borrowing Descriptor) { csystem_unlock_bytes(file.number, 0, 0) }

    /// Whether another descriptor has the lock of `tryLockWithCopies`. Takes no lock.
    package func isLocked(_ file: borrowing Descriptor) throws(FileFault) -> Bool {
        try call(.lock, on: file) { csystem_is_locked($0) } == 1
    }

    /// Locks the byte at an offset, even beyond the file's end; false if another descriptor has the lock.
    package func tryLock(byte offset: Int, of file: borrowing Descriptor) throws(FileFault) -> Bool {
        try tryLock(file, from: offset, count: 1)
    }

    /// Releases the lock of the byte at an offset.
    package func unlock(byte offset: Int, of file: borrowing Descriptor) {
        csystem_unlock_bytes(file.number, off_t(offset), 1)
    }

    private func tryLock(
        _ file: borrowing Descriptor, from start: Int, count: Int
    ) throws(FileFault) -> Bool {
        do {
            try call(.lock, on: file) { csystem_lock_bytes($0, off_t(start), off_t(count)) }
        } catch let error where error.code == EAGAIN || error.code == EACCES {
            return false
        }
        return true
    }

    /// Whether the file is on a network file system, where taking a lock waits for the network.
    package func isRemote(_ file: borrowing Descriptor) throws(FileFault) -> Bool {
        try call(.status, on: file) { csystem_is_remote($0) } == 1
    }
}

extension FileCalls {
    /// Opens a file for appending; each call of `write` is atomic. Creates the file if it is absent.
    package func openForAppending(_ name: String, in folder: borrowing Descriptor) throws(FileFault)
        -> Descriptor
    {
        try openEntry(name, in: folder, O_RDWR | O_APPEND | O_CREAT)
    }

    /// Writes bytes at the descriptor's current offset.
    package func write(_ bytes: [UInt8], to file: borrowing Descriptor) throws(FileFault) {
        let number = file.number
        let span = bytes.span
        try unsafe span.withUnsafeBytes { buffer throws(FileFault) in
            try unsafe write(number, [buffer])
        }
    }

    /// Makes a named pipe (FIFO).
    package func makePipe(_ name: String, in folder: borrowing Descriptor) throws(FileFault) {
        try call(.open, name, on: folder) { unsafe mkfifoat($0, name, 0o600) }
    }

    /// Opens a named pipe for reading and writing: it never reports end of file, and opening does not block.
    package func openPipe(_ name: String, in folder: borrowing Descriptor) throws(FileFault) -> Descriptor {
        try openEntry(name, in: folder, O_RDWR | O_NONBLOCK)
    }

    /// Opens a named pipe for writing, without blocking; nil if nobody has it open for reading.
    package func openPipeForWriting(_ name: String, in folder: borrowing Descriptor) throws(FileFault)
        -> Descriptor?
    {
        do {
            return try openEntry(name, in: folder, O_WRONLY | O_NONBLOCK)
        } catch let error where error.code == ENXIO {
            return nil
        }
    }

    /// Removes an empty folder.
    package func removeFolder(_ name: String, in folder: borrowing Descriptor) throws(FileFault) {
        try call(.remove, name, on: folder) { unsafe unlinkat($0, name, AT_REMOVEDIR) }
    }
}
