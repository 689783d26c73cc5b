import FoundationEssentials
import LazyImages
import TestSupport
import TestTraits
import Testing

@testable import marquee

@Suite("TLS by host: --min-tls, --cert and --key", .bounded)
struct TLSOptionsTests {
    private func policy(_ words: String...) throws -> SecurityPolicy {
        try Settings(Arguments(words), environment: [:]).downloads.security
    }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["c.pem", "k.pem"] { try folder.write("x", to: name) }
    }

    @Test("each option applies to one host, and keeps the other options for it")
    func values() throws {
        let (certificate, key) = (folder.file("c.pem"), folder.file("k.pem"))
        let policy = try policy(
            "list", "--insecure-http", "a.example", "--min-tls", "A.example=1.3", "--min-tls", "b=1.2",
            "--cert", "B=\(certificate)", "--key", "b=\(key)", "--cert", "c=\(certificate)")
        #expect(policy.exceptions["a.example"]?.minimumTLSVersion == .v1_3)
        #expect(policy.exceptions["a.example"]?.allowsInsecureHTTP == true)
        #expect(policy.exceptions["b"]?.minimumTLSVersion == .v1_2)
        #expect(
            policy.clientCertificates == [
                "b": SecurityPolicy.ClientCertificate(certificateFile: certificate, keyFile: key),
                "c": SecurityPolicy.ClientCertificate(certificateFile: certificate),
            ])
    }

    @Test(
        "the program shows its certificate to that host only, and demands the TLS version",
        .enabled(if: TLSServer.isInstalled, "openssl is not installed"))
    func program() async throws {
        let client = try ClientKey()
        let server = try await TLSServer.start(
            serving: SampleImages.png,
            options: "-tls1_2 -Verify 1 -verify_return_error -CAfile '\(client.certificateFile)'")
        func status(_ options: String...) async throws -> Int32 {
            try await Program.run(
                [
                    "fetch", server.url().absoluteString, "--trust", "localhost=\(server.certificateFile)",
                    "--no-disk-cache",
                ] + options, environment: ["HOME": folder.path]
            ).status
        }
        let shown = ["--cert", "localhost=\(client.certificateFile)", "--key", "localhost=\(client.keyFile)"]
        #expect(try await status(shown[0], shown[1], shown[2], shown[3]) == 0)
        #expect(try await status("--cert", "localhost=\(client.bothFile)", "--min-tls", "localhost=1.2") == 0)
        #expect(try await status() == 2)
        #expect(try await status("--cert", "127.0.0.1=\(client.bothFile)") == 2)
        #expect(try await status("--cert", "localhost=\(client.bothFile)", "--min-tls", "localhost=1.3") == 2)
    }
}
