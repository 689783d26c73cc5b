import FoundationEssentials
import Glibc

/// A folder of its own for one test, removed when the object goes.
public final class TemporaryFolder: Sendable {
    /// The folder's absolute path.
    public let path: String

    /// Makes the folder under the system's temporary folder.
    public init() throws {
        path = SystemTemporaryFolder.base + "/marquee-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // A test's leftovers in the temporary folder harm nobody.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of `name` in the folder.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Writes a script that can be run. No program that another test starts meanwhile inherits the file: as long as one has it
    /// open for writing, nobody can run it.
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
