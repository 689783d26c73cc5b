import FoundationEssentials
import Glibc
import SystemSupport

/// A server of S3 that we did not write: moto's (PyPI: `moto[server]`), with a bucket `films`. It stops when the object goes.
///
/// Proof for `@unchecked`: nothing changes after the initialiser but `stream`, which only `deinit` uses.
@safe public final class S3Server: @unchecked Sendable {
    /// Whether the machine has it.
    public static let isInstalled =
        Shell.output("python3 -c 'import moto.server, flask; print(1)' 2>&1").hasPrefix("1")

    /// Where it listens.
    public let port: UInt16
    private let folder: TemporaryFolder
    private let stream: UnsafeMutablePointer<FILE>
    private let process: pid_t

    private struct Failure: Error {
        let text: String
    }

    /// Starts it, which takes some seconds.
    public init() async throws {
        folder = try TemporaryFolder()
        var free: ClosedPort? = try ClosedPort()
        port = free?.port ?? 0
        free = nil
        let script = """
            cd '\(folder.path)' && echo $$ &&
            exec python3 -m moto.server -H 127.0.0.1 -p \(port) >log 2>&1 </dev/null
            """
        guard let stream = unsafe popen(script, "r") else { throw Failure(text: "no shell") }
        unsafe self.stream = stream
        var line = [CChar](repeating: 0, count: 100)
        _ = unsafe fgets(&line, Int32(line.count), stream)
        let digits = line.prefix { $0 >= 48 && $0 <= 57 }.map { UInt8(bitPattern: $0) }
        process = pid_t(String(decoding: digits, as: UTF8.self)) ?? 0
        let port = port
        try await eventually {
            Shell.output("curl -s -o /dev/null -w '%{http_code}' -X PUT http://127.0.0.1:\(port)/films")
                .hasPrefix("200")
        }
    }

    deinit {
        if process > 0 { kill(process, SIGTERM) }
        unsafe pclose(stream)
    }
}
