import FoundationEssentials
import Glibc
import Synchronization

/// A temporary folder for one test, removed when the object is released.
public final class TemporaryFolder: Sendable {
    /// Holds the folders of this process below the system's temporary folder. It is removed as the process exits, with
    /// the folders that a disk cache's writer made again after their test.
    private static let parent: String = {
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? (hasRoomInMemory ? "/dev/shm" : "/tmp")
        let path = base + (base.hasSuffix("/") ? "" : "/") + "marquee-test-" + UUID().uuidString.prefix(13)
        // Ignored: then no folder can be made in it either, and each test says so.
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        // Ignored: a leftover in the temporary folder does no harm.
        atexit { try? FileManager.default.removeItem(atPath: TemporaryFolder.parent) }
        return path
    }()
    private static let count = Atomic(0)

    /// Whether the file system in memory has 4 GiB. Thousands of short-lived files take a tenth of the tests' time on a disk:
    /// ext4 does not give an inode again for five seconds, and looks at all that were removed. A container may have 64 MiB.
    private static var hasRoomInMemory: Bool {
        var status = statvfs()
        guard unsafe statvfs("/dev/shm", &status) == 0, unsafe access("/dev/shm", W_OK | X_OK) == 0 else {
            return false
        }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) >= 4 << 30
    }

    /// The folder's absolute path.
    public let path: String

    /// Creates the folder.
    public init() throws {
        let number = Self.count.add(1, ordering: .relaxed).newValue
        path = Self.parent + "/\(number)"
        guard unsafe mkdir(path, 0o777) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    deinit {
        if unsafe rmdir(path) == 0 { return }
        // Ignored: a leftover in the temporary folder does no harm.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of `name` in the folder.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Writes a file of text, in a folder that is made where `name` has one, and returns its path.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String { try write(text.utf8, to: name) }

    /// Writes a file of bytes, in a folder that is made where `name` has one, and returns its path.
    @discardableResult
    public func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        if let slash = name.lastIndex(of: "/") { try makeFolder(String(name[..<slash])) }
        try Data(bytes).write(to: URL(filePath: file(name)))
        return file(name)
    }

    /// Makes a folder, and those above it, and returns its path.
    @discardableResult
    public func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
        return file(name)
    }

    /// Writes an executable script. No child process of another test inherits its descriptor: a file that is
    /// open for writing cannot be executed.
    public func write(program text: String, to name: String) throws {
        guard let stream = unsafe fopen(file(name), "we") else { throw POSIXError(.EIO) }
        let isWritten = unsafe fputs(text, stream) >= 0
        guard unsafe fclose(stream) == 0, isWritten, unsafe chmod(file(name), 0o755) == 0 else {
            throw POSIXError(.EIO)
        }
    }
}
