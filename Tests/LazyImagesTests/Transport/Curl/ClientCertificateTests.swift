import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

/// Client certificates, against OpenSSL's server, which demands one.
@Suite(
    "CurlTransport: the client's certificate", .bounded,
    .enabled(if: TLSServer.isInstalled, "openssl is not installed"))
struct ClientCertificateTests {
    private let client: ClientKey

    init() throws { client = try ClientKey() }

    private func server(_ version: String) async throws -> TLSServer {
        try await TLSServer.start(
            serving: SampleImages.png,
            options: "-\(version) -Verify 1 -verify_return_error -CAfile '\(client.certificateFile)'")
    }

    private func policy(
        _ server: TLSServer, _ certificate: SecurityPolicy.ClientCertificate?
    ) -> SecurityPolicy {
        var policy = SecurityPolicy()
        for host in ["localhost", "127.0.0.1"] {
            policy.trusted[host] = .publicKey(sha256: server.keyDigest)
        }
        policy.clientCertificates["localhost"] = certificate
        return policy
    }

    @Test(
        "a server that demands a certificate gets the one for its host, and no other host gets it",
        arguments: ["tls1_2", "tls1_3"])
    func demanded(version: String) async throws {
        let server = try await server(version)
        let transport = CurlTransport()
        let certificate = SecurityPolicy.ClientCertificate(
            certificateFile: client.certificateFile, keyFile: client.keyFile)
        #expect(await transport.error(server.url(), policy(server, nil)) != nil)
        #expect(await transport.error(server.url(), policy(server, certificate)) == nil)
        // A request without the certificate uses neither the connection nor the handle of one with it.
        #expect(await transport.error(server.url(), policy(server, nil)) != nil)
        #expect(
            await transport.error(server.url(host: "127.0.0.1"), policy(server, certificate)) != nil)
    }

    @Test("certificate and key may be in one file")
    func oneFile() async throws {
        let server = try await server("tls1_2")
        let certificate = SecurityPolicy.ClientCertificate(certificateFile: client.bothFile)
        #expect(await CurlTransport().error(server.url(), policy(server, certificate)) == nil)
    }

    @Test("a key that has a password, does not match or does not exist is an error, and nothing is sent")
    func unusable() async throws {
        let server = try await server("tls1_2")
        let other = try ClientKey()
        for file in [client.lockedKeyFile, other.keyFile, "/nowhere/key.pem", client.certificateFile] {
            let certificate = SecurityPolicy.ClientCertificate(
                certificateFile: client.certificateFile, keyFile: file)
            let error = await CurlTransport().error(server.url(), policy(server, certificate))
            #expect(error?.code == "secure-connection-failed", "\(file)")
            #expect(error.map { "\($0)".contains("certificate") } == true, "\(file)")
        }
    }
}
