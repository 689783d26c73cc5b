import FoundationEssentials
import Glibc

/// The program curl: a client written by others, with opinions of its own.
public enum Curl {
    /// Whether it is there; tests that need it skip with a message where it is not.
    public static let isInstalled = ["/usr/bin/curl", "/usr/local/bin/curl", "/bin/curl"].contains { path in
        FileManager.default.isExecutableFile(atPath: path)
    }

    /// What curl prints; empty where it cannot be started. Blocks.
    /// - Parameter arguments: as a shell takes them.
    public static func output(_ arguments: String) -> String {
        guard let pipe = unsafe popen("curl --silent --noproxy '*' --max-time 600 \(arguments)", "r")
        else { return "" }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe fread(&buffer, 1, buffer.count, pipe)
            guard count > 0 else { break }
            output += buffer[..<count]
        }
        unsafe pclose(pipe)
        return String(decoding: output, as: UTF8.self)
    }
}
