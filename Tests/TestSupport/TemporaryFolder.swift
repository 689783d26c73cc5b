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
}

private enum SystemTemporaryFolder {
    static var base: String {
        ProcessInfo.processInfo.environment["TMPDIR"].map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
            ?? "/tmp"
    }
}
