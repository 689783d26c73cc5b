public import FoundationEssentials
import Glibc
import LazyImages
import SystemSupport

/// A server with TLS that we did not write: OpenSSL's own, with a key and a certificate of its own, which serves the one
/// file `a.png` on a loopback port. It stops when the object goes.
///
/// Proof for `@unchecked`: nothing changes after the initialiser but `stream`, which only `deinit` uses.
@safe public final class TLSServer: @unchecked Sendable {
    /// Whether the machine has it.
    public static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

    /// Where it listens.
    public let port: UInt16
    /// What RFC 7469 pins: base64 of the SHA-256 of the key's SubjectPublicKeyInfo.
    public let keyDigest: String
    private let folder: TemporaryFolder
    private let stream: UnsafeMutablePointer<FILE>
    private let process: pid_t

    /// Starts a server for `host`, which its certificate names.
    /// - Parameter options: as `openssl s_server` takes them, such as `-tls1_2`.
    public static func start(
        serving file: [UInt8], host: String = "localhost", options: String = ""
    ) async throws -> TLSServer {
        // Making a key takes a while.
        let started = try await BlockingThreads(count: 1).run {
            Result { try TLSServer(serving: file, host: host, options: options) }
        }
        return try started.get()
    }

    private init(serving file: [UInt8], host: String, options: String) throws {
        folder = try TemporaryFolder()
        try Data(file).write(to: URL(filePath: folder.file("a.png")))
        let script = """
            exec 2>/dev/null </dev/null; echo $$; cd '\(folder.path)' &&
            openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out certificate.pem -days 2 \
                -subj /CN=\(host) -addext subjectAltName=DNS:\(host) >openssl.log &&
            openssl pkey -in key.pem -pubout -outform DER | openssl dgst -sha256 -binary | openssl base64 &&
            exec openssl s_server -accept 127.0.0.1:0 -key key.pem -cert certificate.pem -WWW \(options)
            """
        guard let stream = unsafe popen(script, "r") else { throw Failure(text: "no shell") }
        unsafe self.stream = stream
        var lines: [String] = []
        var line = [CChar](repeating: 0, count: 1000)
        while lines.last?.hasPrefix("ACCEPT") != true, unsafe fgets(&line, Int32(line.count), stream) != nil {
            let bytes = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
            lines.append(String(decoding: bytes, as: UTF8.self))
        }
        // ACCEPT 127.0.0.1:43295
        guard lines.count > 2, let process = pid_t(lines[0]),
            let port = lines.last?.split(separator: ":").last.flatMap({ UInt16($0) })
        else {
            unsafe pclose(stream)
            throw Failure(text: "openssl s_server did not start: \(lines)")
        }
        self.process = process
        keyDigest = lines[1]
        self.port = port
    }

    deinit {
        // A signal that cannot be ignored, as another may be from the start.
        kill(process, SIGKILL)
        unsafe pclose(stream)
    }

    /// The certificate, a file of PEM.
    public var certificateFile: String { folder.file("certificate.pem") }

    /// The file's URL, under a name that leads here.
    public func url(host: String = "localhost") -> URL {
        guard let url = URL(string: "https://\(host):\(port)/a.png") else {
            preconditionFailure("\(host) is no host")
        }
        return url
    }

    private struct Failure: Error {
        let text: String
    }
}
