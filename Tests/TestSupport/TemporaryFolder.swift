import FoundationEssentials
import Glibc

/// A temporary folder for one test, removed when the object is released.
public final class TemporaryFolder: Sendable {
    /// The folder's absolute path.
    public let path: String

    /// Creates the folder under the system's temporary folder.
    public init() throws {
        path = SystemTemporaryFolder.base + "/marquee-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // Ignored: a leftover in the temporary folder does no harm.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of `name` in the folder.
    public func file(_ name: String) -> String { path + "/" + name }

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

private enum SystemTemporaryFolder {
    static var base: String {
        ProcessInfo.processInfo.environment["TMPDIR"].map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
            ?? "/tmp"
    }
}
