import Glibc

/// A server in a process of its own, which ends with the object.
///
/// Proof for `@unchecked`: after the initialiser only `deinit` uses `stream`, and nothing else changes.
@safe final class ServerProcess: @unchecked Sendable {
    /// The lines that the script has printed after its process id.
    let lines: [String]
    let id: pid_t
    private let stream: UnsafeMutablePointer<FILE>
    private let signal: Int32

    struct Failure: Error {
        let text: String
    }

    /// Starts a server. Blocks until the script's output has the line that `isReady` accepts.
    /// - Parameters:
    ///   - script: commands of the shell, the last of which becomes the server by `exec`.
    ///   - signal: ends the server.
    ///   - isReady: whether a line is the last one to read. Default: nothing is read but the process id.
    init(_ script: String, endedBy signal: Int32, isReady: (String) -> Bool = { _ in true }) throws {
        guard let stream = unsafe popen("echo $$; " + script, "r") else { throw Failure(text: "no shell") }
        var lines: [String] = []
        var buffer = [CChar](repeating: 0, count: 1000)
        repeat {
            guard unsafe fgets(&buffer, Int32(buffer.count), stream) != nil else { break }
            let bytes = buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
            lines.append(String(decoding: bytes, as: UTF8.self))
        } while !isReady(lines[lines.count - 1])
        guard let id = lines.first.flatMap({ pid_t($0) }), isReady(lines[lines.count - 1]) else {
            unsafe pclose(stream)
            throw Failure(text: "the server did not start: \(lines)")
        }
        self.id = id
        self.lines = Array(lines.dropFirst())
        self.signal = signal
        unsafe self.stream = stream
    }

    deinit {
        kill(id, signal)
        unsafe pclose(stream)
    }
}
