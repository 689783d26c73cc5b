import FoundationEssentials

/// The program curl: a client written by others, with opinions of its own.
public enum Curl {
    /// Whether it is there; tests that need it skip with a message where it is not.
    public static let isInstalled = ["/usr/bin/curl", "/usr/local/bin/curl", "/bin/curl"].contains { path in
        FileManager.default.isExecutableFile(atPath: path)
    }

    /// What curl prints; empty where it cannot be started. Blocks.
    /// - Parameter arguments: as a shell takes them.
    public static func output(_ arguments: String) -> String {
        Shell.output("curl --silent --noproxy '*' --max-time 600 \(arguments)")
    }
}
