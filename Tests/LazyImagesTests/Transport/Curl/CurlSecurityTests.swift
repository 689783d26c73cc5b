import FoundationEssentials
import Hashing
import TestSupport
import TestTraits
import Testing

import LazyImages

/// The policy's demands on a connection, against OpenSSL's server.
@Suite(
    "CurlTransport: security", .bounded,
    .enabled(if: TLSServer.isInstalled, "openssl is not installed"))
struct CurlSecurityTests {
    private let transport = CurlTransport()

    @Test("a server with an untrusted certificate is refused, unless the policy names its authority")
    func authority() async throws {
        let server = try await TLSServer.start(serving: SampleImages.png)
        var policy = SecurityPolicy()
        #expect(await transport.error(server.url(), policy)?.code == "secure-connection-failed")
        policy.certificateAuthorityFile = server.certificateFile
        #expect(await transport.error(server.url(), policy) == nil)
        // The system's authorities judge the next connection again.
        #expect(await transport.error(server.url(), SecurityPolicy())?.code == "secure-connection-failed")
    }

    @Test("a certificate for another host is refused, whichever authority signed it")
    func otherName() async throws {
        let server = try await TLSServer.start(serving: SampleImages.png, host: "other.example")
        var policy = SecurityPolicy()
        policy.certificateAuthorityFile = server.certificateFile
        #expect(await transport.error(server.url(), policy)?.code == "secure-connection-failed")
    }

    @Test("a missing authority file is an error, and the system's authorities do not replace it")
    func missingFile() async throws {
        let server = try await TLSServer.start(serving: SampleImages.png)
        var policy = SecurityPolicy()
        policy.certificateAuthorityFile = "/nowhere/authorities.pem"
        #expect(await transport.error(server.url(), policy)?.code == "secure-connection-failed")
    }

    @Test("a key exchange without forward secrecy is refused, except for a host with an exception")
    func forwardSecrecy() async throws {
        // This cipher suite sends the session's key encrypted with the server's RSA key.
        let server = try await TLSServer.start(
            serving: SampleImages.png, key: "rsa:2048", options: "-tls1_2 -cipher AES128-GCM-SHA256")
        var policy = SecurityPolicy()
        policy.certificateAuthorityFile = server.certificateFile
        #expect(await transport.error(server.url(), policy)?.code == "secure-connection-failed")
        policy.exceptions["localhost"] = SecurityPolicy.HostException()
        policy.exceptions["localhost"]?.requiresForwardSecrecy = false
        #expect(await transport.error(server.url(), policy) == nil)
    }

    @Test("TLS 1.1 is refused, and so is TLS 1.2 where the policy demands 1.3")
    func versions() async throws {
        let old = try await TLSServer.start(
            serving: SampleImages.png, options: "-tls1_1 -cipher DEFAULT@SECLEVEL=0")
        var policy = SecurityPolicy()
        policy.certificateAuthorityFile = old.certificateFile
        #expect(await transport.error(old.url(), policy)?.code == "secure-connection-failed")

        let server = try await TLSServer.start(serving: SampleImages.png, options: "-tls1_2")
        policy.certificateAuthorityFile = server.certificateFile
        #expect(await transport.error(server.url(), policy) == nil)
        policy.exceptions["localhost"] = SecurityPolicy.HostException()
        policy.exceptions["localhost"]?.minimumTLSVersion = .v1_3
        #expect(
            await CurlTransport().error(server.url(), policy)?.code == "secure-connection-failed")
    }

    @Test(
        "a host with a pinned certificate or key needs no authority, and another key is refused")
    func trusted() async throws {
        let server = try await TLSServer.start(serving: SampleImages.png, host: "nobody.example")
        var policy = SecurityPolicy()
        policy.trusted["localhost"] = .publicKey(sha256: server.keyDigest)
        #expect(await transport.error(server.url(), policy) == nil)
        let other = try await TLSServer.start(serving: SampleImages.png)
        #expect(await transport.error(other.url(), policy)?.code == "secure-connection-failed")
        policy.trusted["localhost"] = .authorities(file: other.certificateFile)
        #expect(await transport.error(other.url(), policy) == nil)
    }
}
