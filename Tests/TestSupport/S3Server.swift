import FoundationEssentials
import Glibc

/// A server of S3 that we did not write, with the bucket `films`: moto (PyPI: `moto[server]`). It stops when the object
/// is released.
public final class S3Server: Sendable {
    /// Whether the machine has it.
    public static let isInstalled =
        Shell.output("python3 -c 'import moto.server, flask; print(1)' 2>&1").hasPrefix("1")

    /// The port it listens on.
    public let port: UInt16
    private let folder: TemporaryFolder
    private let process: ServerProcess

    /// Starts it, which takes some seconds.
    public init() async throws {
        folder = try TemporaryFolder()
        // Reserves the port until just before the server takes it.
        var free: ClosedPort? = try ClosedPort()
        let port = free?.port ?? 0
        self.port = port
        free = nil
        // It does not end by SIGTERM.
        process = try ServerProcess(
            """
            cd '\(folder.path)' && exec python3 -m moto.server -H 127.0.0.1 -p \(port) >log 2>&1 </dev/null
            """, endedBy: SIGKILL)
        try await eventually {
            Shell.output("curl -s -o /dev/null -w '%{http_code}' -X PUT http://127.0.0.1:\(port)/films")
                .hasPrefix("200")
        }
    }
}
