public import FoundationEssentials
import Glibc
import LazyImages
import SystemSupport

/// OpenSSL's TLS server, as an independent server, with its own key and certificate. It serves the file
/// `a.png` on a loopback port, and stops when the object is released.
public final class TLSServer: Sendable {
    /// Whether openssl is installed.
    public static let isInstalled = Shell.has("openssl")

    /// The port it listens on.
    public let port: UInt16
    /// The key's pin (RFC 7469): base64 of the SHA-256 of its SubjectPublicKeyInfo.
    public let keyDigest: String
    private let folder: TemporaryFolder
    private let process: ServerProcess

    /// Starts a server whose certificate names `host`.
    /// - Parameters:
    ///   - key: the kind of its key, as options of `openssl req`. Default: P-256, which is made in a millisecond; an
    ///     RSA key takes a tenth of a second.
    ///   - options: options of `openssl s_server`, such as `-tls1_2`.
    public static func start(
        serving file: [UInt8], host: String = "localhost",
        key: String = "ec -pkeyopt ec_paramgen_curve:prime256v1", options: String = ""
    ) async throws -> TLSServer {
        // Starting openssl blocks for a while.
        let started = try await BlockingThreads(count: 1).run {
            Result { try TLSServer(serving: file, host: host, key: key, options: options) }
        }
        return try started.get()
    }

    private init(serving file: [UInt8], host: String, key: String, options: String) throws {
        folder = try TemporaryFolder()
        try Data(file).write(to: URL(filePath: folder.file("a.png")))
        let script = """
            exec 2>/dev/null </dev/null; cd '\(folder.path)' &&
            openssl req -x509 -newkey \(key) -nodes \
                -keyout key.pem -out certificate.pem -days 2 -subj /CN=\(host) \
                -addext subjectAltName=DNS:\(host) >openssl.log &&
            openssl pkey -in key.pem -pubout -outform DER | openssl dgst -sha256 -binary | openssl base64 &&
            exec openssl s_server -accept 127.0.0.1:0 -key key.pem -cert certificate.pem -WWW \(options)
            """
        // It may ignore other signals.
        process = try ServerProcess(script, endedBy: SIGKILL) { $0.hasPrefix("ACCEPT") }
        // ACCEPT 127.0.0.1:43295
        guard let digest = process.lines.first,
            let port = process.lines.last?.split(separator: ":").last.flatMap({ UInt16($0) })
        else { throw ServerProcess.Failure(text: "openssl s_server named no port: \(process.lines)") }
        keyDigest = digest
        self.port = port
    }

    /// The certificate, a PEM file.
    public var certificateFile: String { folder.file("certificate.pem") }

    /// The file's URL, under a host name that leads to this server.
    public func url(host: String = "localhost") -> URL {
        guard let url = URL(string: "https://\(host):\(port)/a.png") else {
            preconditionFailure("\(host) is no host")
        }
        return url
    }
}
